"""Means, intervals and captured shares, worked out by hand."""

import numpy as np
import pytest

from tomnet.experiments.analysis.statistics import (
    UNKNOWN,
    Estimate,
    bootstrap,
    by_network,
    captured,
    difference,
    mean_interval,
    over_networks,
    share_interval,
)


def test_a_mean_of_two_values_has_a_very_wide_interval():
    """Student's t with one degree of freedom is Cauchy's: its quantile is tan(0.475 π) = 12.706."""
    over = mean_interval(np.array([1, 2]))
    assert (over.mean, over.count) == (1.5, 2)
    assert over.high - 1.5 == pytest.approx(1.5 - over.low) == pytest.approx(0.5 * np.tan(0.475 * np.pi))


def test_a_mean_of_many_values_has_an_interval_of_two_standard_errors():
    values = np.random.default_rng(0).normal(size=500)
    over = mean_interval(values)
    error = values.std(ddof=1) / 500**0.5
    assert (over.high - over.mean) / error == pytest.approx(1.96, rel=3e-3)
    assert (over.mean - over.low) / error == pytest.approx(1.96, rel=3e-3)


@pytest.mark.parametrize("agents", [3, 50])
def test_an_interval_holds_the_truth_19_times_in_20(agents):
    random = np.random.default_rng(0)
    intervals = [mean_interval(random.normal(3.0, 2.0, agents)).interval for _ in range(1000)]
    assert 0.93 < np.mean([low < 3.0 < high for low, high in intervals]) < 0.97


def test_a_share_has_an_interval_within_0_and_1():
    """39 of 40: by hand, Wilson's interval is 0.871 … 0.996."""
    share = share_interval(np.array([1.0] * 39 + [0.0]))
    assert (share.mean, share.count) == (39 / 40, 40)
    assert share.interval == pytest.approx((0.8712, 0.9956), abs=1e-4)
    assert share_interval(np.ones(40)).interval == pytest.approx((0.9124, 1.0), abs=1e-4)
    assert share_interval(np.zeros(40)).interval == pytest.approx((0.0, 0.0876), abs=1e-4)


@pytest.mark.filterwarnings("error")
def test_one_agent_has_a_mean_and_no_interval():
    alone = mean_interval(np.array([0.7]))
    assert (alone.mean, alone.count) == (0.7, 1)
    assert np.isnan(alone.interval).all()
    assert not alone.measured


def test_of_nobody_nothing_is_known():
    nobody = np.array([])
    assert mean_interval(nobody) is share_interval(nobody) is bootstrap(np.mean, nobody) is UNKNOWN
    assert by_network(nobody, nobody).tolist() == []
    assert not UNKNOWN.measured


def test_intervals_that_do_not_overlap_lie_apart():
    low, high, wide = Estimate(0.1, 0.0, 0.2, 5), Estimate(0.4, 0.3, 0.5, 5), Estimate(0.3, 0.1, 0.5, 5)
    assert high.above(low)
    assert not low.above(high)
    assert low.apart(high)
    assert high.apart(low)
    assert not wide.apart(low)
    assert not UNKNOWN.apart(low)


def test_means_are_taken_over_networks_first():
    values, network = np.array([1.0, 1.0, 1.0, 5.0, np.nan, np.nan]), np.array([0, 0, 0, 4, 4, 7])
    assert by_network(values, network).tolist() == [1.0, 5.0]


def test_a_network_that_was_not_measured_does_not_spoil_the_mean():
    over = over_networks(np.array([1.0, np.nan, 3.0]))
    assert (over.mean, over.count) == (2.0, 2)
    assert np.array_equal(over.each, [1.0, np.nan, 3.0], equal_nan=True)


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
    found, expected = bootstrap(np.mean, values), mean_interval(values)
    assert found.mean == values.mean()
    assert found.interval == pytest.approx(expected.interval, abs=0.03)


def test_a_bootstrap_keeps_the_columns_of_an_agent_together():
    """The difference of two equal columns is always 0, whichever agents are drawn."""
    values = np.random.default_rng(0).normal(size=50)
    assert bootstrap(lambda one, other: (one - other).mean(), values, values) == Estimate(0.0, 0.0, 0.0, 50)


def test_a_bootstrap_says_the_same_each_time():
    values = np.random.default_rng(0).normal(size=50)
    assert bootstrap(np.median, values) == bootstrap(np.median, values)


def test_a_bootstrap_stands_resamples_that_have_no_answer():
    """With one positive case among five, a third of the resamples have none."""
    positive = np.array([True, False, False, False, False])

    def area(positive):
        return positive.mean() if positive.any() else float("nan")

    assert bootstrap(area, positive).measured


def test_a_bootstrap_of_what_is_infinite_has_no_interval():
    found = bootstrap(lambda values: float("inf"), np.ones(5))
    assert found.mean == float("inf")
    assert np.isnan(found.interval).all()


def test_the_difference_of_two_means_is_less_certain_than_either():
    gap = difference(Estimate(0.5, 0.2, 0.8, 5), Estimate(0.1, -0.3, 0.5, 6))
    assert (gap.mean, *gap.interval, gap.count) == pytest.approx((0.4, -0.1, 0.9, 11))
