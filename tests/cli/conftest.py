"""The command as a user runs it: in a folder of its own, and with what it printed."""

import pytest

from tomnet import zoo
from tomnet.cli import main as cli


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Every test in a folder of its own, and this process left as it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "prepare_cpu", lambda: None)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    return tmp_path


@pytest.fixture
def tomnet(capsys):
    def run(*args) -> tuple[int, str, str]:
        code = cli.main([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def refusal(tomnet):
    """The one line that comes with exit code 2."""

    def run(*args) -> str:
        code, out, err = tomnet(*args)
        assert (code, out) == (2, "")
        assert err.startswith("tomnet: ")
        assert err.count("\n") == 1
        return err

    return run
