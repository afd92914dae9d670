"""Section 3.3: verdicts from tables made by hand, and both experiments from end to end with made-up minds."""

import json
import shutil
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import made_up_population
from figures.hand_made import with_changed
from figures.hand_made_deep import agent_embeddings_tables, deep_rl_agents_tables
from helpers import made_up

from tomnet.agents import population as populations
from tomnet.agents.actor_critic import NetworkConfig
from tomnet.agents.population import save_population
from tomnet.episodes.episode import QueryState
from tomnet.experiments import agent_embeddings, deep_rl_agents
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.analysis import species_maps, table_a1, three_species, wall_followers
from tomnet.experiments.analysis.character_space import Agreement
from tomnet.experiments.analysis.evaluation_set import EvaluationSet, Met
from tomnet.experiments.analysis.statistics import UNKNOWN, Estimate
from tomnet.experiments.analysis.table_a1 import OBSERVERS, PAPER, SHUFFLES
from tomnet.experiments.analysis.three_species import SPECIES
from tomnet.experiments.experiment import PRESETS, Result
from tomnet.observer.config import BEHAVIOUR
from tomnet.support.errors import TomnetError
from tomnet.world.gridworld import SUBGOAL_MAZE

TINY = NetworkConfig(channels=4, memory_channels=4, depth=1, belief_channels=4, hidden=8)
AGENTS, SEED = 24, 0


def verdicts(module, tables) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in module._claims(tables)}


@pytest.fixture
def deep():
    return deep_rl_agents_tables()


@pytest.fixture
def embedded():
    return agent_embeddings_tables()


# --- Whom and how


@pytest.mark.parametrize("preset", PRESETS)
def test_agents_are_met_as_in_appendix_a(preset):
    """Four full past episodes, the current one split at random, an 8-D embedding, five objects."""
    both, (bottleneck,) = deep_rl_agents.specs(preset)[-1], agent_embeddings.specs(preset)
    for spec in (*deep_rl_agents.specs(preset), bottleneck):
        assert isinstance(spec.species, AgentPool)
        assert (spec.species.conditions, spec.species.part) == (SPECIES, "training")
        assert spec.world == SUBGOAL_MAZE
        assert (spec.encounter_spec.min_past, spec.encounter_spec.max_past, spec.encounter_spec.query_at_start) == (
            4,
            4,
            False,
        )
        assert (spec.observer.embedding, spec.observer.objects) == (8, 5)
        assert spec.reuse <= spec.encounter_spec.max_past + 1
    assert bottleneck.observer == replace(both.observer, bottleneck=True)
    priced = replace(both.training, beta=0.01, reduction="mean")
    if preset == "laptop":  # smaller steps, and more of them: a bottleneck closes by so much in a step
        sizes = replace(bottleneck.training, steps=1, batch=1, currents=1, queries=1, learning_rate=1.0)
        assert sizes == replace(priced, steps=1, batch=1, currents=1, queries=1, learning_rate=1.0)
        assert bottleneck.training.steps > priced.steps
    else:
        assert bottleneck.training == priced
    assert bottleneck.training.anneal == 0.25  # 500 thousand of 2 million steps


def test_the_four_observers_differ_in_their_nets_alone():
    specs = {spec.name: spec.observer for spec in deep_rl_agents.specs("full")}
    nets = {name: (config.character, config.mental) for name, config in specs.items()}
    assert nets == {
        "none": ("none", False),
        "char": ("episodes", False),
        "mental": ("none", True),
        "both": ("episodes", True),
    }
    assert len({replace(config, character="none", mental=False) for config in specs.values()}) == 1


def test_full_is_trained_on_four_million_encounters():
    for spec in (*deep_rl_agents.specs("full"), *agent_embeddings.specs("full")):
        assert spec.training.met_after(spec.training.steps)["encounters"] >= 4_000_000


def test_without_agents_there_is_one_clear_line(tmp_path):
    for module in (deep_rl_agents, agent_embeddings):
        with pytest.raises(TomnetError, match="no agents of the condition blind"):
            module.evaluate({}, AGENTS, SEED, tmp_path)


# --- Verdicts


def test_the_papers_own_numbers_reproduce(deep, embedded):
    assert set(verdicts(deep_rl_agents, deep).values()) == {"reproduced"}
    assert set(verdicts(agent_embeddings, embedded).values()) == {"reproduced"}


def test_every_row_of_table_a1_is_there(deep):
    assert set(PAPER) == {(name, ()) for name in OBSERVERS} | set(SHUFFLES)
    assert len(deep.losses) == 2 * len(PAPER) * len(BEHAVIOUR)


