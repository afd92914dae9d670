"""Progress, where it is not shown in a terminal."""

import io
import re
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from tomnet.support import progress
from tomnet.support.progress import Progress, narrated, reached, stage


@pytest.fixture
def clock(monkeypatch):
    """`clock(0.0, 20.0)`: what progress sees when it looks, each time; what else runs here has another clock."""

    def shows(*seconds: float) -> None:
        looks = iter(seconds)
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(looks)))

    return shows


@pytest.fixture
def heard(monkeypatch):
    """`heard(words, times)`: all that was said, once these words were said so often; signs of life come soon."""
    said = io.StringIO()
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.01)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=said))

    def until(words: str, times: int) -> str:
        while said.getvalue().count(words) < times:
            time.sleep(0.001)
        return said.getvalue()

    return until


def test_the_end_is_always_reported(capsys, clock):
    clock(0.0, 1.0, 2.0)
    with Progress("random-agents/alpha-1", total=10) as shown:
        shown.advance(5, {"action": 1.2345})
        shown.advance(10, {"action": 0.5})
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "random-agents/alpha-1: compiling, which may take a minute or two",
        "random-agents/alpha-1: 10/10  0 s left  action 0.500",
    ]


@pytest.mark.parametrize(("title", "whole"), [("network", True), ("goal-inference/2d, again", False)])
def test_a_bar_fits_80_columns_and_only_what_is_said_behind_it_gives_way(monkeypatch, title, whole):
    terminal = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda **_: Console(file=terminal, force_terminal=True, width=80))
    with Progress(title, total=760) as shown:
        shown.advance(700, {"action": 0.816, "outcome": 0.085, "successor": 1.946})
    last = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue()).splitlines()[-1]
    assert len(last) <= 80
    assert re.search(rf"^{title} .* 700/760 \S+ left action 0.816 ", last)
    assert last.endswith("successor 1.946") == whole


def test_a_line_comes_now_and_then(capsys, clock):
    clock(0.0, 20.0, 21.0, 40.0)
    with Progress("greedy", total=10) as shown:
        for done in (2, 3, 4):
            shown.advance(done, {})
    lines = capsys.readouterr().err.splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["2/10", "4/10"]
    assert "left" not in lines[0]  # those two steps were compiled, too
    assert "60 s left" in lines[1]  # 20 s for two steps, six to go


def test_a_resumed_job_counts_from_where_it_was(capsys, clock):
    clock(0.0, 20.0, 40.0)
    with Progress("greedy", total=10, done=6) as shown:
        shown.advance(7, {})
        shown.advance(8, {})
    assert "8/10  40 s left" in capsys.readouterr().err


def test_a_job_says_what_it_has_come_to_once(capsys, clock):
    clock(0.0, 0.0)
    with narrated("goal-inference"):
        for _ in range(3):
            stage("an observer reads 500 encounters")
    assert capsys.readouterr().err == "goal-inference: an observer reads 500 encounters (0 s)\n"


def test_a_long_stage_gives_signs_of_life(heard):
    with narrated("goal-inference"):
        stage("exact inference")
        heard("goal-inference: exact inference", times=3)


def test_a_stage_that_counts_says_how_far_it_is(heard):
    with narrated("ceiling"):
        stage("known agents")
        reached(3, 12)
        heard("known agents, 3 of 12", times=1)
        stage("swaps")
        said = heard("swaps", times=1)
    assert [*dict.fromkeys(line.partition(" (")[0] for line in said.splitlines())] == [
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
