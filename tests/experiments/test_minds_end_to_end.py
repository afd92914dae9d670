"""Sections 3.4 and 3.5 from whom they meet to their figures, with small agents and observers that know nothing."""

import json
import shutil

import pytest
from experiments.minds_small import live_shortly, save_populations
from helpers import made_up

from tomnet import figures
from tomnet.agents import population as populations
from tomnet.experiments import belief_embeddings, explicit_beliefs, false_beliefs, false_beliefs_mixed, unseen_swaps
from tomnet.experiments import run as running
from tomnet.experiments.run import evaluate, load_result, run
from tomnet.experiments.sally_anne import walks
from tomnet.experiments.sally_anne.specs import MIXED
from tomnet.figures.panels import render
from tomnet.support.json_files import json_text, write_json


@pytest.fixture(scope="module", autouse=True)
def agents(tmp_path_factory):
    folder = save_populations(tmp_path_factory.mktemp("agents"), MIXED, count=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(populations, "PRETRAINED", folder)
        live_shortly(patch)
        yield folder


def check(result, tmp_path) -> None:
    experiment = next(module.EXPERIMENT for module in MODULES if module.EXPERIMENT.name == result.experiment)
    decided = [claim.id for claim in result.claims]
    assert decided == sorted(set(decided) & set(experiment.claims))
    # of agents that hardly see, no swap may have come into view: that is not measured, and left out
    assert set(experiment.claims) - set(decided) <= {"F1", "F7"}
    write_json(tmp_path / "result.json", result.to_json())
    json.loads((tmp_path / "result.json").read_text(), parse_constant=lambda name: pytest.fail(f"{name} in a file"))
    again = load_result(tmp_path)
    drawn = figures.figures_for(again)
    # nor may any of them have led to a swap that is worth showing
    missing = set() if any(getattr(again.tables, "examples", {}).values()) else {"10"}
    assert [*drawn] == [f"figure-{number}" for number in experiment.figures if number not in missing]
    assert all(render(figure, "svg") for figure in drawn.values())
    assert set(figures.captions(again)) == set(drawn)


MODULES = (false_beliefs, false_beliefs_mixed, unseen_swaps, explicit_beliefs, belief_embeddings)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.EXPERIMENT.name)
def test_an_observer_that_knows_nothing_is_measured_and_drawn(module, tmp_path):
    observers = {spec.name: made_up(spec.observer) for spec in module.specs("smoke")}
    result = evaluate(module.EXPERIMENT, observers, preset="smoke", agents=20, seed=1)
    check(result, tmp_path)
    assert "reproduced" not in {claim.verdict for claim in result.claims if claim.id not in ("F1", "F7")}


def test_a_run_trains_evaluates_and_keeps_what_it_found(tmp_path, monkeypatch):
    monkeypatch.setitem(running.AGENTS, "smoke", 20)
    # the seed of the evaluation above: what it meets is of the same size, and nothing is compiled anew
    result = run(belief_embeddings.EXPERIMENT, "smoke", 1, tmp_path / "run")
    assert (tmp_path / "run" / "bottleneck" / "observer.safetensors").exists()
    assert json_text(load_result(tmp_path / "run")) == json_text(result)
    check(result, tmp_path)


def test_walks_are_taken_once_and_belong_to_their_population(agents, tmp_path, monkeypatch):
    (first,) = walks.walk_all(1, ("3x3",), 20).values()  # of the same size as above: compiled already
    assert walks.walk_all(1, ("3x3",), 20)["3x3"] is first
    assert walks.walk_all(2, ("3x3",), 20)["3x3"] is not first
    shutil.copytree(agents, tmp_path / "others")
    monkeypatch.setattr(populations, "PRETRAINED", tmp_path / "others")
    assert walks.walk_all(1, ("3x3",), 20)["3x3"] is not first