def test_a_smaller_cut_is_partly_as_long_as_both_is_best(deep):
    deep = with_changed(deep, ("cuts", "consumption", "both", "cut", "mean"), 0.60)
    (claim, *_) = deep_rl_agents._claims(deep)
    assert claim.verdict == "partly"
    assert claim.value == pytest.approx(0.60 / 0.61)
    assert "consumption" in claim.unit
    deep = with_changed(deep, ("cuts", "action", "mental", "lead", "low"), -0.01)
    assert verdicts(deep_rl_agents, deep)["D1"] == "not reproduced"


def test_the_largest_cut_does_not_help_where_another_observer_is_as_good(deep):
    deep = with_changed(deep, ("cuts", "successor", "char", "lead", "low"), -0.1)
    assert verdicts(deep_rl_agents, deep)["D1"] == "not reproduced"


def unsure(tables, chosen):
    """The same, where nobody knows whether these shuffles hurt."""
    losses = [
        replace(row, rise=replace(row.rise, low=-1.0)) if row.rise and chosen(row) else row for row in tables.losses
    ]
    return replace(tables, losses=losses)


def test_shuffling_that_hurts_less_than_chance_could(deep):
    def softened(*heads):
        return unsure(deep, lambda row: (row.observer, row.shuffled) == ("both", ("mental",)) and row.head in heads)

    assert verdicts(deep_rl_agents, softened("consumption"))["D2"] == "partly"
    assert verdicts(deep_rl_agents, softened("consumption", "successor"))["D2"] == "not reproduced"


def test_training_agents_alone_do_not_decide_about_shuffling(deep):
    deep = unsure(deep, lambda row: row.part == "training")
    assert verdicts(deep_rl_agents, deep)["D2"] == "reproduced"


@pytest.mark.parametrize(
    ("gap", "verdict"), [(-0.2, "reproduced"), (0.05, "reproduced"), (0.06, "partly"), (0.16, "not reproduced")]
)
def test_the_worst_head_decides_about_generalisation(deep, gap, verdict):
    deep = with_changed(deep, ("generalisation", "action", "gap", "mean"), gap)
    assert verdicts(deep_rl_agents, deep)["D3"] == verdict


def test_an_observer_that_learned_nothing_does_not_generalise(deep):
    deep = with_changed(deep, ("cuts", "successor", "none", "lead", "low"), -0.1)
    assert verdicts(deep_rl_agents, deep)["D3"] == "not reproduced"


@pytest.mark.parametrize(
    ("accuracy", "verdict"),
    [(0.95, "reproduced"), (0.94, "partly"), (0.79, "not reproduced"), (1 / 3, "not reproduced")],
)
def test_the_species_is_told(deep, accuracy, verdict):
    deep = with_changed(deep, ("species", "neighbours", "accuracy", "mean"), accuracy)
    assert verdicts(deep_rl_agents, deep)["D4"] == verdict


SPOILT = {
    "species by neighbours": (("read_outs", "species", "own_neighbours", "accuracy", "mean"), 0.94),
    "species linearly": (("read_outs", "species", "own_linear", "accuracy", "mean"), 0.94),
    "object by neighbours": (("read_outs", "object", "own_neighbours", "accuracy", "mean"), 0.89),
    "blind at the prior": (("divergence", "blind_in_object", "mean"), 0.11),
    "used or collapsed": (("divergence", "all", 4, "mean"), 0.07),
}


@pytest.mark.parametrize("condition", SPOILT)
def test_each_of_the_five_conditions_counts(embedded, condition):
    embedded = with_changed(embedded, *SPOILT[condition])
    met = agent_embeddings.disentangled(embedded)
    assert [name for name, holds in met.items() if not holds] == [condition]
    assert verdicts(agent_embeddings, embedded)["D5"] == "partly"


def test_three_failures_are_too_many(embedded):
    for spoil in list(SPOILT.values())[:3]:
        embedded = with_changed(embedded, *spoil)
    assert verdicts(agent_embeddings, embedded)["D5"] == "not reproduced"


def test_without_a_dimension_for_the_object_the_blind_are_not_at_the_prior(embedded):
    embedded = with_changed(embedded, ("divergence", "blind_in_object"), UNKNOWN)
    assert not agent_embeddings.disentangled(embedded)["blind at the prior"]


def test_dimensions_that_are_all_used_have_not_collapsed(embedded):
    for number in range(8):
        embedded = with_changed(embedded, ("divergence", "all", number, "mean"), 1.0)
    assert not agent_embeddings.disentangled(embedded)["used or collapsed"]


def test_two_clusters_that_are_not_the_hands_are_half_of_the_claim(embedded):
    hardly = Agreement(Estimate(0.6, 0.4, 0.8, 6), Estimate(0.1, -0.5, 0.6, 6), -1.0, 3, 3)
    embedded = with_changed(embedded, ("subspecies", "agreement"), hardly)
    assert verdicts(agent_embeddings, embedded)["D6"] == "partly"
    embedded = with_changed(embedded, ("subspecies", "silhouette"), 0.4)
    assert verdicts(agent_embeddings, embedded)["D6"] == "not reproduced"


