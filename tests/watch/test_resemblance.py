"""Who resembles whom: maps and clusters of points that anyone can draw."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from tomnet.watch.resemblance import best_split, find_clusters, mean_silhouette, neighbours, place

AXES = ["x", "y"]


def clouds(*centres: float, agents: int = 6, spread: float = 0.1, features: int = 3, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.concatenate([centre + spread * random.normal(size=(agents, features)) for centre in centres])


def test_two_dimensions_are_a_map_as_they_are():
    points = clouds(0, 3, features=2)
    places, axes = place(points)
    assert np.array_equal(places, points)
    assert axes == ["character, dimension 1", "character, dimension 2"]


def test_more_dimensions_are_seen_along_the_axes_of_their_largest_spread():
    points = np.zeros((5, 4))
    points[:, 2] = [4, 2, 0, -2, -4]
    points[:, 0] = [1, -1, 0, -1, 1]
    places, axes = place(points)
    assert places[:, 0] == pytest.approx([4, 2, 0, -2, -4])
    assert places[:, 1] == pytest.approx([1, -1, 0, -1, 1])
    assert axes == ["principal axis 1 (91% of the spread)", "principal axis 2 (9% of the spread)"]


@pytest.mark.parametrize("features", [1, 2, 8])
def test_a_single_agent_has_a_place_and_nobody_beside_it(features):
    points = np.ones((1, features))
    places, axes = place(points)
    assert (places.shape, np.isfinite(places).all()) == ((1, 2), True)
    assert not any("%" in axis for axis in axes)  # there is no spread that an axis could have a share of
    found, clusters = find_clusters(points, axes)
    assert found.told == "A single agent: there is nobody to compare it with."
    assert (clusters, neighbours(points, ["ann"])) == ([None], [[]])


def test_the_silhouette_is_that_of_its_definition():
    points, labels = clouds(0, 1, 2, spread=0.4), np.repeat([1, 2, 3], 6)
    distances = squareform(pdist(points))
    each = []
    for number, label in enumerate(labels):
        own = distances[number, (labels == label) & (np.arange(18) != number)].mean()
        other = min(distances[number, labels == one].mean() for one in {1, 2, 3} - {label})
        each.append((other - own) / max(own, other))
    assert mean_silhouette(distances, labels) == pytest.approx(np.mean(each))
    assert mean_silhouette(distances, np.ones(18, int)) == 0
    assert mean_silhouette(np.zeros((4, 4)), np.array([1, 1, 2, 2])) == 0


def test_clusters_that_are_apart_are_found_however_many_there_are():
    for count in (2, 3, 5):
        found, clusters = find_clusters(clouds(*range(count)), AXES)
        assert found.clusters == count
        assert [len(set(clusters[6 * number : 6 * number + 6])) for number in range(count)] == [1] * count
        assert f"fall into {count} clusters" in found.told


def test_near_clusters_are_found_beside_one_far_away():
    points = clouds(0, 1, 20)
    assert best_split(points)[1].max() == 2  # by the silhouette of the whole
    assert find_clusters(points, AXES)[0].clusters == 3


def test_the_largest_cluster_comes_first():
    points = np.concatenate([clouds(0, agents=4), clouds(5, agents=9)])
    assert find_clusters(points, AXES)[1] == [2] * 4 + [1] * 9


@pytest.mark.parametrize("agents", [6, 30])
def test_a_single_cloud_is_not_split(agents):
    found, clusters = find_clusters(clouds(0, agents=agents), AXES)
    assert (found.clusters, set(clusters)) == (0, {None})
    assert found.told.startswith("No clusters are apart: the best split, into ")


def test_too_few_agents_and_agents_all_alike_are_said_to_be_so():
    assert find_clusters(clouds(0, agents=3), AXES)[0].told == (
        "Clusters are looked for among 4 to 3,000 agents, and there are 3."
    )
    alike, clusters = find_clusters(np.ones((6, 3)), AXES)
    assert (alike.told, alike.silhouette) == ("All agents are alike to this observer.", None)
    assert clusters == [None] * 6
    assert np.isfinite(place(np.ones((6, 3)))[0]).all()


def test_the_nearest_others_are_named_first():
    points = np.array([[0.0], [1.0], [3.0], [10.0], [3.5]])
    assert neighbours(points, "abcde") == [list("bce"), list("ace"), list("eba"), list("ecb"), list("cba")]


def test_a_cluster_of_one_is_said_to_be_one_agent_alone():
    points = np.concatenate([clouds(0, 3), [[30.0] * 3]])
    found, clusters = find_clusters(points, AXES)
    assert clusters[-1] == 3
    assert clusters.count(3) == 1
    assert found.told.endswith(" 1 of these is one agent alone.")
    assert "alone" not in find_clusters(clouds(0, 3), AXES)[0].told
