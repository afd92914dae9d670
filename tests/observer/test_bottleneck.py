"""The bottleneck: its price, its draws, and how the price rises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.observer.bottleneck import Posterior, annealed, posterior_from


def test_nothing_seen_costs_nothing():
    assert not np.asarray(posterior_from(jnp.zeros((3, 8)), True).divergence()).any()


def test_the_price_is_the_divergence_of_two_gaussians():
    """Against a million draws: the mean of log q − log p."""
    mean, log_variance = 1.5, np.log(0.25)
    draws = mean + 0.5 * np.random.default_rng(0).standard_normal(1_000_000)
    log_q = -0.5 * ((draws - mean) ** 2 / 0.25 + log_variance)
    log_p = -0.5 * draws**2
    exact = Posterior(jnp.asarray([mean]), jnp.asarray([log_variance])).divergence()
    assert float(exact[0]) == pytest.approx((log_q - log_p).mean(), abs=0.005)


def test_draws_have_the_moments_they_should():
    posterior = Posterior(jnp.full((100_000, 1), 2.0), jnp.full((100_000, 1), np.log(9.0)))
    draws = np.asarray(posterior.draw(jax.random.key(0)))
    assert draws.mean() == pytest.approx(2, abs=0.05)
    assert draws.std() == pytest.approx(3, abs=0.05)


def test_without_a_key_or_without_a_bottleneck_it_is_the_mean():
    outputs = jnp.arange(8.0).reshape(2, 4)
    np.testing.assert_array_equal(posterior_from(outputs, True).draw(None), outputs[:, :2])
    np.testing.assert_array_equal(posterior_from(outputs, False).draw(jax.random.key(0)), outputs)


def test_the_price_rises_on_a_parabola_and_stays():
    prices = [float(annealed(0.01, 0.5, jnp.int32(step), 100)) for step in (0, 25, 50, 100)]
    assert prices == pytest.approx([0, 0.0025, 0.01, 0.01])
    assert float(annealed(0.01, 0.0, jnp.int32(0), 100)) == pytest.approx(0.01)  # whole at once
