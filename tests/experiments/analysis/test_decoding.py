"""Decoders, on data whose answer is known."""

import numpy as np
import pytest
from helpers import within

from tomnet.experiments.analysis.decoding import (
    area_under_curve,
    linear_fit,
    logistic_scores,
    nearest_neighbour_accuracy,
)

RANDOM = np.random.default_rng(0)


# --- Nearest neighbours


def test_clusters_that_are_apart_are_told_without_a_mistake():
    labels = np.repeat([3, 7, 9], 20)
    points = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])[np.repeat([0, 1, 2], 20)] + RANDOM.normal(size=(60, 2))
    assert nearest_neighbour_accuracy(points, labels).tolist() == [1.0] * 60


def test_noise_is_told_at_chance():
    hits = nearest_neighbour_accuracy(RANDOM.normal(size=(1000, 2)), RANDOM.integers(0, 4, 1000))
    assert within(hits.mean(), 0.25, 0.25 * 0.75, 1000)


def test_an_agent_is_not_its_own_neighbour():
    """Each point has the other label on both sides; counted itself, it would come out right."""
    points, labels = np.arange(20.0)[:, None], np.arange(20) % 2
    assert nearest_neighbour_accuracy(points, labels, neighbours=1)[1:-1].tolist() == [0.0] * 18


def test_an_agent_is_not_its_own_neighbour_among_few():
    hits = nearest_neighbour_accuracy(np.array([[0.0], [1.0]]), np.array([0, 1]), neighbours=5)
    assert hits.tolist() == [0.0, 0.0]


def test_the_majority_decides():
    points = np.array([[0.0], [0.1], [0.2], [0.3], [5.0]])
    labels = np.array([0, 1, 1, 0, 0])
    assert nearest_neighbour_accuracy(points, labels, neighbours=3)[0] == 0.0  # 1, 1, 0


# --- A linear read-out


def test_linear_data_is_fitted_exactly():
    points = RANDOM.normal(size=(50, 2))
    values = points @ RANDOM.normal(size=(2, 3)) + [1.0, -2.0, 5.0]
    assert linear_fit(points, values) == pytest.approx(1.0)


def test_noise_is_not_fitted():
    assert abs(linear_fit(RANDOM.normal(size=(2000, 2)), RANDOM.normal(size=(2000, 3)))) < 0.01


def test_a_fit_explains_the_share_that_is_there():
    points = RANDOM.normal(size=(5000, 1))
    assert linear_fit(points, points + RANDOM.normal(size=(5000, 1))) == pytest.approx(0.5, abs=0.03)


# --- The area under the curve


@pytest.mark.parametrize(
    ("scores", "positive", "area"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], 1.0),
        ([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1], 0.0),
        ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.75),
        ([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1], 0.5),
        ([1, 2, 2, 3], [0, 0, 1, 1], 0.875),  # one of four pairs is a tie: it counts half
        ([1, 1, 1, 2, 2], [1, 0, 0, 0, 1], 0.583333),  # 1: ½ ½ 0, 2: 1 1 ½
    ],
)
def test_the_area_is_the_chance_that_a_positive_case_scores_higher(scores, positive, area):
    assert area_under_curve(np.array(scores, float), np.array(positive, bool)) == pytest.approx(area, abs=1e-5)


def test_the_area_agrees_with_counting_pairs():
    scores, positive = RANDOM.integers(0, 10, 60).astype(float), RANDOM.random(60) < 0.3
    above = scores[positive][:, None] - scores[~positive]
    assert area_under_curve(scores, positive) == pytest.approx(((above > 0) + (above == 0) / 2).mean())


@pytest.mark.parametrize("positive", [[True, True], [False, False]])
def test_there_is_no_area_with_one_kind_only(positive):
    assert np.isnan(area_under_curve(np.array([0.1, 0.9]), np.array(positive)))


# --- A logistic read-out


def test_a_logistic_read_out_tells_two_clusters_apart_on_new_points():
    labels = RANDOM.random(400) < 0.3
    points = RANDOM.normal(size=(400, 3)) + 4 * labels[:, None]
    scores = logistic_scores(points[:200], labels[:200], points[200:])
    assert scores.shape == (200,)
    assert area_under_curve(scores, labels[200:]) > 0.99
    assert ((scores > 0) == labels[200:]).mean() > 0.97


def test_a_logistic_read_out_recovers_the_log_odds():
    """Two Gaussians at ±1 with variance 1: the log odds are 2 x."""
    labels = RANDOM.random(20_000) < 0.5
    points = RANDOM.normal(size=(20_000, 1)) + np.where(labels, 1.0, -1.0)[:, None]
    scores = logistic_scores(points, labels, np.array([[-1.0], [0.0], [1.0]]))
    assert np.allclose(scores, [-2, 0, 2], atol=0.15)


def test_a_logistic_read_out_stands_separable_labels_and_a_constant_feature():
    points = np.column_stack([np.linspace(-1, 1, 40), np.ones(40)])
    scores = logistic_scores(points, points[:, 0] > 0, points)
    assert np.isfinite(scores).all()
    assert area_under_curve(scores, points[:, 0] > 0) == 1.0
