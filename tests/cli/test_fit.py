"""`tomnet fit`: what it prints, writes and refuses."""

import json
import re

import pytest
from fit.brief import BRIEF
from fit.small import random_walks, two_kinds

from tomnet.cli import console
from tomnet.cli.fit import told_start
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.fit.fitted_observer import load_fitted
from tomnet.fit.result import Started
from tomnet.fit.training import FitTraining
from tomnet.recordings.folder import write_recordings
from tomnet.recordings.text import parse_text

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(FitTraining, "for_episodes", staticmethod(lambda count: BRIEF))


@pytest.fixture
def episodes(here):
    write_recordings(two_kinds(10, 6), here / "episodes", "jsonl")
    return here / "episodes"


def test_fit_says_how_it_split_what_it_measured_and_what_it_recommends(tomnet, episodes, here, monkeypatch):
    monkeypatch.setattr(console, "PIPE_WIDTH", 80)  # as wide as most terminals
    code, out, _ = tomnet("fit", episodes, "--out", "fitted")
    assert code == 0
    assert len(re.findall(r"^ observer +loss +accuracy +(?:where not the nearest|successor maps) +$", out, re.M)) == 2
    assert len(re.findall(r"^ \S.*\d \[\d\.\d{3}, \d\.\d{3}\] +$", out, re.M)) == 6  # intervals on one line
    assert out.startswith("60 episodes of 10 agents; split by agent: the test agents are strangers to the observer")
    told = [line.split("  ")[0].strip() for line in out.splitlines()]
    assert {"no past (the network)", "nearest", "favourite so far", "inverse planner", "network", "mixture"} <= set(
        told
    )
    assert "expected calibration error" in out
    assert f"recommended: {load_fitted('fitted').recommended} (loss on the validation part" in out
    assert {path.name for path in (here / "fitted").iterdir()} >= {"observer.safetensors", "result.json", "figures"}
    code, out, _ = tomnet("fit", episodes, "--out", "fitted", "--resume", "--json")
    found = json.loads(out)
    assert (code, found["agents"], found["split_by"]) == (0, 10, "agent")


def test_a_fit_from_an_earlier_one_says_whether_that_helped(tomnet, refusal, episodes, here):
    tomnet("fit", episodes, "--out", "fitted")
    code, out, _ = tomnet("fit", episodes, "--out", "again", "--from", "fitted")
    (told,) = [line for line in out.splitlines() if line.startswith("started from fitted: ")]
    assert code == 0
    assert "nats after 2 past episodes" in told
    write_recordings([parse_text("@.C\n\nright\nright\n", "ann", "1")], here / "other", "text")
    assert "fitted is no start for these recordings: objects: it knows A, B, found C" in refusal(
        "fit", "other", "--out", "x", "--from", "fitted"
    )
    assert "unknown observer 'fited'" in refusal("fit", episodes, "--out", "x", "--from", "fited")


@pytest.mark.parametrize(
    ("gain", "kept", "said"),
    [
        ((0.2, 0.1, 0.3), True, "that helped (95% interval 0.100 … 0.300)"),
        ((-0.2, -0.3, -0.1), False, "that did harm (95% interval -0.300 … -0.100)"),
        ((0.0, -0.1, 0.1), False, "that made no clear difference"),
        ((0.2, float("nan"), float("nan")), True, "that made no clear difference"),
    ],
)
def test_whether_a_start_helped_is_what_the_interval_says(gain, kept, said):
    estimate = Estimate(0.5, 0.4, 0.6, 9)
    told = told_start(Started("one", kept, 0.3, 0.4, 5, estimate, estimate, Estimate(*gain, 9)))
    assert said in told
    assert told.endswith("it is the network here" if kept else "the network here is the one from nothing")


def test_what_cannot_be_fitted_is_refused_in_one_line(refusal, episodes, here):
    write_recordings(random_walks(1, 1), here / "one", "text")
    assert "a single episode: it can be watched, and nothing can be learned" in refusal("fit", "one", "--out", "x")
    write_recordings(random_walks(3, 2), here / "few", "text")
    assert "6 episodes of 3 agents are too few" in refusal("fit", "few", "--out", "x")
    assert "fold = 5: must lie between 0 and 4" in refusal("fit", episodes, "--out", "x", "--fold", 5)
    assert "there is no run to go on with" in refusal("fit", episodes, "--out", "x", "--resume")
    assert "holds something else" in refusal("fit", episodes, "--out", episodes)
    assert "no such file or folder" in refusal("fit", "nowhere", "--out", "x")
