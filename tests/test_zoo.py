"""The zoo: what it holds loads, what it does not hold is said in one line, and cards say what was measured."""

import dataclasses

import equinox as eqx
import pytest
from helpers import made_up

from tomnet import zoo
from tomnet.errors import BadFile, TomnetError
from tomnet.experiments.claims import Claim
from tomnet.experiments.experiment import Result
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.observer.checkpoint import save_observer
from tomnet.observer.tomnet import ObserverConfig

NAME, MEMBERS = "goal-inference", ["2d", "8d"]
CONFIG = ObserverConfig(channels=2, character_channels=2, character_depth=1, torso_depth=1)
ABOUT = {
    "experiment": NAME,
    "preset": "smoke",
    "command": f"tomnet run {NAME} --preset smoke --seed 3",
    "encounters": 12_345,
    "seconds": 67.8,
    "seed": 3,
    "environment": {"device": "abacus", "cores": 2, "tomnet": "0.1.0", "jax": "0.10.2"},
}


@pytest.fixture
def observers():
    return {member: made_up(CONFIG, seed) for seed, member in enumerate(MEMBERS)}


@pytest.fixture
def run_folder(tmp_path, observers):
    for member, observer in observers.items():
        save_observer(tmp_path / "run" / member / "observer.safetensors", observer, ABOUT | {"member": member})
    return tmp_path / "run"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    return tmp_path / "zoo"


def result():
    row = {"network": 1.25, "ideal": 1.0, "no_past": 1.5, "captured": 0.5}
    claims = [Claim("G1", "It predicts", "partly", 0.5, (0.4, 0.6), "share", "≥ 0.9", ideal=1.0)]
    environment = {"agents": 500, "device": "abacus", "cores": 2, "commit": "abc"}
    return Result(NAME, "smoke", 1, {"2d": {"action": row}}, claims, 1.0, environment)


def test_a_run_is_adopted_whole(run_folder, observers):
    assert not zoo.available(NAME)
    zoo.adopt(run_folder, NAME)
    assert zoo.available(NAME)
    assert eqx.tree_equal(zoo.load(NAME), observers)
    assert {member: about["command"] for member, about in zoo.about(NAME).items()} == dict.fromkeys(
        MEMBERS, ABOUT["command"]
    )


def test_a_run_with_one_observer_missing_is_not_adopted(run_folder, folder):
    (run_folder / "8d" / "observer.safetensors").unlink()
    with pytest.raises(BadFile, match="no trained observer '8d'"):
        zoo.adopt(run_folder, NAME)
    assert not folder.exists()


def test_an_experiment_that_is_not_pretrained(run_folder):
    with pytest.raises(TomnetError, match="no pretrained observers of goal-inference; `tomnet run goal-inference`"):
        zoo.load(NAME)
    with pytest.raises(TomnetError, match="did you mean 'goal-inference'"):
        zoo.load("goal-inferense")


@pytest.mark.parametrize(
    ("about", "why"),
    [
        (ABOUT | {"member": "8d"}, "the observer '8d', not '2d'"),
        (ABOUT | {"member": "2d", "experiment": "greedy-agents"}, "greedy-agents/2d, not of goal-inference"),
        (ABOUT | {"member": "9d"}, "goal-inference/9d, not of goal-inference"),
        ({}, "does not describe an observer"),
    ],
)
def test_an_observer_of_something_else_is_refused(about, why, tmp_path, observers):
    save_observer(tmp_path / "odd.safetensors", observers["2d"], about)
    with pytest.raises(BadFile, match=why):
        zoo.read(tmp_path / "odd.safetensors", NAME, "2d")


def test_a_card_says_what_was_trained_and_what_was_measured(run_folder):
    zoo.adopt(run_folder, NAME)
    zoo.write_card(NAME, result())
    card = zoo.card(NAME).read_text()
    assert ABOUT["command"] in card
    assert "| 2d | smoke | 12,345 | 68 | 3 | abacus, 2 cores |" in card
    assert "| G1 | partly | 0.500 | 0.400 … 0.600 | 1.000 | It predicts |" in card
    assert "| action | 1.250 | 1.000 | 1.500 | 0.500 |" in card
    assert "500 agents drawn with seed 1" in card
    assert "Apache-2.0" in card


def test_a_card_of_random_agents_gives_the_divergence_from_bayes(run_folder):
    zoo.adopt(run_folder, NAME)
    rows = [{"member": "alpha-1", "past": 5, "kl": 0.0123, "interval": (0.01, 0.02)}]
    zoo.write_card(NAME, dataclasses.replace(result(), tables={"bayes_divergence": rows}))
    assert "| alpha-1 | 5 | 0.012 | 0.010 … 0.020 |" in zoo.card(NAME).read_text()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_ships_loads_and_knows_where_it_comes_from(name, monkeypatch):
    monkeypatch.undo()
    if not zoo.available(name):
        pytest.skip("not pretrained yet")
    for member, about in zoo.about(name).items():
        assert about["command"].startswith(f"tomnet run {zoo.home(name, member)} ")
        assert about["encounters"] > 0
