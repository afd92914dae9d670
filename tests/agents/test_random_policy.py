"""Random agents: the moments of the Dirichlet that they are drawn from."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import within

from tomnet.agents.random_policy import RandomAgent, RandomSpecies
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import World, nothing_yet, reset_to_level
from tomnet.world.levels import parse_level

COUNT = 5000


def drawn(*alphas: float, seed: int = 0) -> np.ndarray:
    return np.asarray(RandomSpecies(alphas).sample(jax.random.key(seed), COUNT).action_probabilities)


def spread(alpha: float) -> float:
    """The variance of one of five probabilities under Dir(alpha)."""
    return (1 / 5) * (4 / 5) / (5 * alpha + 1)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 3.0])
def test_policies_have_the_moments_of_the_dirichlet(alpha):
    policies = drawn(alpha)
    assert policies.shape == (COUNT, 5)
    assert np.allclose(policies.sum(-1), 1, atol=1e-5)
    assert (policies >= 0).all()
    assert all(within(mean, 1 / 5, spread(alpha), COUNT) for mean in policies.mean(0))
    assert np.allclose(policies.var(0), spread(alpha), rtol=0.12)


def test_low_alpha_gives_nearly_deterministic_agents_and_high_alpha_does_not():
    assert (drawn(0.01).max(-1) > 0.9).mean() > 0.9
    assert (drawn(3.0).max(-1) > 0.9).mean() < 0.01


def test_a_mixture_holds_each_species_in_equal_parts():
    policies = drawn(0.01, 3.0)
    assert np.allclose(policies.var(0), (spread(0.01) + spread(3.0)) / 2, rtol=0.1)
    near_deterministic = drawn(0.01, seed=1).max(-1) > 0.9
    expected = near_deterministic.mean() / 2
    assert within((policies.max(-1) > 0.9).mean(), expected, expected * (1 - expected), COUNT)


def test_an_agent_acts_in_the_same_way_everywhere():
    world = World(size=5, objects=1, max_walls=0)
    agent = RandomAgent(jnp.array([0.1, 0.2, 0.3, 0.4, 0.0]))
    for picture in ("@....\n.....\n.....\n.....\n....A", "A....\n.....\n..@..\n.....\n....."):
        state = reset_to_level(parse_level(picture, world))
        memory = agent.start(state, world)
        policy, memory = agent.policy(memory, state, nothing_yet(), world)
        assert memory is None
        assert np.array_equal(policy, agent.action_probabilities)


@pytest.mark.parametrize("alphas", [(0.0,), (-1.0,), (float("nan"),), (float("inf"),), (0.01, 0.0), ()])
def test_a_concentration_that_is_no_number_above_zero_is_refused(alphas):
    with pytest.raises(BadSetting, match="alpha"):
        RandomSpecies(alphas)
