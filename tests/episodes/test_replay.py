"""An agent led along its own episode has its own memory again; the likelihood is that of its choices."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import BLIND, SIGHTED, STATELESS, WORLD, made_up_network

from tomnet.agents.actor_critic import DeepAgent
from tomnet.agents.random_policy import RandomAgent
from tomnet.episodes.episode import QueryState
from tomnet.episodes.replay import replay, stand_at_query
from tomnet.episodes.rollout import continue_rollout, start_rollout
from tomnet.world.levels import parse_level

LEVEL = parse_level(
    """
    .....
    A...B
    ..*@.
    .#...
    ....C
    """,
    WORLD,
)


@eqx.filter_jit
def acted(key, agent, steps: int):
    """Where an agent stands after so many steps, and where the floor thinks that it stands."""
    partial_rollout = continue_rollout(key, agent, start_rollout(agent, LEVEL, WORLD), WORLD, steps)
    state = partial_rollout.end.state
    query = QueryState(state.walls, state.agent_cell, state.object_cells)
    return partial_rollout.end, stand_at_query(agent, partial_rollout.episode, query, WORLD)


@pytest.mark.parametrize("senses", [SIGHTED, BLIND, STATELESS], ids=["sighted", "blind", "stateless"])
@pytest.mark.parametrize("steps", [1, 3])
def test_the_memory_is_worked_out_again(senses, steps):
    agent = DeepAgent(made_up_network(), senses, jnp.int32(1))
    for seed in range(3):
        true, again = acted(jax.random.key(seed), agent, steps)
        if not bool(true.alive):
            continue
        for one, other in zip(jax.tree.leaves(true.memory), jax.tree.leaves(again.memory), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        assert int(again.state.time) == int(true.state.time) == steps
        assert (int(again.last.action), int(again.last.consumed)) == (int(true.last.action), int(true.last.consumed))
        assert bool(again.last.bumped) == bool(true.last.bumped)


def test_the_likelihood_is_the_product_of_the_probabilities_of_the_actions():
    walker = RandomAgent(jnp.asarray([0.1, 0.2, 0.3, 0.15, 0.25]))
    episode = continue_rollout(jax.random.key(0), walker, start_rollout(walker, LEVEL, WORLD), WORLD).episode
    taken = np.asarray(episode.actions)[: int(episode.length)]
    expected = np.log(np.asarray(walker.action_probabilities))[taken].sum()
    assert float(replay(walker, episode, WORLD).log_likelihood) == pytest.approx(expected, abs=1e-5)


def test_an_episode_not_begun_says_nothing():
    walker = RandomAgent(jnp.full(5, 0.2))
    episode = continue_rollout(jax.random.key(0), walker, start_rollout(walker, LEVEL, WORLD), WORLD).episode
    assert float(replay(walker, episode.until(jnp.int32(0)), WORLD).log_likelihood) == 0


def test_what_no_one_would_do_is_improbable_and_not_impossible():
    walker = RandomAgent(jnp.full(5, 0.2))
    episode = continue_rollout(jax.random.key(0), walker, start_rollout(walker, LEVEL, WORLD), WORLD).episode
    unlike = RandomAgent(jnp.zeros(5).at[int(episode.actions[0]) - 1].set(1.0))
    assert np.isfinite(float(replay(unlike, episode, WORLD).log_likelihood))
