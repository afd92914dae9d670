"""Importance weights: swaps drawn more often, and what is expected stays what it is."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import within

from tomnet.agents.random_policy import RandomSpecies
from tomnet.episodes.episode import NONE, Episode
from tomnet.episodes.importance import swap_weight
from tomnet.episodes.rollout import play
from tomnet.world.gridworld import World

WORLD = World(size=3, objects=3, subgoal=True, max_walls=0, swap_probability=0.1, step_limit=12)
OFTEN = dataclasses.replace(WORLD, swap_probability=0.5)
SUBGOAL, EATEN_AT = 3, 2
VISIBLE = 5 / 6  # of all orders of three objects, one leaves them where they are
MANY = 60_000


def episode(after: list[int], length: int = 5) -> Episode:
    """Objects in cells 0, 1 and 2, and in those of `after` once the third action has eaten the subgoal."""
    cells = [[0, 1, 2, 8]] * (EATEN_AT + 1) + [[*after, NONE]] * (6 - EATEN_AT)
    return Episode(
        walls=jnp.zeros((3, 3), bool),
        agent_cells=jnp.full(7, 4),
        object_cells=jnp.asarray(cells),
        actions=jnp.zeros(7, jnp.int32),
        consumed=jnp.full(7, NONE).at[EATEN_AT].set(SUBGOAL),
        final_cell=jnp.array(4),
        length=jnp.array(length),
    )


def weights(one: Episode) -> np.ndarray:
    return np.asarray(jax.vmap(swap_weight, in_axes=(None, 0, None, None))(one, jnp.arange(5), WORLD, 0.5))


def test_a_query_before_a_swap_counts_as_much_less_as_swaps_were_drawn_more():
    """The third action tosses the coin: queries at times 0, 1 and 2 come before it."""
    np.testing.assert_allclose(weights(episode([1, 0, 2])), [0.2, 0.2, 0.2, 1, 1], rtol=1e-6)


def test_a_query_before_the_subgoal_was_eaten_without_a_swap_counts_more():
    more = (1 - VISIBLE * 0.1) / (1 - VISIBLE * 0.5)  # a swap that moves nothing is not seen
    np.testing.assert_allclose(weights(episode([0, 1, 2])), [more, more, more, 1, 1], rtol=1e-6)


def test_a_coin_whose_outcome_the_episode_does_not_show_changes_no_weight():
    assert (weights(episode([1, 0, 2], length=EATEN_AT + 1)) == 1).all()
    never = eqx.tree_at(lambda e: e.consumed, episode([0, 1, 2]), jnp.full(7, NONE))
    assert (weights(never) == 1).all()


@pytest.fixture(scope="module")
def episodes():
    """Of one random agent: in the world as it is, and with swaps drawn more often."""
    agent = jax.tree.map(lambda leaf: leaf[0], RandomSpecies((10.0,)).sample(jax.random.key(0), 1))
    return [eqx.filter_jit(play(world))(jax.random.key(1), agent, MANY) for world in (WORLD, OFTEN)]


def swapped(episodes: Episode) -> np.ndarray:
    cells = np.asarray(episodes.object_cells)[..., :3]
    real = np.arange(cells.shape[1] - 1) + 1 < np.asarray(episodes.length)[:, None]
    return ((cells[:, 1:] != cells[:, :-1]).any(-1) & real).any(-1)


def at_the_start(episodes: Episode) -> np.ndarray:
    weigh = jax.vmap(swap_weight, in_axes=(0, None, None, None))
    return np.asarray(eqx.filter_jit(weigh)(episodes, jnp.int32(0), WORLD, 0.5), np.float64)


def test_weights_are_one_on_average(episodes):
    weight = at_the_start(episodes[1])
    assert len(np.unique(weight.round(4))) == 3  # a swap, none, and no coin tossed
    assert within(weight.mean(), 1, weight.var(), MANY)


def test_swaps_weighted_back_are_as_many_as_the_world_has(episodes):
    as_it_is, often = episodes
    weight, seen = at_the_start(often), swapped(often)
    tossed = np.asarray((often.consumed == SUBGOAL) & (jnp.arange(12) + 1 < often.length[:, None])).any(-1)
    assert within(seen[tossed].mean(), VISIBLE * 0.5, 0.25, tossed.sum())
    expected = VISIBLE * 0.1 * tossed.mean()  # whether the subgoal is reached, no swap can know
    assert 0.2 < tossed.mean() < 0.95
    assert within((weight * seen).mean(), expected, (weight * seen).var() + 0.01 * tossed.var(), MANY)
    assert within(swapped(as_it_is).mean(), expected, 2 * expected, MANY)


def test_what_follows_is_expected_as_the_world_has_it(episodes):
    """How long an episode lasts and what ends it depend on where the objects are, and so on swaps."""
    as_it_is, often = episodes
    weight = at_the_start(often)
    for measure in (lambda e: e.length, lambda e: (e.consumed == 0).any(-1)):
        plain, weighted = np.asarray(measure(as_it_is), np.float64), weight * np.asarray(measure(often), np.float64)
        assert within(weighted.mean(), plain.mean(), plain.var() + weighted.var(), MANY)
