"""Stages with commands that only say that they were there: order, what is done already, failure, interruption."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tomnet.support.errors import BadFile, TomnetError
from tomnet.support.interrupts import Interrupted
from tomnet.support.stages import LOGS, STAGES, TABLE, Command, Stage, carry_out

WORK = """
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have had it ignored
name, how, *more = sys.argv[1:]
with open("there", "a") as there:
    there.write(" ".join([name, *more]) + "\\n")
if how == "fail" and not pathlib.Path("mended").exists():
    sys.exit("this went wrong")
if how.startswith("meet:"):  # until the other is there too
    while how[5:] not in pathlib.Path("there").read_text():
        time.sleep(0.01)
if how == "long" and "--resume" not in more:
    pathlib.Path("run").mkdir()
    pathlib.Path("run/config.json").write_text("{}")
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "work.py").write_text(WORK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stage(name: str, *hows: str, needs: tuple[str, ...] = (), run_folder: Path | None = None) -> Stage:
    commands = tuple(Command("work", (name, how), run_folder) for how in hows or ("well",))
    return Stage(name, "any", commands, frozenset(needs))


def work(folder: Path, *stages: Stage, jobs: int = 1) -> list[str]:
    """Which commands ran."""
    (folder / "there").write_text("")
    try:
        carry_out(stages, folder, jobs=jobs, environment={"PYTHONPATH": str(folder)})
    finally:
        there = (folder / "there").read_text().split("\n")[:-1]
        (folder / "there").write_text("")
        (folder / "ran").write_text("\n".join(there))
    return there


def test_what_is_needed_comes_first_and_what_is_done_is_not_done_again(folder, capfd):
    stages = [stage("roof", needs=("walls",)), stage("walls", "well", "well", needs=("ground",)), stage("ground")]
    assert work(folder, *stages) == ["ground", "walls", "walls", "roof"]
    assert work(folder, *stages) == []
    assert work(folder, *stages, stage("garden")) == ["garden"]
    table = (folder / TABLE).read_text().split("\n")
    assert [line.split("|")[1].strip() for line in table[2:-1]] == ["roof", "walls", "ground", "garden", "all"]
    assert "[3/3] roof (0 min spent; about 0 left)" in capfd.readouterr().err


def test_where_one_fails_the_rest_waits_and_the_next_time_goes_on_from_there(folder, capfd):
    stages = [stage("ground"), stage("walls", "fail", needs=("ground",)), stage("roof", needs=("walls",))]
    with pytest.raises(TomnetError, match="walls failed; what it said is above; the same command goes on from here"):
        work(folder, *stages)
    assert "this went wrong" in capfd.readouterr().err
    assert (folder / "ran").read_text() == "ground\nwalls"
    (folder / "mended").touch()
    assert work(folder, *stages) == ["walls", "roof"]


def test_several_are_done_side_by_side_and_speak_into_logs(folder):
    there = work(folder, stage("one", "meet:two"), stage("two", "meet:one"), stage("three/a"), jobs=2)
    assert sorted(there) == ["one", "three/a", "two"]
    assert sorted(path.name for path in (folder / LOGS).iterdir()) == ["one.log", "three-a.log", "two.log"]


def test_an_interruption_reaches_the_stage_under_way_which_is_then_resumed(folder):
    stages = [stage("train", "long", run_folder=folder / "run"), stage("report", needs=("train",))]

    def interrupt():
        while not (folder / "run" / "config.json").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    asking = threading.Thread(target=interrupt)
    asking.start()
    started = time.monotonic()
    with pytest.raises(Interrupted, match="interrupted; the same command goes on from here"):
        work(folder, *stages)
    asking.join()
    assert time.monotonic() - started < 300
    assert work(folder, *stages) == ["train --resume", "report"]


def test_nothing_goes_on_after_a_second_interruption(folder, monkeypatch):
    begun = []
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *asked, **how: begun.append(start(*asked, **how)) or begun[-1])

    def give_up(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tomnet.support.stages.time.sleep", give_up)
    with pytest.raises(KeyboardInterrupt):
        work(folder, stage("train", "long"))
    monkeypatch.undo()
    assert begun[0].wait(300) == -signal.SIGKILL


def test_a_broken_file_of_what_is_done_is_named(folder):
    (folder / STAGES).write_text('{"ground": 3}')
    with pytest.raises(BadFile, match=r"stages\.json: does not say which stages are done"):
        work(folder, stage("ground"))