def test_networks_that_all_have_one_hand_do_not_reproduce_it(embedded):
    embedded = with_changed(embedded, ("subspecies", "agreement"), Agreement(UNKNOWN, UNKNOWN, 1.0, 6, 0))
    embedded = with_changed(embedded, ("subspecies", "gain"), 1.0)
    assert verdicts(agent_embeddings, embedded)["D6"] == "not reproduced"


# --- Small parts


def test_a_field_that_turns():
    """Anticlockwise: up on the right, left on top."""
    size = 5
    rows, cols = np.divmod(np.arange(25), size)
    down, across = rows - 2, cols - 2
    radius = np.hypot(down, across)
    arrows = np.stack([-across, down], 1) / np.maximum(radius, 1)[:, None]
    query = QueryState(jnp.zeros((5, 5), bool), jnp.int32(0), jnp.asarray([3, -1]))
    assert wall_followers.circulation(arrows, query) == pytest.approx(1)
    assert wall_followers.circulation(-arrows, query) == pytest.approx(-1)
    outwards = np.stack([down, across], 1) / np.maximum(radius, 1)[:, None]
    assert wall_followers.circulation(outwards, query) == pytest.approx(0, abs=1e-9)


def generalisation(trained: dict[str, list[float]], tested: dict[str, list[float]]) -> table_a1.Generalisation:
    parts = {"training": trained, "held out": tested}
    losses = {
        (part, name, ()): {head: np.array(values) for head in BEHAVIOUR}
        for part, by_name in parts.items()
        for name, values in by_name.items()
    }
    return table_a1.generalisation_table(losses)["action"]


def test_gaps_are_relative_to_training():
    none = {"none": [2.0, 2.0, 2.0]}
    table = generalisation({"both": [1.0, 1.0, 1.0]} | none, {"both": [1.0, 1.2]} | {"none": [2.0, 2.0]})
    assert table.gap.mean == pytest.approx(0.1)
    assert table.gap.interval == pytest.approx((0.1 - 0.196, 0.1 + 0.196))
    assert (table.beside_none.mean, table.beside_none.interval) == (table.gap.mean, table.gap.interval)


def test_agents_that_are_harder_for_everyone_are_no_gap_beside_none():
    trained, tested = [1.0, 2.0, 3.0], [1.5, 3.0]
    table = generalisation(
        {"both": trained, "none": [2 * loss for loss in trained]},
        {"both": tested, "none": [2 * loss for loss in tested]},
    )
    assert table.gap.mean == pytest.approx(0.125)
    assert table.beside_none.mean == pytest.approx(0)
    assert table.beside_none.interval == pytest.approx((0, 0))  # network by network the same share


def test_the_softer_gap_is_told_and_decides_nothing(deep):
    deep = with_changed(deep, ("generalisation", "action", "gap", "mean"), 0.06)
    claim = deep_rl_agents._claims(deep)[2]
    assert (claim.id, claim.verdict) == ("D3", "partly")
    (softer,) = [value for name, value in claim.detail.items() if name.startswith("softer")]
    assert softer["action"] == pytest.approx([0.02, -0.01, 0.05])


def test_losses_in_means_are_of_one_object_and_one_discount(deep):
    row = deep.losses[0]
    whole = replace(row, loss=Estimate(3.0, 1.5, 6.0, 9))
    assert replace(whole, head="action").mean_loss == Estimate(3.0, 1.5, 6.0, 9)
    assert replace(whole, head="consumption").mean_loss == Estimate(0.6, 0.3, 1.2, 9)
    assert replace(whole, head="successor").mean_loss == Estimate(1.0, 0.5, 2.0, 9)


def test_cuts_are_relative_to_none_and_leads_are_paired():
    held = {"none": [2.0, 4.0], "char": [1.5, 3.5], "mental": [2.0, 4.0], "both": [1.0, 3.0]}
    losses = {("held out", name, ()): {head: np.array(loss) for head in BEHAVIOUR} for name, loss in held.items()}
    table = table_a1.cut_table(losses)["action"]
    assert table["both"].cut.mean == pytest.approx(1 / 3)
    assert table["char"].lead.mean == pytest.approx(0.5)
    assert table["char"].lead.interval == pytest.approx((0.5, 0.5))  # the same for every agent: no doubt left
    assert table["none"].cut.mean == 0


