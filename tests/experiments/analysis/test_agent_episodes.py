"""Recorded episodes: as their agent lived them, against what a reader can count."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import WORLD, made_up_population

from tomnet.episodes.episode import NONE, Episode
from tomnet.experiments.analysis.agent_episodes import recorded_episodes, recorded_steps, same_level
from tomnet.support.errors import BadSetting


@pytest.fixture(scope="module")
def population():
    return made_up_population("3x3")


@pytest.fixture(scope="module")
def told(population):
    return recorded_episodes(jax.random.key(0), population, network=1, preferred=2, count=4, world=WORLD)


def test_a_recorded_episode_says_whose_it_is(told):
    assert len(told) == 4
    for recorded in told:
        assert (recorded.condition, recorded.network, recorded.preferred) == ("3x3", 1, 2)
        assert (recorded.field_of_view, recorded.remembers) == (3, True)


def test_every_step_holds_a_whole_belief_and_what_is_in_view(told):
    for recorded in told:
        assert 1 <= len(recorded.steps) <= WORLD.step_limit
        before = np.zeros((5, 5), bool)
        for step in recorded.steps:
            seen = step.visibility
            row, col = divmod(step.agent_cell, 5)
            now = np.zeros((5, 5), bool)
            now[max(row - 1, 0) : row + 2, max(col - 1, 0) : col + 2] = True
            assert np.array_equal(seen == 2, now)
            assert np.array_equal(seen == 1, before & ~now)
            before |= now
            assert sum(step.belief) == pytest.approx(1, abs=0.01)
            assert len(step.belief) == 26


def test_an_episode_ends_where_something_is_eaten_or_time_is_up(told):
    for recorded in told:
        *earlier, last = recorded.steps
        assert all(step.consumed in (NONE, WORLD.objects) for step in earlier)
        assert 0 <= last.consumed < WORLD.objects or len(recorded.steps) == WORLD.step_limit


def test_padding_is_no_step():
    episode = Episode(
        walls=jnp.zeros((5, 5), bool),
        agent_cells=jnp.asarray([6, 7, 8, 8]),
        object_cells=jnp.zeros((4, 4), jnp.int16),
        actions=jnp.asarray([3, 3, NONE, NONE]),
        consumed=jnp.asarray([NONE, 0, NONE, NONE]),
        final_cell=jnp.int16(8),
        length=jnp.int16(2),
    )
    steps = recorded_steps(episode, np.full((4, 26), 1 / 26), reach=1)
    assert [step.agent_cell for step in steps] == [6, 7]
    assert [step.action for step in steps] == [3, 3]


def test_species_are_shown_on_one_and_the_same_level(population):
    told = same_level(jax.random.key(1), {"3x3": population, "blind": made_up_population("blind")}, world=WORLD)
    assert [recorded.condition for recorded in told] == ["3x3", "blind"]
    one, other = (recorded.steps[0] for recorded in told)
    assert (one.agent_cell, one.object_cells) == (other.agent_cell, other.object_cells)
    assert np.array_equal(told[0].walls, told[1].walls)
    assert not told[1].steps[-1].visibility.any()  # the blind see nothing, ever


def test_no_episodes_are_no_wish(population):
    with pytest.raises(BadSetting, match="episodes = 0: must be above 0"):
        recorded_episodes(jax.random.key(0), population, count=0, world=WORLD)
