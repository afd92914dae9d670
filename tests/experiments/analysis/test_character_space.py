"""Read-outs, dimensions and clusters, on made-up points whose answer anyone can see."""

import numpy as np
import pytest

from tomnet.experiments.agent_embeddings import CLEAR_GAIN, CLEAR_GAP
from tomnet.experiments.analysis.character_space import (
    Dimension,
    cluster_agreement,
    confusion,
    correlation,
    dimension_table,
    dimensions_of,
    explained,
    fisher_interval,
    linear_read_out,
    neighbour_read_out,
    shown_pair,
    silhouette,
    told_apart,
    two_clusters,
)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- Read-outs


def test_the_majority_of_the_nearest_known_points_decides():
    known = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    labels = np.array([7, 7, 7, 2, 2, 2])
    assert neighbour_read_out(known, labels, np.array([[0.05], [4.0], [2.4]]), neighbours=3).tolist() == [7, 2, 7]


def test_a_linear_read_out_tells_what_lies_in_a_line_apart():
    known = np.array([[-1.0, 0.3], [-1.2, -0.3], [1.0, 0.3], [1.1, -0.2]])
    assert linear_read_out(known, np.array([0, 0, 1, 1]), np.array([[-2.0, 5.0], [0.5, -5.0]])).tolist() == [0, 1]


def test_neither_tells_labels_that_are_not_there():
    points, labels = random().normal(size=(400, 4)), random(1).integers(0, 4, 400)
    for read_out in (neighbour_read_out, linear_read_out):
        assert (read_out(points[:200], labels[:200], points[200:]) == labels[200:]).mean() < 0.4


def test_confusion_has_the_true_kinds_in_rows():
    assert confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 3).tolist() == [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 0]]


# --- Dimensions


def test_explained_is_the_share_between_groups():
    labels = np.array([0, 0, 1, 1])
    assert explained(np.array([1.0, 1, 2, 2]), labels) == pytest.approx(1)
    assert explained(np.array([1.0, 2, 1, 2]), labels) == pytest.approx(0)
    assert explained(np.array([0.0, 2, 4, 6]), labels) == pytest.approx(1 - (4 / 2) / (20 / 3))
    assert explained(np.ones(4), labels) == 0


@pytest.mark.parametrize("kinds", [2, 10])
def test_many_groups_explain_no_more_by_chance_than_few(kinds):
    shares = [explained(random(seed).normal(size=40), np.arange(40) % kinds) for seed in range(200)]
    assert np.mean(shares) < 0.06


def pool():
    """Three species of 8 agents, the first blind; four preferences."""
    species, preferred = np.repeat([0, 1, 2], 8), np.tile(np.arange(4), 6)
    noise = 0.01 * random().normal(size=(24, 4))
    means = noise.copy()
    means[:, 0] += species
    means[:, 1] += np.where(species > 0, preferred - 1.5, 0)
    nats = np.tile([1.0, 0.6, 0.07, 0.01], (24, 1))
    return dimension_table(nats, means, species, preferred, species > 0)


def test_a_dimension_is_used_collapsed_or_neither():
    rows = pool()
    assert [row.used for row in rows] == [True, True, False, False]
    assert [row.collapsed for row in rows] == [False, False, False, True]


def test_a_dimension_carries_what_explains_it():
    rows = pool()
    assert [row.carries for row in rows] == ["species", "object", None, None]
    assert dimensions_of(rows, "species") == [0]
    assert dimensions_of(rows, "object") == [1]
    assert rows[1].object_share > 0.99


def test_a_dimension_may_carry_something_else():
    """Such as the hand with which stateless agents follow walls: no preference, and hardly a species."""
    species, preferred = np.repeat([0, 1, 2], 40), np.tile(np.arange(4), 30)
    means = random().normal(size=(120, 1))
    (row,) = dimension_table(np.ones((120, 1)), means, species, preferred, species > 0)
    assert row.carries == "other"


def test_the_most_informative_dimension_comes_first():
    rows = [Dimension(i, nats, True, False, 0.0, 0.9, "object") for i, nats in enumerate([0.2, 0.9, 0.5])]
    assert dimensions_of(rows, "object") == [1, 2, 0]


