"""Verdicts, intervals and captured shares, worked out by hand."""

import numpy as np
import pytest

from tomnet.experiments.claims.claim import verdict
from tomnet.experiments.claims.statistics import bootstrap, captured, difference, mean_interval, share_interval


@pytest.mark.parametrize(
    ("reproduced", "partly", "said"),
    [
        (True, True, "reproduced"),
        (True, False, "reproduced"),
        (False, True, "partly"),
        (False, False, "not reproduced"),
    ],
)
def test_a_verdict_has_three_values(reproduced, partly, said):
    assert verdict(reproduced, partly) == said


def test_a_mean_of_two_values_has_a_very_wide_interval():
    """Student's t with one degree of freedom is Cauchy's: its quantile is tan(0.475 π) = 12.706."""
    mean, (low, high) = mean_interval(np.array([1, 2]))
    assert mean == 1.5
    assert high - 1.5 == pytest.approx(1.5 - low) == pytest.approx(0.5 * np.tan(0.475 * np.pi))


def test_a_mean_of_many_values_has_an_interval_of_two_standard_errors():
    values = np.random.default_rng(0).normal(size=500)
    mean, (low, high) = mean_interval(values)
    error = values.std(ddof=1) / 500**0.5
    assert (high - mean) / error == pytest.approx(1.96, rel=3e-3)
    assert (mean - low) / error == pytest.approx(1.96, rel=3e-3)


@pytest.mark.parametrize("agents", [3, 50])
def test_an_interval_holds_the_truth_19_times_in_20(agents):
    random = np.random.default_rng(0)
    intervals = [mean_interval(random.normal(3.0, 2.0, agents))[1] for _ in range(1000)]
    assert 0.93 < np.mean([low < 3.0 < high for low, high in intervals]) < 0.97


def test_a_share_has_an_interval_within_0_and_1():
    """39 of 40: by hand, Wilson's interval is 0.871 … 0.996."""
    share, (low, high) = share_interval(np.array([1.0] * 39 + [0.0]))
    assert share == 39 / 40
    assert (low, high) == pytest.approx((0.8712, 0.9956), abs=1e-4)
    assert share_interval(np.ones(40))[1] == pytest.approx((0.9124, 1.0), abs=1e-4)
    assert share_interval(np.zeros(40))[1] == pytest.approx((0.0, 0.0876), abs=1e-4)


@pytest.mark.filterwarnings("error")
def test_one_agent_has_a_mean_and_no_interval():
    mean, interval = mean_interval(np.array([0.7]))
    assert mean == 0.7
    assert np.isnan(interval).all()


def test_the_captured_share_in_numbers():
    """Without the past 2, at best 1, the network 1.2: it makes use of 0.8 of what the past can tell."""
    assert captured(np.full(5, 2.0), np.full(5, 1.2), np.full(5, 1.0)) == pytest.approx(0.8)


@pytest.mark.parametrize(("network", "share"), [(2.0, 0.0), (1.0, 1.0), (2.5, -0.5)])
def test_the_captured_share_at_its_ends(network, share):
    assert captured(np.full(5, 2.0), np.full(5, network), np.full(5, 1.0)) == pytest.approx(share)


def test_the_captured_share_is_one_of_means_and_not_a_mean_of_shares():
    assert captured(np.array([3.0, 1.0]), np.array([2.0, 1.0]), np.array([1.0, 1.0])) == pytest.approx(0.5)


def test_a_bootstrap_gives_the_statistic_of_the_sample_and_the_interval_of_a_mean():
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    value, (low, high) = bootstrap(np.mean, values)
    _, (expected_low, expected_high) = mean_interval(values)
    assert value == values.mean()
    assert low == pytest.approx(expected_low, abs=0.03)
    assert high == pytest.approx(expected_high, abs=0.03)


def test_a_bootstrap_keeps_the_columns_of_an_agent_together():
    """The difference of two equal columns is always 0, whichever agents are drawn."""
    values = np.random.default_rng(0).normal(size=50)
    assert bootstrap(lambda one, other: (one - other).mean(), values, values) == (0.0, (0.0, 0.0))


def test_a_bootstrap_says_the_same_each_time():
    values = np.random.default_rng(0).normal(size=50)
    assert bootstrap(np.median, values) == bootstrap(np.median, values)


def test_a_bootstrap_stands_resamples_that_have_no_answer():
    """With one positive case among five, a third of the resamples have none."""
    positive = np.array([True, False, False, False, False])

    def area(positive):
        return positive.mean() if positive.any() else float("nan")

    _, interval = bootstrap(area, positive)
    assert np.isfinite(interval).all()


def test_the_difference_of_two_means_is_less_certain_than_either():
    one, other = {"mean": 0.5, "interval": (0.2, 0.8)}, {"mean": 0.1, "interval": (-0.3, 0.5)}
    gap, (low, high) = difference(one, other)
    assert (gap, low, high) == pytest.approx((0.4, -0.1, 0.9))
