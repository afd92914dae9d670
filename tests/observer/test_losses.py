"""The losses of appendix B, by hand and in plain numpy."""

import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.episodes.predictions import Predictions
from tomnet.episodes.targets import Targets
from tomnet.observer.losses import losses_each, mean_losses

TARGETS = Targets(
    action=jnp.array([1, 4], jnp.int32),
    consumption=jnp.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    successor=jnp.zeros((2, 3, 2, 2)).at[:, :, 0, 1].set(0.75).at[:, :, 1, 0].set(0.25),
)
ACTION = jnp.log(jnp.array([[0.1, 0.5, 0.1, 0.1, 0.2], [0.25, 0.25, 0.2, 0.2, 0.1]]))
CONSUMPTION = jnp.array([[0.0, 0.0, jnp.log(3.0)], [-100.0, -100.0, 100.0]])  # ½, ½, ¾; never, never, surely
SUCCESSOR = jnp.log(jnp.broadcast_to(jnp.array([[0.125, 0.5], [0.25, 0.125]]), (2, 3, 2, 2)).at[1, 0].set(0.25))


@pytest.fixture(scope="module")
def losses():
    return losses_each(Predictions(ACTION, CONSUMPTION, SUCCESSOR), TARGETS)


def test_the_action_loss_is_minus_the_log_probability_of_the_true_action(losses):
    assert np.allclose(losses["action"], [np.log(2), np.log(10)])


def test_the_consumption_loss_sums_over_objects_eaten_or_not(losses):
    """½, ½ and 1 − ¾ for the first; for the second a sure mistake, which costs its logit."""
    assert np.allclose(losses["consumption"], [2 * np.log(2) + np.log(4), 100.0])


def test_the_successor_loss_is_a_cross_entropy_summed_over_discounts(losses):
    each = 0.75 * np.log(2) + 0.25 * np.log(4)
    assert np.allclose(losses["successor"], [3 * each, 2 * each + np.log(4)])


def test_losses_are_averaged_over_encounters(losses):
    means = mean_losses(Predictions(ACTION, CONSUMPTION, SUCCESSOR), TARGETS)
    assert set(means) == {"action", "consumption", "successor"}
    for name, mean in means.items():
        assert np.isclose(mean, np.mean(losses[name]))


@pytest.mark.parametrize(
    ("predictions", "names"),
    [
        (Predictions(ACTION, None, None), {"action"}),
        (Predictions(None, CONSUMPTION, None), {"consumption"}),
        (Predictions(ACTION, None, SUCCESSOR), {"action", "successor"}),
    ],
)
def test_a_head_that_is_not_there_has_no_loss(predictions, names):
    assert set(losses_each(predictions, TARGETS)) == names


def test_losses_agree_with_plain_numpy_on_random_predictions():
    random = np.random.default_rng(0)
    policies = random.dirichlet(np.ones(5), 8)
    logits = random.normal(size=(8, 4))
    maps = random.dirichlet(np.ones(49), (8, 3)).reshape(8, 3, 7, 7)
    actions, eaten = random.integers(0, 5, 8), (random.random((8, 4)) < 0.3).astype(float)
    true_maps = random.dirichlet(np.ones(49), (8, 3)).reshape(8, 3, 7, 7)
    predictions = Predictions(*(jnp.asarray(x, jnp.float32) for x in (np.log(policies), logits, np.log(maps))))
    targets = Targets(
        jnp.asarray(actions, jnp.int32), jnp.asarray(eaten, jnp.float32), jnp.asarray(true_maps, jnp.float32)
    )
    losses = losses_each(predictions, targets)
    chance = 1 / (1 + np.exp(-logits))
    assert np.allclose(losses["action"], -np.log(policies[np.arange(8), actions]), atol=1e-5)
    expected = -(eaten * np.log(chance) + (1 - eaten) * np.log(1 - chance)).sum(1)
    assert np.allclose(losses["consumption"], expected, atol=1e-5)
    assert np.allclose(losses["successor"], -(true_maps * np.log(maps)).sum((1, 2, 3)), atol=1e-4)


# --- Sums and means, and weights


def test_losses_may_be_means_over_objects_and_discounts_instead(losses):
    beliefs = jnp.log(jnp.full((2, 3, 5), 0.2))
    targets = Targets(TARGETS.action, TARGETS.consumption, TARGETS.successor, jnp.full((2, 3, 5), 0.2))
    both = [losses_each(Predictions(ACTION, CONSUMPTION, SUCCESSOR, beliefs), targets, how) for how in ("sum", "mean")]
    parts = {"action": 1, "consumption": 3, "successor": 3, "belief": 3}
    for head, count in parts.items():
        assert np.allclose(both[0][head], count * both[1][head])
    assert np.allclose(both[1]["belief"], np.log(5))
    assert np.allclose(both[0]["successor"], losses["successor"])  # sums are what is meant where nothing is said


def test_a_mean_loss_counts_each_query_with_its_weight(losses):
    means = mean_losses(Predictions(ACTION, CONSUMPTION, SUCCESSOR), TARGETS, jnp.array([0.5, 1.5]))
    assert np.allclose(means["action"], 0.25 * losses["action"][0] + 0.75 * losses["action"][1])
