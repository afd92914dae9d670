"""Killed at random moments, inside saves too, a run that is resumed ends with the same weights, bit for bit.

A process that is killed takes its compiled programs with it, and the next one needs seconds for new ones. So most
moments are taken from a process that is only stopped: its folder is copied as a kill would have left it at that
instant, the process goes on, and another one resumes all copies.
"""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from faults.moments import held, running, saved_at, saving, wait_until
from faults.victims import VICTIMS, outcome

WHILE_STARTING = 0.1  # the share of kills that fall anywhere, the others after the first save of a process
LIFE = 0.3  # seconds that a process may go on training, at most


def choose_moment(draw: random.Random, pid: int, folder: Path, before: int) -> None:
    """Comes back when it is time to kill."""
    if draw.random() < WHILE_STARTING:
        wait_until(lambda: False, pid, draw.uniform(0, 5))
        return
    wait_until(lambda: saved_at(folder) > before, pid)
    wait_until(lambda: False, pid, draw.uniform(0, LIFE), pause=0.001)
    if draw.random() < 0.5:
        wait_until(lambda: saving(folder), pid, pause=0)
        time.sleep(draw.uniform(0, 0.002))


# --- Killed

# with one kill, which is all but where all tests run: an observer is killed in the tests of the command, too
KILLED = [pytest.param(each, marks=pytest.mark.slow) if each == "observer" else each for each in VICTIMS]


@pytest.mark.parametrize("victim", KILLED)
def test_a_killed_run_that_is_resumed_ends_with_the_same_weights(victim, server, undisturbed, kills, tally, tmp_path):
    expected, killed, draw = undisturbed(victim)[0], 0, random.Random(0)
    while killed < kills:
        lives = lives_of(victim, server, tmp_path, draw, most=kills - killed)
        assert outcome(tmp_path / "run") == expected
        for life in lives:
            tally(f"SIGKILL, {victim} in training", f"{life}, resumed and bit-identical")
        killed += len(lives)
        shutil.rmtree(tmp_path / "run")


def lives_of(victim: str, server, tmp_path: Path, draw: random.Random, most: int) -> list[str]:
    """Where each process that worked on a run was killed, until one finished it."""
    folder, stderr, lives = tmp_path / "run", tmp_path / "stderr", []
    folder.mkdir()
    while True:
        before = saved_at(folder)
        pid = server.begin(victim, folder, stderr=stderr)
        if len(lives) < most:
            choose_moment(draw, pid, folder, before)
            if running(pid):
                os.kill(pid, signal.SIGKILL)
        code = server.ended()
        if code == 0:
            return lives
        assert code == -signal.SIGKILL, stderr.read_text()
        lives.append("inside a save" if saving(folder) else "between saves")


# --- Stopped and copied


@pytest.mark.parametrize("victim", VICTIMS)
def test_what_a_kill_would_leave_at_any_moment_is_resumed_to_the_same_weights(
    victim, server, undisturbed, cases, tally, tmp_path
):
    expected, draw = undisturbed(victim)[0], random.Random(1)
    runs, copies = [tmp_path / f"run-{number}" for number in range(1000)], []
    pid = server.begin(victim, *runs, stderr=tmp_path / "stderr")
    wait_until(lambda: runs[1].exists(), pid)  # with every program compiled, runs take a second or two
    while len(copies) < cases(5, 200):
        time.sleep(draw.uniform(0, 0.15))
        current = next(run for run in reversed(runs) if run.exists())
        if draw.random() < 0.5:
            wait_until(lambda folder=current: saving(folder), pid, seconds=0.2, pause=0)
            time.sleep(draw.uniform(0, 0.002))
        with held(pid):
            copies.append(shutil.copytree(current, tmp_path / f"copy-{len(copies)}"))
    os.kill(pid, signal.SIGKILL)
    assert server.ended() == -signal.SIGKILL
    words = ["inside a save" if saving(copy) else "between saves" for copy in copies]
    server.begin(victim, *copies, stderr=tmp_path / "stderr")
    assert server.ended() == 0, (tmp_path / "stderr").read_text()
    for copy, word in zip(copies, words):
        assert outcome(copy) == expected
        tally(f"stopped and copied, {victim} in training", f"{word}, resumed and bit-identical")
