"""A trained observer beside the exact observer: denominators and tables, on made-up predictions."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import random_encounters

from tomnet.episodes.predictions import Predictions
from tomnet.episodes.targets import Targets
from tomnet.experiments.analysis.comparison import GOALS, Observed, comparison_table, meets_goals, weakest
from tomnet.observer.config import BEHAVIOUR


@pytest.fixture(scope="module")
def encounters():
    """Four agents: two eat the object expected of them, one eats another, one eats nothing."""
    targets = Targets(
        action=jnp.array([0, 1, 2, 3], jnp.int32),
        consumption=jnp.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]),
        successor=jnp.full((4, 3, 5, 5), 1 / 25),
    )
    return eqx.tree_at(lambda e: e.targets, random_encounters(past_counts=(1, 1, 1, 1)), targets)


@pytest.fixture(scope="module")
def predictions():
    policy = jnp.array([[0.6, 0.1, 0.1, 0.1, 0.1]])
    return Predictions(
        action=jnp.log(jnp.repeat(policy, 4, 0)),
        consumption=jnp.array([[3.0, -3.0], [-3.0, 3.0], [3.0, -3.0], [3.0, -3.0]]),
        successor=jnp.full((4, 3, 5, 5), -jnp.log(25.0)),
    )


@pytest.fixture(scope="module")
def observed(predictions, encounters):
    return Observed.of(predictions, encounters)


def test_an_agent_that_eats_nothing_stays_in_the_denominator(observed):
    """Two right out of four, not out of the three that ate something."""
    assert observed.correct["consumption"].tolist() == [1, 1, 0, 0]
    assert observed.correct["consumption"].mean() == 0.5


def test_an_action_is_right_if_it_is_the_likeliest(observed):
    assert observed.correct["action"].tolist() == [1, 0, 0, 0]


def test_the_probability_is_that_of_the_action_taken(observed):
    assert np.allclose(observed.action_probability, [0.6, 0.1, 0.1, 0.1])


def test_losses_have_a_row_for_each_agent(observed):
    assert set(observed.losses) == set(BEHAVIOUR)
    assert all(loss.shape == (4,) for loss in observed.losses.values())
    assert np.allclose(observed.losses["successor"], 3 * np.log(25))


def test_heads_that_are_missing_are_left_out(predictions, encounters):
    alone = Observed.of(Predictions(predictions.action, None, None), encounters)
    assert set(alone.losses) == set(alone.correct) == {"action"}


def with_losses(**losses: float) -> Observed:
    columns = {head: np.full(6, loss) for head, loss in losses.items()}
    return Observed(Predictions(None, None, None), columns, {"action": np.array([1.0, 1, 1, 0, 0, 0])}, np.zeros(6))


def table_of(learned: dict[str, float]):
    best, no_past = dict.fromkeys(BEHAVIOUR, 1.0), dict.fromkeys(BEHAVIOUR, 2.0)
    return comparison_table(with_losses(**learned), with_losses(**best), with_losses(**no_past))


def test_a_comparison_in_numbers():
    table = table_of({"action": 1.1, "consumption": 1.05, "successor": 1.3})
    row = table["action"]
    assert (row.observer.mean, row.ideal, row.no_past) == (pytest.approx(1.1), 1.0, 2.0)
    assert row.captured.mean == pytest.approx(0.9)
    assert row.captured.interval == pytest.approx((0.9, 0.9))
    assert row.observer_accuracy.mean == row.ideal_accuracy.mean == 0.5
    assert table["successor"].captured.mean == pytest.approx(0.7)
    assert table["successor"].observer_accuracy is None


def test_the_goals_are_those_written_down_before():
    assert GOALS == {"action": 0.8, "consumption": 0.9, "successor": 0.8}


@pytest.mark.parametrize(
    ("learned", "met", "worst"),
    [
        ({"action": 1.2, "consumption": 1.1, "successor": 1.2}, True, None),
        ({"action": 1.1, "consumption": 1.15, "successor": 1.15}, False, "consumption"),  # 0.85 of 0.9
        ({"action": 1.5, "consumption": 1.0, "successor": 1.0}, False, "action"),
        ({"action": 1.0, "consumption": 1.0, "successor": 1.3}, False, "successor"),
    ],
)
def test_all_goals_must_be_met_and_the_weakest_head_is_named(learned, met, worst):
    # a hair below, so that rounding does not decide
    table = table_of({head: loss - 1e-6 for head, loss in learned.items()})
    assert meets_goals(table) == met
    if worst:
        assert weakest(table) == worst
