"""How well a task is done: measures with known results."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import pick, step

from tomnet.agents.actor_critic import Rewards
from tomnet.agents.oracle import Oracle
from tomnet.agents.random_policy import RandomAgent
from tomnet.experiments.analysis.performance import Performance, behave, measures, performance, returns
from tomnet.experiments.analysis.reachability import Reachable, levels_with_a_way
from tomnet.support.errors import BadSetting
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


def test_a_network_that_met_no_level_that_counts_does_not_spoil_the_mean():
    others = [field.name for field in dataclasses.fields(Performance) if field.name != "networks"]

    def network(*shares: float) -> dict[str, np.ndarray]:
        return dict.fromkeys(others, np.array(shares))

    one, none = network(1.0, np.nan), network(np.nan, np.nan)
    assert performance([one, none, network(0.0, 1.0)]).subgoal_first.mean == 0.75
    assert np.isnan(performance([none]).subgoal_first.mean)
