"""`tomnet explore` as a command: the address it says, the port it finds, and how it ends."""

import re
import signal
import socket
import subprocess
import sys

import pytest

from tomnet.cli.main import main

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="the extra `explore` is missing")


def test_it_takes_the_next_port_says_the_address_and_stops_at_ctrl_c():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "tomnet", "explore", "--no-browser", "--port", str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            try:
                assert running.stdout is not None
                address = re.search(r"http://127\.0\.0\.1:(\d+)/", running.stdout.readline())
                assert address is not None
                assert int(address[1]) > port
                assert "tomnet" in httpx.get(address[0], timeout=300).text
                running.send_signal(signal.SIGINT)
                out, _ = running.communicate(timeout=300)
            finally:
                running.kill()  # one that does not stop must not hold up all the others
    assert running.returncode == 0
    assert out == "tomnet explore: stopped\n"


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x"])
def test_a_port_that_is_none(port, capsys):
    assert main(["explore", "--port", port]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_the_extra_one_line_says_what_to_install(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("tomnet.explorer")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert main(["explore", "--no-browser"]) == 2
    told = "pydantic is not installed; pip install 'tomnet[explore]' brings it, or '.[explore]' in a checkout"
    assert capsys.readouterr().err == f"tomnet: {told}\n"
