"""The stratified prior against plain draws from the species."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.agents.planner import PlannerSpecies, is_greedy
from tomnet.ideal.planner_prior import spread_particles

STATISTICS = {
    "second is worth a tenth": lambda rewards: rewards[:, -2] > 0.1,
    "second is close": lambda rewards: rewards[:, -1] - rewards[:, -2] < 0.3,
    "third is worth something": lambda rewards: rewards[:, -3] > 1e-4,
    "sparseness": lambda rewards: (rewards**2).sum(-1),
}


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_particles_stand_for_the_species(alpha):
    species = PlannerSpecies(alpha=alpha)
    agents, log_prior = spread_particles(jax.random.key(0), species, 20_000)
    weights = np.exp(np.asarray(log_prior, np.float64))
    ordered = np.sort(np.asarray(agents.object_rewards, np.float64))
    drawn = np.sort(np.asarray(species.sample(jax.random.key(1), 50_000).object_rewards, np.float64))
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(ordered.sum(-1), 1, rtol=1e-6)
    for name, statistic in STATISTICS.items():
        sampled = statistic(drawn)
        error = sampled.std() / len(sampled) ** 0.5
        if alpha == 1:  # few of the particles carry much of the weight; at low alpha those are exact
            error += sampled.std() * (weights**2).sum() ** 0.5
        assert (weights * statistic(ordered)).sum() == pytest.approx(sampled.mean(), abs=4 * error + 1e-4), name


def test_every_object_is_equally_often_preferred():
    agents, log_prior = spread_particles(jax.random.key(0), PlannerSpecies(), 200)
    preferred = np.asarray(agents.object_rewards).argmax(-1)
    np.testing.assert_allclose(np.bincount(preferred, jnp.exp(log_prior)), 0.25, rtol=1e-5)


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_greedy_share(share):
    species = PlannerSpecies(greedy_share=share)
    agents, log_prior = spread_particles(jax.random.key(0), species, 200)
    assert jnp.where(is_greedy(agents, species), jnp.exp(log_prior), 0).sum() == pytest.approx(share, abs=1e-5)


def test_a_single_object_leaves_nothing_to_infer():
    agents, log_prior = spread_particles(jax.random.key(0), PlannerSpecies(objects=1), 50)
    np.testing.assert_array_equal(agents.object_rewards, [[1.0]])
    np.testing.assert_array_equal(log_prior, [0.0])