# --- From end to end


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Populations of four tiny networks each, two of them held out; none has learned anything."""
    folder = tmp_path_factory.mktemp("agents")
    for seed, condition in enumerate(SPECIES):
        population = made_up_population(condition, 4, TINY, seed)
        save_population(folder / f"{condition}.safetensors", population)
    return folder


@pytest.fixture(scope="module")
def evaluated(folder):
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (species_maps, "MAP_LEVELS", 2),
            (species_maps, "MAP_ROLLOUTS", 4),
            (wall_followers, "HAND_LEVELS", 4),
            (wall_followers, "FIELD_LEVELS", 2),
        ):
            patch.setattr(module, name, value)
        results = {}
        for module in (deep_rl_agents, agent_embeddings):
            observers = {spec.name: made_up(spec.observer) for spec in module.specs("smoke", folder)}
            tables, claims = module.evaluate(observers, AGENTS, SEED, folder)
            results[module] = Result(module.EXPERIMENT.name, "smoke", SEED, tables, claims)
    return results


@pytest.mark.parametrize("module", [deep_rl_agents, agent_embeddings])
def test_every_claim_is_decided_and_survives_its_file(evaluated, module):
    result = evaluated[module]
    assert tuple(claim.id for claim in result.claims) == module.EXPERIMENT.claims
    plain = json.loads(json.dumps(result.to_json()))
    again = Result.from_json(plain, module.Tables)
    assert again.to_json() == plain
    assert [claim.verdict for claim in again.claims] == [claim.verdict for claim in result.claims]


def test_untrained_observers_reproduce_nothing(evaluated):
    assert {claim.id: claim.verdict for claim in evaluated[deep_rl_agents].claims}["D1"] == "not reproduced"
    assert {claim.id: claim.verdict for claim in evaluated[agent_embeddings].claims}["D5"] != "reproduced"


def test_the_floor_lies_below_an_observer_that_knows_nothing(evaluated):
    for row in evaluated[deep_rl_agents].tables.floor.heads.values():
        assert row.floor.mean < row.both
        assert row.excess.mean == pytest.approx(row.both - row.floor.mean)


def test_an_observer_without_nets_cannot_be_shuffled(evaluated):
    rows = evaluated[deep_rl_agents].tables.losses
    assert {(row.observer, row.shuffled) for row in rows} == set(PAPER)
    assert all((row.rise is not None) == bool(row.shuffled) for row in rows)


def test_intervals_are_over_networks(evaluated):
    """Of 24 agents, six networks: those that differ only in what they prefer are not independent."""
    tables = evaluated[deep_rl_agents].tables
    counted = [row.loss for row in tables.losses] + [row.rise for row in tables.losses if row.rise]
    counted += [part for by_name in tables.cuts.values() for cut in by_name.values() for part in (cut.cut, cut.lead)]
    counted += [part for row in tables.floor.heads.values() for part in (row.floor, row.excess)]
    counted += [tables.floor.policy, *(read_out.accuracy for read_out in tables.species.values())]
    embedded = evaluated[agent_embeddings].tables
    counted += [*embedded.divergence.all, embedded.read_outs["species"].all_neighbours.accuracy]
    assert {one.count for one in counted} == {6}
    assert {row.gap.count for row in tables.generalisation.values()} == {12}
    assert {one.count for by_species in embedded.divergence.species.values() for one in by_species} == {2}
    assert embedded.read_outs["object"].all_neighbours.accuracy.count == 4  # the blind are not asked


def test_held_out_networks_are_the_ones_met(evaluated):
    tables = evaluated[agent_embeddings].tables
    assert tables.met == {part: Met(agents=24, encounters=120) for part in ("training", "held out")}
    assert [row.hand.network for row in tables.subspecies.each] == [2, 3]  # after two blind ones
    assert len(tables.posteriors.species) == 24
    assert len(tables.dimensions) == 8


def test_meetings_are_held_once_and_belong_to_their_population(folder, tmp_path, monkeypatch):
    held = []

    def nobody(key, spec, part, agents) -> EvaluationSet:
        held.append(part)
        return object.__new__(EvaluationSet)

    monkeypatch.setattr(three_species, "draw_evaluation_set", nobody)
    first = three_species.species_evaluation_sets(SEED + 1, AGENTS, folder)
    assert three_species.species_evaluation_sets(SEED + 1, AGENTS, folder) is first
    assert held == ["training", "held out"]
    assert three_species.species_evaluation_sets(SEED + 2, AGENTS, folder) is not first
    shutil.copytree(folder, tmp_path / "others")
    monkeypatch.setattr(populations, "PRETRAINED", tmp_path / "others")
    pretrained = three_species.species_evaluation_sets(SEED + 2, AGENTS)
    monkeypatch.setattr(populations, "PRETRAINED", folder)
    assert three_species.species_evaluation_sets(SEED + 2, AGENTS) is not pretrained
    three_species._evaluation_sets.cache_clear()  # of what was only made up
