"""The Dirichlet observer against numbers worked out by hand or with the standard library's `lgamma`."""

from math import exp, lgamma

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import rel_entr

from tomnet.agents.random_policy import RandomSpecies
from tomnet.episodes.episode import Snapshot
from tomnet.ideal import dirichlet

SAME_ACTION = jnp.array([[0.0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [5, 0, 0, 0, 0]])


def snapshots(actions: list[list[int]]) -> Snapshot:
    action = jnp.asarray(actions, jnp.int8)
    nothing = jnp.zeros_like(action)
    return Snapshot(jnp.zeros((*action.shape, 3, 3), bool), nothing, nothing[..., None], action)


def test_counts_leave_out_what_is_padding():
    real = jnp.array([[True, True, False], [True, True, True]])
    counts = dirichlet.action_counts(snapshots([[0, 1, 4], [3, 1, 3]]), real)
    np.testing.assert_array_equal(counts, [[1, 1, 0, 0, 0], [0, 1, 0, 2, 0]])


def test_no_past_gives_the_prior_mean():
    counts = dirichlet.action_counts(snapshots([[0, 0, 0], [0, 0, 0]]), jnp.zeros((2, 3), bool))
    np.testing.assert_allclose(dirichlet.predictive(counts, (0.01, 3.0)), 0.2, rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 3.0])
def test_one_species_by_hand(alpha):
    seen = dirichlet.predictive(SAME_ACTION, (alpha,))[:, 0]
    by_hand = [0.2, (alpha + 1) / (5 * alpha + 1), (alpha + 5) / (5 * alpha + 5)]
    np.testing.assert_allclose(seen, by_hand, rtol=1e-6)


def test_evidence_is_that_of_a_sequence_built_up_one_action_at_a_time():
    counts, evidence = np.zeros(5), 0.0
    for action in (0, 0, 3, 0, 1):
        evidence += np.log((0.01 + counts[action]) / (0.05 + counts.sum()))
        counts[action] += 1
    assert dirichlet.log_evidence(jnp.asarray(counts, jnp.float32), (0.01,))[0] == pytest.approx(evidence, rel=1e-5)


@pytest.mark.parametrize("counts", [[5, 0, 0, 0, 0], [1, 1, 1, 1, 1], [300, 4, 0, 1, 5]])
def test_species_posterior_against_double_precision(counts):
    def log_evidence(alpha):
        each = sum(lgamma(alpha + n) - lgamma(alpha) for n in counts)
        return each + lgamma(5 * alpha) - lgamma(5 * alpha + sum(counts))

    first = 1 / (1 + exp(log_evidence(3.0) - log_evidence(0.01)))
    posterior = dirichlet.species_posterior(jnp.asarray(counts, jnp.float32), (0.01, 3.0))
    assert posterior[0] == pytest.approx(first, rel=1e-3)
    assert posterior.sum() == pytest.approx(1, rel=1e-6)


def test_mixture_of_one_species_with_itself_is_that_species():
    counts = jnp.array([[2.0, 0, 1, 0, 0]])
    np.testing.assert_allclose(
        dirichlet.predictive(counts, (0.3, 0.3)), dirichlet.predictive(counts, (0.3,)), rtol=1e-6
    )


def test_mixture_follows_the_species_that_the_counts_betray():
    steady, varied = jnp.array([[10.0, 0, 0, 0, 0], [2, 2, 2, 2, 2]])
    near = dirichlet.predictive(steady, (0.01, 3.0)) - dirichlet.predictive(steady, (0.01,))
    assert jnp.abs(near).max() < 1e-3
    near = dirichlet.predictive(varied, (0.01, 3.0)) - dirichlet.predictive(varied, (3.0,))
    assert jnp.abs(near).max() < 1e-6


def test_each_species_is_best_predicted_by_its_own_observer():
    alphas = (0.01, 0.3, 3.0)

    def loss(true: float, assumed: float) -> float:
        policy_key, action_key = jax.random.split(jax.random.key(0))
        policies = RandomSpecies((true,)).sample(policy_key, 2000).action_probabilities
        counts = jax.nn.one_hot(jax.random.categorical(action_key, jnp.log(policies)), 5)
        return float(rel_entr(policies, dirichlet.predictive(counts, (assumed,))).sum(-1).mean())

    table = np.array([[loss(true, assumed) for assumed in alphas] for true in alphas])
    np.testing.assert_array_equal(table.argmin(1), [0, 1, 2])
