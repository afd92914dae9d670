"""The ceiling of small agents: what is measured of whom, and a file that knows which agents it is about."""

import dataclasses
from functools import lru_cache
from itertools import product

import jax
import numpy as np
import pytest
from experiments.minds_small import WORLD, live_shortly, save_populations

from tomnet.agents import population as populations
from tomnet.experiments import ceiling, explicit_beliefs
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.analysis import ceiling_measures as analysis
from tomnet.experiments.analysis import three_species
from tomnet.experiments.analysis.ceiling_measures import CeilingRow, known_agents
from tomnet.experiments.analysis.evaluation_set import EvaluationSet, draw_evaluation_set
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.analysis.three_species import SPECIES
from tomnet.experiments.sally_anne.specs import MIXED, NARROW, WIDE, mixed_spec
from tomnet.experiments.sally_anne.walks import take_walks
from tomnet.ideal import KnownAgents
from tomnet.support.errors import BadFile, BadSetting
from tomnet.support.json_files import read_json, write_json
from tomnet.support.trees import pick
from tomnet.support.typed_json import to_json

TWO = ("3x3", "9x9")
ROW = CeilingRow("3x3, 9x9", "held out", "species", Estimate(0.9, 0.8, float("nan"), 2))


@pytest.fixture(scope="module", autouse=True)
def agents(tmp_path_factory):
    """Four networks of each condition, of which two are held out."""
    folder = tmp_path_factory.mktemp("agents")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(populations, "PRETRAINED", save_populations(folder, tuple(populations.CONDITIONS), count=4))
        live_shortly(patch)
        yield folder


@lru_cache
def met() -> EvaluationSet:
    spec = dataclasses.replace(mixed_spec("smoke"), species=AgentPool(TWO, beliefs=True), world=WORLD, reuse=2)
    return draw_evaluation_set(jax.random.key(0), spec, "held out", 8)


@lru_cache
def foretold(part) -> analysis.Foretold:
    return analysis.foretell(jax.random.key(1), known_agents(TWO, part, WORLD), met(), TWO, 3)


def by_name(measures) -> dict[str, Estimate]:
    return {row.measure: row.estimate for row in analysis.rows("3x3, 9x9", "held out", measures)}


def test_who_knows_the_agents_themselves_does_best():
    told = {
        part: by_name([*analysis.recognition(foretold(part)), *analysis.losses(foretold(part))])
        for part in analysis.POOLS
    }
    assert told["held out"]["action"].mean < told["training"]["action"].mean
    assert told["held out"]["species"].mean >= told["training"]["species"].mean
    assert 0 <= told["held out"]["preferred object"].mean <= 1
    assert told["held out"]["species"].count == 2


def test_means_over_objects_and_discounts():
    told = by_name(analysis.losses(foretold("held out")))
    assert told["consumption"].mean == pytest.approx(5 * told["consumption, mean over objects"].mean)
    assert told["successor"].mean == pytest.approx(3 * told["successor, mean over discounts"].mean)


def test_beliefs_are_nearer_to_the_agents_own_than_to_the_truth():
    told = {part: by_name(analysis.beliefs(foretold(part))) for part in analysis.POOLS}
    assert told["held out"]["belief, share"].mean > 0.5
    assert told["held out"]["belief"].mean < told["training"]["belief"].mean


def test_who_is_taken_for_whom():
    one = foretold("held out")
    species = one.met.species[one.met.who]
    always = dataclasses.replace(one, species=np.zeros_like(species))
    name, estimate = analysis.taken_for_each_other(always, *TWO)
    assert (name, estimate.mean, estimate.count) == ("3x3 and 9x9 taken for each other", 0.5, 2)


def test_a_swap_that_nobody_can_see_changes_nothing():
    known = known_agents(("5x5",), "held out", WORLD)
    walks = take_walks(jax.random.key(16), AgentPool(("5x5",), "held out"), 16, 4, WORLD)
    effects = analysis.swap_effects(jax.random.key(4), known, walks)
    assert len(effects.distance)
    assert (effects.observer["policy"][~effects.in_view] == 0).all()
    np.testing.assert_allclose(effects.observer["belief"][~effects.in_view], 0, atol=1e-9)
    assert np.isnan(effects.observer["successor"]).all()


