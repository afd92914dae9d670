"""Parts of an episode: one step of it, its beginning, its first state."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.episodes.episode import ACTION_COUNT, NONE, Episode, QueryState
from tomnet.world.gridworld import ACTIONS


def five_steps(length: int = 5) -> Episode:
    """Cells 10, 11, … on a grid of 7; the second object is eaten by the third action and then gone."""
    return Episode(
        walls=jnp.zeros((7, 7), bool).at[1, 2].set(True),
        agent_cells=jnp.array([10, 11, 12, 13, 14], jnp.int16),
        object_cells=jnp.array([[30, 40]] * 3 + [[30, NONE]] * 2, jnp.int16),
        actions=jnp.array([0, 1, 2, 3, 4], jnp.int8),
        consumed=jnp.array([NONE, NONE, 1, NONE, 0], jnp.int8),
        final_cell=jnp.int16(20),
        length=jnp.int16(length),
    )


@pytest.mark.parametrize(("time", "then"), [(0, 11), (2, 13), (4, 20)])
def test_one_step_of_an_episode_is_an_episode_of_one_step(time, then):
    step = five_steps().at(jnp.int32(time))
    assert int(step.length) == 1
    assert step.agent_cells.tolist() == [10 + time]
    assert step.actions.tolist() == [time]
    assert step.object_cells.tolist() == [[30, 40]] if time <= 2 else [[30, NONE]]
    assert step.consumed.tolist() == [{2: 1, 4: 0}.get(time, NONE)]
    assert int(step.final_cell) == then
    assert np.array_equal(step.walls, five_steps().walls)


def test_the_last_step_of_a_short_episode_leads_to_its_end_and_not_into_padding():
    assert int(five_steps(length=3).at(jnp.int32(2)).final_cell) == 20


@pytest.mark.parametrize("time", [0, 1, 3])
def test_an_episode_until_a_time_holds_only_what_came_before(time):
    recent = five_steps().until(jnp.int32(time))
    assert int(recent.length) == time
    assert recent.real.tolist() == [t < time for t in range(5)]
    assert recent.actions.tolist() == [t if t < time else NONE for t in range(5)]
    assert recent.consumed.tolist() == [NONE, NONE, 1 if time > 2 else NONE, NONE, NONE]
    assert recent.agent_cells.tolist() == [10 + t if t < time else NONE for t in range(5)]
    assert recent.object_cells[:time].tolist() == five_steps().object_cells[:time].tolist()
    assert (recent.object_cells[time:] == NONE).all()
    assert int(recent.final_cell) == 10 + time


@pytest.mark.parametrize("time", [0, 1, 3])
def test_two_episodes_that_part_after_a_time_are_the_same_until_then(time):
    """The query shows where the agent stands at `time`, so that cell is no secret; all else from there on is."""
    here = five_steps()
    later = jnp.arange(5) >= time
    other = Episode(
        walls=here.walls,
        agent_cells=jnp.where(jnp.arange(5) > time, here.agent_cells + 20, here.agent_cells),
        object_cells=jnp.where(later[:, None], here.object_cells + 3, here.object_cells),
        actions=jnp.where(later, 4 - here.actions, here.actions),
        consumed=jnp.where(later, 1, here.consumed),
        final_cell=jnp.int16(48),
        length=jnp.int16(4),
    )
    assert eqx.tree_equal(here.until(jnp.int32(time)), other.until(jnp.int32(time)))


def test_an_episode_until_its_end_is_the_whole_episode():
    whole = five_steps().until(jnp.int32(5))
    assert eqx.tree_equal(whole, five_steps())


def test_the_first_state_shows_the_world_and_no_action():
    state = five_steps().first_state()
    assert (int(state.agent_cell), state.object_cells.tolist()) == (10, [30, 40])
    assert np.array_equal(state.walls, five_steps().walls)
    assert [field.name for field in dataclasses.fields(QueryState)] == ["walls", "agent_cell", "object_cells"]


def test_the_first_states_of_many_episodes_come_at_once():
    many = Episode(*(jnp.stack([jnp.asarray(leaf)] * 3) for leaf in vars(five_steps()).values()))
    assert many.first_state().agent_cell.tolist() == [10, 10, 10]
    assert many.first_state().object_cells.shape == (3, 2)
    assert many.real.shape == (3, 5)


def test_the_size_is_that_of_the_grid():
    assert five_steps().size == 7


def test_episodes_know_as_many_actions_as_the_world_has():
    assert len(ACTIONS) == ACTION_COUNT
