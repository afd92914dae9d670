"""`tomnet fit`: what it prints, writes and refuses."""

import json

import pytest
from fit.brief import BRIEF
from fit.small import random_walks, two_kinds

from tomnet.fit.observer import load_fitted
from tomnet.fit.training import FitTraining
from tomnet.recordings.folder import write_recordings

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(FitTraining, "for_episodes", staticmethod(lambda count: BRIEF))


@pytest.fixture
def episodes(here):
    write_recordings(two_kinds(10, 6), here / "episodes", "jsonl")
    return here / "episodes"


def test_fit_says_how_it_split_what_it_measured_and_what_it_recommends(tomnet, episodes, here):
    code, out, _ = tomnet("fit", episodes, "--out", "fitted")
    assert code == 0
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


def test_what_cannot_be_fitted_is_refused_in_one_line(refusal, episodes, here):
    write_recordings(random_walks(1, 1), here / "one", "text")
    assert "a single episode: it can be watched, and nothing can be learned" in refusal("fit", "one", "--out", "x")
    write_recordings(random_walks(3, 2), here / "few", "text")
    assert "6 episodes of 3 agents are too few" in refusal("fit", "few", "--out", "x")
    assert "fold = 5: must lie between 0 and 4" in refusal("fit", episodes, "--out", "x", "--fold", 5)
    assert "there is no run to go on with" in refusal("fit", episodes, "--out", "x", "--resume")
    assert "holds something else" in refusal("fit", episodes, "--out", episodes)
    assert "no such file or folder" in refusal("fit", "nowhere", "--out", "x")