# --- On disk


def stored(path, **changes) -> None:
    one = ceiling.Ceiling(8, 1, 4, ceiling.digests(), (ROW,), ceiling.command(8, 1, 4), 0.5, {"device": "CPU"})
    ceiling.save_ceiling(path, dataclasses.replace(one, **changes))


def test_a_ceiling_comes_back(tmp_path):
    stored(tmp_path / "ceiling.json")
    again = ceiling.read_ceiling(tmp_path / "ceiling.json")
    assert again.command == "tomnet agents ceiling --agents 8 --seed 1 --rollouts 4"
    row = again.find("3x3, 9x9", "held out", "species")
    assert row is not None
    assert (row.estimate.mean, row.estimate.low, row.estimate.count) == (0.9, 0.8, 2)
    assert np.isnan(row.estimate.high)  # too few networks for an interval
    assert again.find("3x3, 9x9", "training", "species") is None


def test_a_ceiling_of_other_agents_is_told(tmp_path):
    stored(tmp_path / "ceiling.json", populations=ceiling.digests() | {"7x7": "another"})
    assert ceiling.other_agents(ceiling.read_ceiling(tmp_path / "ceiling.json")) == ["7x7"]


def test_a_file_that_is_no_ceiling(tmp_path):
    path = tmp_path / "ceiling.json"
    write_json(path, {"format": "tomnet agents"})
    with pytest.raises(BadFile, match="no ceiling that this tomnet can read"):
        ceiling.read_ceiling(path)
    stored(path)
    told = read_json(path)
    del told["ceiling"]["rows"]
    write_json(path, told)
    with pytest.raises(BadFile, match="holds no ceiling: rows is missing"):
        ceiling.read_ceiling(path)


@pytest.mark.parametrize(("agents", "seed", "rollouts"), [(0, 1, 4), (8, -1, 4), (8, 1, 0)])
def test_numbers_that_cannot_work(agents, seed, rollouts):
    with pytest.raises(BadSetting, match="must lie between"):
        ceiling.compute_ceiling(agents, seed, rollouts)


# --- Everything


def test_a_place_that_cannot_be_written_to_is_named_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ceiling, "prepare_cpu", lambda: None)
    monkeypatch.setattr(ceiling, "compute_ceiling", lambda *asked: pytest.fail("it has begun"))
    with pytest.raises(SystemExit) as stopped:
        ceiling.main(["--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"{tmp_path}: cannot be written to: it is a folder\n"


def one_of_each(*asked) -> KnownAgents:
    """The first agent of each condition: leading everyone along everything would take minutes."""
    known = known_agents(*asked)
    first = np.unique(known.species, return_index=True)[1]
    return KnownAgents(pick(known.agents, first), known.species[first], known.world)


@pytest.mark.slow
def test_the_whole_ceiling_of_few_agents(tmp_path, monkeypatch):
    monkeypatch.setattr(ceiling, "known_agents", one_of_each)
    monkeypatch.setattr(three_species, "REUSE", 1)
    monkeypatch.setattr(explicit_beliefs, "mixed_spec", lambda preset: dataclasses.replace(mixed_spec(preset), reuse=1))
    one = ceiling.compute_ceiling(agents=2, seed=1, rollouts=3)
    ceiling.save_ceiling(tmp_path / "ceiling.json", one)
    assert to_json(ceiling.read_ceiling(tmp_path / "ceiling.json")) == to_json(one)
    for population, conditions in ((ceiling.THREE_SPECIES, SPECIES), (ceiling.MIXED_POPULATION, MIXED)):
        for part in analysis.POOLS:
            species = one.find(population, part, "species")
            assert species is not None
            assert 0 <= species.estimate.mean <= 1
            assert species.estimate.count == len(conditions)
    for part, name, where in product(analysis.POOLS, (NARROW, WIDE), ("in view", "out of view")):
        assert one.find(ceiling.MIXED_POPULATION, part, f"swap effect on beliefs, {where}, {name}") is not None
