"""Forecasts of beliefs and embeddings by field of view, on numbers whose answer is known."""

import math

import numpy as np
import pytest
from figures.hand_made import with_changed
from figures.hand_made_minds import belief_embeddings_tables

from tomnet.experiments import belief_embeddings
from tomnet.experiments.analysis.belief_forecast import _row, forecast_costs, truth_costs
from tomnet.experiments.analysis.class_means import best_order, class_means, kendall, principal_axes
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.belief_embeddings import (
    Embedded,
    MixedUp,
    _cloud,
    _unevenness,
)
from tomnet.support.errors import BadSetting

PLACES = 122


# --- Forecasts


def certain(place: int) -> np.ndarray:
    return np.eye(PLACES)[place]


def test_the_truth_costs_nothing_where_everyone_believes_it():
    said = np.stack([np.stack([certain(3), certain(121)])] * 4)
    cost = truth_costs(said, np.array([[3, -1]] * 4))
    assert np.allclose(cost, 0, atol=1e-4)


def test_the_truth_is_as_sure_as_agents_are_on_average():
    """Half of them are right and half believe another place: the best that can be said is one half each way."""
    said = np.stack([certain(3), certain(3), certain(9), certain(10)])[:, None]
    cost = truth_costs(said, np.full((4, 1), 3))
    assert cost.mean() == pytest.approx(-0.5 * math.log(0.5) - 0.5 * math.log(0.5 / (PLACES - 1)))


def test_each_object_has_a_sureness_of_its_own():
    said = np.stack([np.stack([certain(3), certain(50 + i)]) for i in range(4)])
    cost = truth_costs(said, np.array([[3, 7]] * 4))
    assert np.allclose(cost, math.log(PLACES - 1), atol=1e-3)  # nothing for the first, a blind guess for the second


def test_the_share_runs_from_the_truth_to_the_agents_own_entropy():
    each = {"observer": np.array([4.0, 5.0]), "entropy": np.array([2.0, 3.0]), "truth": np.array([10.0, 11.0])}
    row = _row("3x3", each, np.array([True, True]))
    assert row.share.mean == pytest.approx(0.75)
    assert (row.observer.count, row.observer.mean, row.truth.mean) == (2, 4.5, 10.5)


def test_an_observer_or_agents_without_beliefs_are_refused():
    from helpers import made_up, random_encounters

    from tomnet.observer.config import ObserverConfig

    small = {"size": 5, "objects": 2, "channels": 2, "character_channels": 2, "character_depth": 1, "torso_depth": 1}
    with pytest.raises(BadSetting, match="never taught to predict 'belief'"):
        forecast_costs(made_up(ObserverConfig(**small)), random_encounters())
    with pytest.raises(BadSetting, match="beliefs = None: these agents were not asked what they believe"):
        forecast_costs(made_up(ObserverConfig(**small, heads=("action", "belief"))), random_encounters())


# --- Embeddings


def test_kendalls_tau():
    width = np.array([0, 3, 5, 7, 9])
    assert kendall(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), width) == 1
    assert kendall(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), width) == -1
    assert kendall(np.array([1.0, 2.0, 3.0, 5.0, 4.0]), width) == pytest.approx(0.8)


def test_principal_axes_of_points_on_a_line():
    line = np.outer(np.arange(5.0), [0.0, -3.0, 4.0])
    first = principal_axes(line)[0]
    assert np.allclose(first, [0, -0.6, 0.8])
    assert np.allclose(np.diff((line - line.mean(0)) @ first), 5)


def test_a_regular_tetrahedron_is_even_and_a_square_is_not():
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)
    jitter = np.array([[0.1, 0, 0], [-0.1, 0, 0], [0, 0, 0]])  # of three networks
    assert _unevenness(corners + jitter[:, None]) == pytest.approx(1)
    square = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], float)
    assert _unevenness(square[None]) == pytest.approx(math.sqrt(2))
    kinds = np.repeat(np.arange(4), 3)
    assert np.allclose(class_means(corners[kinds] + np.tile(jitter, (4, 1)), kinds, 4), corners)


def test_an_order_that_shows_along_no_single_axis_may_show_in_a_plane():
    """Five points on a slope of the plane, and the same with two neighbours exchanged."""
    width = np.array([0, 3, 5, 7, 9])
    slope = np.outer(width, [1.0, 1.0]) + 20 * np.outer([1, -1, 1, -1, 1], [1.0, -1.0])
    assert abs(kendall(slope[:, 0], width)) < 0.8
    assert best_order(slope, width) == 1
    assert best_order(np.outer([0, 3, 5, 9, 7], [1.0, 2.0]), width) == pytest.approx(0.8)


def test_a_cloud_is_as_wide_as_its_points_and_their_posteriors():
    met = Embedded.__new__(Embedded)
    met.mean = np.array([[0.0, 0.0, 5.0], [2.0, 0.0, 5.0]])
    met.variance = np.array([[0.5, 0.25, 9.0], [0.5, 0.25, 9.0]])
    cloud = _cloud(met, np.array([True, True]), np.eye(3)[:2])
    assert cloud.mean.tolist() == [1.0, 0.0]
    assert np.allclose(cloud.covariance, [[2.5, 0], [0, 0.25]])


def verdicts(**changes) -> dict[str, str]:
    tables = belief_embeddings_tables()
    for name, value in changes.items():
        tables = with_changed(tables, tuple(name.split("__")), value)
    return {claim.id: claim.verdict for claim in belief_embeddings._claims(tables)}


def mixed_up(mean: float, by: float) -> MixedUp:
    return MixedUp(("7x7", "9x9"), Estimate(mean, mean - by, mean + by, 4))


def test_verdicts_on_fields_of_view():
    assert verdicts()["B3"] == "reproduced"
    assert verdicts(fields__order=0.6)["B3"] == "partly"
    assert verdicts(fields__hard=mixed_up(0.3, 0.5))["B3"] == "partly"
    assert verdicts(fields__hard=mixed_up(0.01, 0.001))["B3"] == "not reproduced"
    assert verdicts(fields__hard=mixed_up(math.nan, math.nan))["B3"] == "not reproduced"


def test_the_softer_order_is_told_and_decides_nothing():
    tables = with_changed(belief_embeddings_tables(), ("fields", "order"), 0.6)
    claim = belief_embeddings._claims(tables)[0]
    assert (claim.id, claim.verdict) == ("B3", "partly")
    assert [value for name, value in claim.detail.items() if name.startswith("softer")] == [1.0]


def test_verdicts_on_preferred_objects():
    assert verdicts()["B4"] == "reproduced"
    assert verdicts(objects__blind_nats=0.2)["B4"] == "partly"
    assert verdicts(objects__unevenness__mean=1.6)["B4"] == "partly"
    assert verdicts(objects__accuracy__mean=0.6)["B4"] == "partly"
    assert verdicts(objects__accuracy__mean=0.4)["B4"] == "not reproduced"
    assert verdicts(objects__unevenness__mean=3.0)["B4"] == "not reproduced"
    assert verdicts(objects__blind_nats=math.nan)["B4"] == "partly"  # no dimension carries the object
