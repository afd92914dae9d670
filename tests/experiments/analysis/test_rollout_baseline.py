"""The floor: rollouts say what they should of a walker whose future anyone can see."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.agents.random_policy import RandomAgent
from tomnet.episodes.encounter import Encounter
from tomnet.episodes.episode import NONE, Episode, QueryState
from tomnet.episodes.futures import Futures, imagine
from tomnet.episodes.history import History
from tomnet.episodes.predictions import Predictions
from tomnet.episodes.targets import Targets
from tomnet.experiments.analysis.rollout_baseline import predictor
from tomnet.world.gridworld import World
from tomnet.world.levels import parse_level

ROOM = World(size=5, objects=2, subgoal=True, max_walls=1, step_limit=4)
CORRIDOR = parse_level(
    """
    B....
    .....
    @.A.*
    .....
    .....
    """,
    ROOM,
)
RIGHT = 3


def rollout_state(*how):
    one = at_the_start(*how)
    return one.recent, one.query


def at_the_start(count: int = 2) -> Encounter:
    """Queries before the first step; their targets are not used."""
    empty = Episode(
        walls=CORRIDOR.walls,
        agent_cells=jnp.full(4, NONE, jnp.int16),
        object_cells=jnp.full((4, 3), NONE, jnp.int16),
        actions=jnp.full(4, NONE, jnp.int8),
        consumed=jnp.full(4, NONE, jnp.int8),
        final_cell=CORRIDOR.start_cell.astype(jnp.int16),
        length=jnp.int16(0),
    )
    query = QueryState(CORRIDOR.walls, CORRIDOR.start_cell, CORRIDOR.object_cells)
    targets = Targets(jnp.int32(RIGHT), jnp.asarray([1.0, 0, 0]), jnp.full((3, 5, 5), 1 / 25))
    one = Encounter(
        history=History(jax.tree.map(lambda leaf: leaf[None], empty), jnp.zeros(1, bool), empty),
        query=query,
        targets=targets,
    )
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * count), one)


def knows_nothing(count: int = 2) -> Predictions:
    return Predictions(
        action=jnp.full((count, 5), np.log(0.2)),
        consumption=jnp.zeros((count, 3)),
        successor=jnp.full((count, 3, 5, 5), -np.log(25.0)),
    )


def test_a_walker_that_always_goes_right():
    """Two steps to A, where it ends: 7 rollouts say so, and the ignorant observer is the eighth."""
    walker = RandomAgent(jnp.zeros(5).at[RIGHT].set(1.0))
    futures = imagine(jax.random.key(0), walker, *rollout_state(), ROOM, 7)
    assert np.asarray(futures.length).tolist() == [[2] * 7] * 2
    seen = predictor(futures, knows_nothing())
    np.testing.assert_allclose(jax.nn.sigmoid(seen.consumption[0]), [7.5 / 8, 0.5 / 8, 0.5 / 8], atol=1e-5)
    assert float(np.exp(seen.action[0, RIGHT])) == pytest.approx(1.0, abs=1e-5)
    sums = np.exp(np.asarray(seen.successor, float)).sum((-2, -1))
    np.testing.assert_allclose(sums, 1, atol=1e-5)
    # discount 0.5: three cells with weights 1, 1/2, 1/4
    row = np.exp(np.asarray(seen.successor[0, 0, 2], float))
    np.testing.assert_allclose(row, (7 * np.array([4, 2, 1, 0, 0]) / 7 + 1 / 25) / 8, atol=1e-5)


def test_a_time_out_counts_as_long_as_it_is():
    still = RandomAgent(jnp.zeros(5).at[4].set(1.0))
    futures = imagine(jax.random.key(0), still, *rollout_state(), ROOM, 3)
    assert np.asarray(futures.length).tolist() == [[4] * 3] * 2
    assert not np.asarray(futures.targets.consumption).any()


def test_short_futures_are_asked_about_more_often():
    """Half of the time it ends in 1 step, half in 4: asked about at this very time, 4 of 5 are short ones."""
    actions = jnp.asarray([[0] * 500 + [1] * 500])
    lengths = jnp.where(actions == 0, 1, 4)
    consumed = jax.nn.one_hot(actions, 3)
    futures = Futures(
        jnp.asarray([[0.5, 0.5, 0, 0, 0]]), Targets(actions, consumed, jnp.full((1, 1000, 3, 5, 5), 1 / 25)), lengths
    )
    told = predictor(futures, knows_nothing(1))
    np.testing.assert_allclose(np.exp(told.action[0]), [0.8, 0.2, 0, 0, 0], atol=2e-3)
    np.testing.assert_allclose(jax.nn.sigmoid(told.consumption[0]), [0.8, 0.2, 0.0], atol=2e-3)


def test_the_policy_of_a_uniform_walker_loses_log_5():
    uniform = RandomAgent(jnp.full(5, 0.2))
    futures = imagine(jax.random.key(0), uniform, *rollout_state(1), dataclasses.replace(ROOM, step_limit=1), 3)
    np.testing.assert_allclose(futures.policy, 0.2, atol=1e-6)
    np.testing.assert_allclose(np.asarray(predictor(futures, knows_nothing(1)).action), np.log(0.2), atol=1e-5)