def test_a_figure_always_gets_two_dimensions():
    assert shown_pair(pool(), "species")[0] == 0
    assert len(set(shown_pair(pool(), "species"))) == 2
    assert shown_pair(pool(), "object")[0] == 1


# --- Clusters


def two_clouds(apart: float, count: int = 5) -> np.ndarray:
    cloud = 0.3 * random().normal(size=(2 * count, 2))
    cloud[:count, 1] -= apart / 2
    cloud[count:, 1] += apart / 2
    return cloud


def test_two_clouds_are_two_clusters():
    found = two_clusters(two_clouds(4.0))
    assert len(set(found.labels[:5].tolist())) == len(set(found.labels[5:].tolist())) == 1
    assert found.labels[0] != found.labels[5]
    assert found.gain > 6
    assert found.silhouette > 0.5
    assert abs(found.centres[0, 1] - found.centres[1, 1]) == pytest.approx(4, abs=0.5)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_one_cloud_is_hardly_ever_two_clusters(dimensions):
    """The thresholds of the claim, on the ten networks that it is about: at most one false alarm in twenty."""
    clouds = [two_clusters(random(seed).normal(size=(10, dimensions))) for seed in range(100)]
    alarms = [found.gain >= CLEAR_GAIN and found.silhouette >= CLEAR_GAP for found in clouds]
    assert np.mean(alarms) <= 0.05


def test_along_grows_towards_the_second_centre():
    found = two_clusters(two_clouds(4.0))
    along = found.along(found.centres)
    assert along[0] == pytest.approx(-along[1])
    assert along[1] - along[0] == pytest.approx(np.linalg.norm(found.centres[1] - found.centres[0]))


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.ones((2, 2)), np.ones((5, 2))])
def test_too_few_or_equal_points_are_no_clusters(points):
    found = two_clusters(points)
    assert not found.gain > 0
    assert np.isfinite(found.centres).all()


def test_silhouette_of_far_clusters_is_near_1():
    points = np.array([[0.0], [0.1], [10.0], [10.1]])
    assert silhouette(points, np.array([0, 0, 1, 1])) > 0.98
    assert silhouette(points, np.array([0, 1, 0, 1])) < 0
    assert np.isnan(silhouette(points, np.zeros(4, int)))


# --- Agreement


HANDS = np.array([0.6, 0.5, 0.4, -0.5, -0.6, -0.4])


@pytest.mark.parametrize("turned", [1, -1])
def test_clusters_that_are_the_hands_agree_whatever_they_are_called(turned):
    sides = (turned * HANDS > 0).astype(int)
    found = cluster_agreement(turned * HANDS, sides, HANDS)
    assert found.accuracy.mean == 1
    assert found.correlation.mean == pytest.approx(1)
    assert found.correlation.low > 0
    assert (found.positive, found.negative, found.turned) == (3, 3, turned)


def test_clusters_that_have_nothing_to_do_with_the_hands_do_not_agree():
    along = np.array([1.0, -1, 1, 1, -1, -1])
    found = cluster_agreement(along, (along > 0).astype(int), HANDS)
    assert found.accuracy.mean == pytest.approx(2 / 3)
    assert found.correlation.low < 0


def test_where_all_have_one_hand_there_is_nothing_to_tell_apart():
    along = np.array([1.0, -1, 1, 1, -1, -1])
    found = cluster_agreement(along, (along > 0).astype(int), np.abs(HANDS))
    assert np.isnan(found.accuracy.mean)
    assert np.isnan(told_apart(np.ones(3, bool), np.ones(3, bool)))


def test_a_single_cluster_tells_half():
    assert told_apart(np.zeros(4, bool), np.array([True, True, True, False])) == 0.5


def test_a_handful_of_points_is_not_enough_to_be_sure():
    assert not fisher_interval(0.99, 3).low > 0
    assert fisher_interval(0.6, 10).low < 0 < fisher_interval(0.7, 10).low
    assert fisher_interval(0.5, 103).interval == pytest.approx((0.339, 0.632), abs=1e-3)


def test_correlation_needs_three_that_vary():
    assert np.isnan(correlation(np.array([1.0, 2]), np.array([1.0, 2])))
    assert np.isnan(correlation(np.ones(4), np.arange(4.0)))
