"""Means, shares and other statistics, each with its 95% interval."""

from typing import Any

import numpy as np
from scipy.special import stdtrit


def mean_interval(values: np.ndarray) -> tuple[float, tuple[float, float]]:
    """The mean over agents, with its 95% interval by Student's t: populations are small."""
    values = np.asarray(values, np.float64)
    if len(values) < 2:
        return float(values.mean()), (float("nan"), float("nan"))
    widths = float(stdtrit(len(values) - 1, 0.975))
    mean, error = float(values.mean()), widths * float(values.std(ddof=1) / np.sqrt(len(values)))
    return mean, (mean - error, mean + error)


def over_networks(each: np.ndarray) -> dict[str, Any]:
    """A plain table of what was measured of each network; one that could not be measured does not spoil the mean."""
    counted = each[np.isfinite(each)]
    mean, interval = mean_interval(counted) if len(counted) else (float("nan"), (float("nan"), float("nan")))
    return {"mean": mean, "interval": interval, "each": each.tolist()}


def difference(one: dict[str, Any], other: dict[str, Any]) -> tuple[float, tuple[float, float]]:
    """Of two independent means, as of different agents, each with its interval."""
    widths = [(each["interval"][1] - each["interval"][0]) / 2 for each in (one, other)]
    gap, error = one["mean"] - other["mean"], float(np.hypot(*widths))
    return gap, (gap - error, gap + error)


def share_interval(hits: np.ndarray) -> tuple[float, tuple[float, float]]:
    """The share of agents for whom something holds, with Wilson's 95% interval: it stays within 0 and 1."""
    count, share, z = len(hits), float(np.mean(hits)), 1.96
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    error = z / (1 + z**2 / count) * float(np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)))
    return share, (max(middle - error, 0.0), min(middle + error, 1.0))


def bootstrap(statistic, *columns: np.ndarray, resamples: int = 1000) -> tuple[float, tuple[float, float]]:
    """A statistic of columns over agents, with a 95% interval from resampling the agents together."""
    columns = tuple(np.asarray(column) for column in columns)
    random = np.random.default_rng(0)  # the resampling is part of the method, not of the experiment
    agents = len(columns[0])
    draws = [
        statistic(*(column[chosen] for column in columns)) for chosen in random.integers(0, agents, (resamples, agents))
    ]
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return float(statistic(*columns)), (float(low), float(high))


def captured(no_past: np.ndarray, network: np.ndarray, ideal: np.ndarray) -> float:
    """(L0 − L) / (L0 − L*): the share of what the past can tell that the network makes use of."""
    return float((no_past.mean() - network.mean()) / (no_past.mean() - ideal.mean()))
