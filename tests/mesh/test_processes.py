"""Processes that cannot find each other, or lose each other: one line within a minute, and a run to go on with."""

import subprocess
import sys
import time

import pytest
from mesh.conftest import environment, free_address

from tomnet.cli.overseer import LOST
from tomnet.support.processes import JOIN_SECONDS

RUN = ["run", "random-agents", "--observer", "alpha-1"]


def begin(address: str, process: int, folder, preset: str) -> subprocess.Popen:
    place = ["--coordinator", address, "--processes", "2", "--process", str(process)]
    command = [sys.executable, "-m", "tomnet", *RUN, "--preset", preset, "--out", str(folder), *place]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env=environment(1), **pipes)


def test_a_coordinator_that_cannot_be_reached_is_given_up(several, tmp_path):
    started = time.monotonic()
    alone = begin(free_address(), 1, tmp_path, "smoke")
    _, said = alone.communicate(timeout=120)
    assert said == f"tomnet: not all processes were there after {JOIN_SECONDS} s; is the coordinator's address right?\n"
    assert alone.returncode == LOST
    assert time.monotonic() - started < JOIN_SECONDS + 30
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lost", [0, 1])
def test_a_lost_process_ends_the_run_within_a_minute(several, tmp_path, lost):
    address = free_address()
    workers = [begin(address, process, tmp_path, "laptop") for process in (0, 1)]
    checkpoint = tmp_path / "alpha-1" / "checkpoint.safetensors"
    while not checkpoint.exists():
        assert [worker.poll() for worker in workers] == [None, None]
        time.sleep(1)
    workers[lost].kill()
    started = time.monotonic()
    _, said = workers[1 - lost].communicate(timeout=120)
    assert time.monotonic() - started < 60
    assert workers[1 - lost].returncode in (2, LOST)
    lines = [line for line in said.splitlines() if not line.startswith("[Gloo]")]
    assert lines[-1] == "tomnet: another process of this run was lost; --resume goes on from the last checkpoint"
    assert all(line.startswith(("tomnet: ", "random-agents/alpha-1: ")) for line in lines)
    workers[lost].communicate()
    assert checkpoint.exists()
