"""Progress, where it is not shown in a terminal."""

import time

from tomnet.support import progress
from tomnet.support.progress import Progress, narrated, reached, stage


def test_the_end_is_always_reported(capsys):
    with Progress("random-agents/alpha-1", total=10) as shown:
        shown.advance(5, {"action": 1.2345})
        shown.advance(10, {"action": 0.5})
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "random-agents/alpha-1: compiling, which may take a minute or two",
        "random-agents/alpha-1: 10/10  0 s left  action 0.500",
    ]


def test_a_line_comes_now_and_then(capsys, monkeypatch):
    clock = iter([0.0, 20.0, 21.0, 40.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with Progress("greedy", total=10) as shown:
        for done in (2, 3, 4):
            shown.advance(done, {})
    lines = capsys.readouterr().err.splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["2/10", "4/10"]
    assert "left" not in lines[0]  # those two steps were compiled, too
    assert "60 s left" in lines[1]  # 20 s for two steps, six to go


def test_a_resumed_job_counts_from_where_it_was(capsys, monkeypatch):
    clock = iter([0.0, 20.0, 40.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with Progress("greedy", total=10, done=6) as shown:
        shown.advance(7, {})
        shown.advance(8, {})
    assert "8/10  40 s left" in capsys.readouterr().err


def test_a_job_says_what_it_has_come_to_once(capsys):
    with narrated("goal-inference"):
        for _ in range(3):
            stage("an observer reads 500 encounters")
    assert capsys.readouterr().err == "goal-inference: an observer reads 500 encounters (0 s)\n"


def test_a_long_stage_gives_signs_of_life(capsys, monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.01)
    with narrated("goal-inference"):
        stage("exact inference")
        time.sleep(0.2)
    assert capsys.readouterr().err.count("goal-inference: exact inference") > 1


def test_a_stage_that_counts_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.01)
    with narrated("ceiling"):
        stage("known agents")
        reached(3, 12)
        time.sleep(0.2)
        stage("swaps")
    first, second, *_, last = capsys.readouterr().err.splitlines()
    assert [line.partition(" (")[0] for line in (first, second, last)] == [
        "ceiling: known agents",
        "ceiling: known agents, 3 of 12",
        "ceiling: swaps",
    ]


def test_nobody_hears_what_is_not_narrated(capsys):
    stage("exact inference")
    reached(1, 2)
    with narrated("outer"), narrated("inner"):
        pass
    stage("exact inference")
    assert capsys.readouterr().err == ""
