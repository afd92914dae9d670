"""Means, shares and other statistics, each with its 95% interval."""

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy.special import stdtrit


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean, or another statistic, with its 95% interval; not a number where it could not be measured."""

    mean: float
    low: float
    high: float
    count: int  # of the agents, networks or levels that it is over

    @property
    def interval(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def measured(self) -> bool:
        return bool(np.isfinite([self.mean, *self.interval]).all())

    def above(self, other: "Estimate") -> bool:
        """The whole of the interval; unknown ones are above nothing."""
        return self.low > other.high

    def apart(self, other: "Estimate") -> bool:
        """Whether the two intervals do not overlap; unknown ones do."""
        return self.above(other) or other.above(self)


UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"), 0)


@dataclasses.dataclass(frozen=True)
class NetworkMean(Estimate):
    """Over networks, with what was measured of each."""

    each: list[float]


def mean_interval(values: np.ndarray) -> Estimate:
    """The mean over agents, with its 95% interval by Student's t: populations are small."""
    values = np.asarray(values, np.float64)
    if not len(values):
        return UNKNOWN
    mean = float(values.mean())
    if len(values) < 2:
        return dataclasses.replace(UNKNOWN, mean=mean, count=1)
    quantile = float(stdtrit(len(values) - 1, 0.975))
    error = quantile * float(values.std(ddof=1) / np.sqrt(len(values)))
    return Estimate(mean, mean - error, mean + error, len(values))


def by_network(values: np.ndarray, network: np.ndarray) -> np.ndarray:
    """The mean of each network that has any, in the order of their numbers; what was not measured is left out."""
    known = np.isfinite(values)
    return np.array([values[known & (network == one)].mean() for one in np.unique(network[known])])


def over_networks(each: np.ndarray) -> NetworkMean:
    """Of what was measured of each network; one that could not be measured does not spoil the mean."""
    over = mean_interval(each[np.isfinite(each)])
    return NetworkMean(**vars(over), each=each.tolist())


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Of two independent means, as of different agents, each with its interval."""
    gap, error = one.mean - other.mean, float(np.hypot((one.high - one.low) / 2, (other.high - other.low) / 2))
    return Estimate(gap, gap - error, gap + error, one.count + other.count)


def share_interval(hits: np.ndarray) -> Estimate:
    """The share of agents for whom something holds, with Wilson's 95% interval: it stays within 0 and 1."""
    if not len(hits):
        return UNKNOWN
    count, share, z = len(hits), float(np.mean(hits)), 1.96
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    error = z / (1 + z**2 / count) * float(np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)))
    return Estimate(share, max(middle - error, 0.0), min(middle + error, 1.0), count)


def bootstrap(statistic: Callable[..., float], *columns: np.ndarray, resamples: int = 1000) -> Estimate:
    """A statistic of columns over agents, with a 95% interval from resampling the agents together."""
    columns = tuple(np.asarray(column) for column in columns)
    agents = len(columns[0])
    if not agents:
        return UNKNOWN
    random = np.random.default_rng(0)  # the resampling is part of the method, not of the experiment
    draws = [
        statistic(*(column[chosen] for column in columns)) for chosen in random.integers(0, agents, (resamples, agents))
    ]
    with np.errstate(invalid="ignore"):  # between infinite draws there is no percentile, and no interval
        low, high = np.nanpercentile(draws, [2.5, 97.5])
    return Estimate(float(statistic(*columns)), float(low), float(high), agents)


def captured(no_past: np.ndarray, learned: np.ndarray, ideal: np.ndarray) -> float:
    """(L0 − L) / (L0 − L*): the share of what the past can tell that the observer makes use of."""
    return float((no_past.mean() - learned.mean()) / (no_past.mean() - ideal.mean()))
