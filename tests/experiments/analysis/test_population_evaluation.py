"""The evaluation of populations, the whole of it, on tiny networks."""

import json

import equinox as eqx
import jax
import numpy as np
import pytest
from agents.small import WORLD, made_up_population

from tomnet.experiments.analysis import population_evaluation
from tomnet.experiments.analysis.population_evaluation import PopulationTables, draw_courses, evaluate_population
from tomnet.experiments.analysis.statistics import mean_interval
from tomnet.experiments.sally_anne.scenarios import scenario
from tomnet.support.errors import BadSetting
from tomnet.support.json_files import json_text
from tomnet.support.typed_json import from_json

PASSING = """
@....
A.*..
..#..
.....
...BC
"""


def evaluate(*conditions: str):
    populations = {name: made_up_population(name, 2, seed=1) for name in conditions}
    scenarios = [scenario(PASSING, "rrd", WORLD)]
    return evaluate_population(
        populations, levels=6, swap_levels=96, seed=0, world=WORLD, rollouts=4, scenarios=scenarios
    )


@pytest.fixture(scope="module")
def evaluated():
    return evaluate("blind", "3x3", "5x5")


def test_an_evaluation_is_tables_that_json_keeps(evaluated):
    tables, claims = evaluated
    kept = json.loads(json_text(tables))
    assert json.loads(json_text(from_json(PopulationTables, kept))) == kept
    assert list(tables.performance) == list(tables.handedness) == ["oracle", "random", "blind", "3x3", "5x5"]
    for part in (tables.beliefs, tables.swaps, tables.acts_on_memory, tables.depends_on_past):
        assert list(part) == ["blind", "3x3", "5x5"]
    assert set(tables.examples) == {"in_view", "out_of_view"}
    assert [claim.id for claim in claims] == ["F1"]  # F7 needs all fields of view


def test_no_one_does_better_than_the_oracle(evaluated):
    tables, _ = evaluated
    best = np.array(tables.performance["oracle"].returns.each)
    assert len(best) == 2  # on the levels of the first networks, and on those of the second
    assert all((best >= row.returns.each).all() for row in tables.performance.values())


def test_networks_of_one_place_meet_the_same_levels_and_others_meet_others():
    met, acted = [], population_evaluation.behave

    def behave(key, agent, levels, world, record=None):
        met.append((type(agent).__name__, levels))
        return acted(key, agent, levels, world, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population_evaluation, "behave", behave)
        evaluate("blind", "3x3")
    assert [who for who, _ in met] == ["Oracle"] * 2 + ["RandomAgent"] * 2 + ["DeepAgent"] * 4
    first, second = met[0][1], met[1][1]
    assert not eqx.tree_equal(first, second)
    assert all(eqx.tree_equal(levels, first) for _, levels in met[::2])
    assert all(eqx.tree_equal(levels, second) for _, levels in met[1::2])


def test_swap_levels_differ_from_network_to_network_and_do_not_depend_on_their_number():
    two, three = (draw_courses(jax.random.key(0), count, 6, 24, WORLD) for count in (2, 3))
    assert all(eqx.tree_equal(one.ways, other.ways) for one, other in zip(two, three))
    assert not eqx.tree_equal(three[0].ways, three[1].ways)


def test_the_table_of_hands_says_which_networks_are_held_out(evaluated):
    tables, _ = evaluated
    assert [row.part for row in tables.handedness["3x3"].each] == ["training", "held out"]
    assert list(tables.handedness["3x3"].hands) == ["training", "held out"]
    assert tables.handedness["oracle"].hands == {}


def test_intervals_are_over_networks(evaluated):
    tables, _ = evaluated
    over = tables.performance["3x3"].returns
    assert over.interval == mean_interval(np.array(over.each)).interval
    assert len(over.each) == over.count == 2


def test_the_blind_neither_see_nor_notice_anything(evaluated):
    tables, _ = evaluated
    assert tables.beliefs["blind"].seen is None
    swaps = tables.swaps["blind"]
    assert swaps.in_view.pairs == 0
    assert swaps.out_of_view.pairs > 0
    for row in swaps.by_distance:
        assert row.pairs == 0 or row.policy.largest == row.belief.largest == 0


def test_any_condition_can_be_evaluated_alone_and_comes_out_the_same(evaluated):
    tables, _ = evaluated
    alone, _ = evaluate("3x3")
    for part in ("performance", "beliefs", "swaps", "acts_on_memory", "depends_on_past", "handedness"):
        assert json_text(getattr(alone, part)["3x3"]) == json_text(getattr(tables, part)["3x3"])
    assert alone.examples == {}


def test_an_evaluation_of_nothing_is_refused():
    with pytest.raises(BadSetting, match="populations"):
        evaluate_population({}, levels=4, seed=0)
    with pytest.raises(BadSetting, match="swap_levels"):
        evaluate_population({"3x3": made_up_population("3x3", 1)}, levels=4, swap_levels=0, seed=0)
