"""The evaluation of populations: measures with known results, and the whole of it on tiny networks."""

import dataclasses
import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, WORLD, made_up_population
from helpers import pick, step

from tomnet.agents.actor_critic import Rewards
from tomnet.agents.oracle import Oracle
from tomnet.agents.random_policy import RandomAgent
from tomnet.experiments.analysis import population
from tomnet.experiments.analysis.population import (
    Performance,
    PopulationTables,
    behave,
    draw_courses,
    evaluate_population,
    measures,
    performance,
    returns,
)
from tomnet.experiments.analysis.reachability import Reachable, levels_with_a_way
from tomnet.experiments.claims.statistics import mean_interval
from tomnet.experiments.false_belief.scenarios import scenario
from tomnet.support.errors import BadSetting
from tomnet.support.files import json_text
from tomnet.support.typed_json import from_json
from tomnet.world.gridworld import Level, World, reset_to_level
from tomnet.world.levels import draw_levels, parse_level

ROOM = World(size=5, objects=2, subgoal=True, max_walls=1, step_limit=12)


def drawn(*pictures: str) -> Level:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(parse_level(picture, ROOM) for picture in pictures))


OPEN = "@...*\n.....\n.....\n..B..\n..A.."
NO_WAY_TO_THE_SUBGOAL = "@..A.\n.....\n.....\n..B##\n..#.*"
BEHIND_AN_OBJECT = "@..A.\n.....\n.....\n###.#\n*B#.."
THROUGH_THE_SUBGOAL = "@...*\n####A\n.....\n.....\n....B"
WALLED_IN = "@#...\n##...\n.....\n..A..\n*...B"


@pytest.fixture(scope="module")
def by_the_oracle():
    levels = drawn(OPEN, NO_WAY_TO_THE_SUBGOAL, BEHIND_AN_OBJECT, THROUGH_THE_SUBGOAL, WALLED_IN)
    episodes, told = behave(jax.random.key(0), Oracle(jnp.int32(0)), levels, ROOM)
    assert told is None
    return levels, episodes


def test_a_way_leads_around_walls_and_terminal_objects_but_not_around_the_subgoal(by_the_oracle):
    levels, _ = by_the_oracle
    reachable = Reachable(levels, ROOM)
    assert reachable.subgoal.tolist() == [True, False, False, True, False]
    assert reachable.objects[:, 0].tolist() == [True, True, True, True, False]


def test_the_oracles_return_is_2_less_the_cost_of_its_steps(by_the_oracle):
    levels, episodes = by_the_oracle
    measured = measures(episodes, 0, Reachable(levels, ROOM), ROOM)
    assert measured["steps"].tolist() == [10, 3, 3, 5, 12]
    expected = [2 - 0.005 * 10, 1 - 0.005 * 3, 1 - 0.005 * 3, 2 - 0.005 * 5, -1 - 0.005 * 12]
    assert measured["returns"] == pytest.approx(expected)


def test_shares_count_levels_where_there_is_a_way(by_the_oracle):
    levels, episodes = by_the_oracle
    measured = measures(episodes, 0, Reachable(levels, ROOM), ROOM)
    nan = pytest.approx(float("nan"), nan_ok=True)
    assert measured["subgoal_first"].tolist() == [1, nan, nan, 1, nan]
    assert measured["preferred"].tolist() == [1, 1, 1, 1, 0]
    assert measured["preferred_if_reachable"].tolist() == [1, 1, 1, 1, nan]
    assert measured["both"].tolist() == [1, 0, 0, 1, 0]
    assert measured["time_out"].tolist() == [0, 0, 0, 0, 1]


def test_returns_are_what_the_agents_are_rewarded_with_step_by_step():
    """A random walker's, bumps and time-outs included, replayed through the world and the rewards of training."""
    world = World(size=5, objects=3, subgoal=True, max_walls=2, step_limit=10)
    levels = draw_levels(jax.random.key(0), 30, world)
    episodes, _ = behave(jax.random.key(1), RandomAgent(jnp.full(5, 0.2)), levels, world)
    rewards, worth = Rewards(), eqx.filter_jit(lambda outcome: Rewards().of(outcome, world))
    found = returns(episodes, 0, rewards, world)
    for i in range(30):
        state, earned = reset_to_level(pick(levels, i)), 0.0
        for action in episodes.actions[i, : int(episodes.length[i])]:
            state, outcome = step(jax.random.key(0), state, jnp.int32(action), world)
            earned += float(worth(outcome))
        assert found[i] == pytest.approx(earned, abs=1e-5)
    assert found.min() < -1
    assert found.max() > 0


def test_levels_with_a_way_all_have_one():
    world = World(size=5, objects=3, subgoal=True, max_walls=3, step_limit=10)
    levels = levels_with_a_way(jax.random.key(0), 20, world)
    assert levels.start_cell.shape == (20,)
    assert Reachable(levels, world).subgoal.all()


def test_a_world_without_a_way_is_named():
    world = World(size=5, objects=3, subgoal=True, max_walls=1, step_limit=1)  # hardly anything is one step away
    with pytest.raises(BadSetting, match="swap_levels = 200: the subgoal is in reach on only"):
        levels_with_a_way(jax.random.key(0), 200, world)


# --- The whole

PASSING = """
@....
A.*..
..#..
.....
...BC
"""


def evaluate(*conditions: str):
    # with random weights, a policy that reads less walks about more, and meets swaps
    walkers = dataclasses.replace(NETWORK, read_out="cell")
    populations = {name: made_up_population(name, 2, walkers) for name in conditions}
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
    met, acted = [], population.behave

    def behave(key, agent, levels, world, record=None):
        met.append((type(agent).__name__, levels))
        return acted(key, agent, levels, world, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population, "behave", behave)
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


def test_a_network_that_met_no_level_that_counts_does_not_spoil_the_mean():
    others = [field.name for field in dataclasses.fields(Performance) if field.name != "networks"]

    def network(*shares: float) -> dict[str, np.ndarray]:
        return dict.fromkeys(others, np.array(shares))

    one, none = network(1.0, np.nan), network(np.nan, np.nan)
    assert performance([one, none, network(0.0, 1.0)]).subgoal_first.mean == 0.75
    assert np.isnan(performance([none]).subgoal_first.mean)


def test_an_evaluation_of_nothing_is_refused():
    with pytest.raises(BadSetting, match="populations"):
        evaluate_population({}, levels=4, seed=0)
    with pytest.raises(BadSetting, match="swap_levels"):
        evaluate_population({"3x3": made_up_population("3x3", 1)}, levels=4, swap_levels=0, seed=0)
