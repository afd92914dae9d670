"""D_JS by swap distance, agents and observer side by side, as plain tables; and what decides whether they agree."""

from itertools import combinations
from typing import Any

import numpy as np

from ...episodes.targets import GAMMAS
from ..claims.statistics import bootstrap, difference, mean_interval
from .natural_swaps import Effects
from .swap_effects import NOTICEABLE

FEWEST = 10  # pairs behind a mean that is counted
AGREES, DIFFERS = 0.9, 3.0
"""Thresholds: of the agreement in order, and of the ratio between swaps in view and out of view."""
LONG_RUN = f"successor {GAMMAS[-1]}"
UNKNOWN = (float("nan"), float("nan"))


def curves(effects: Effects, size: int) -> dict[str, Any]:
    """One condition: means over networks, each by its own mean over pairs, with intervals over networks."""
    who = {"agents": _flat(effects.agents), "observer": _flat(effects.observer)}
    in_view = effects.in_view
    return {
        "reach": effects.reach,
        "pairs": len(effects.distance),
        "networks": len(np.unique(effects.network)),
        "in_view": _row(who, effects.network, in_view),
        "out_of_view": _row(who, effects.network, ~in_view),
        "by_distance": [
            {"distance": far, "in_view": far <= effects.reach} | _row(who, effects.network, effects.distance == far)
            for far in range(1, size)
        ],
        "ratio": {name: _ratio(values, effects.network, in_view) for name, values in who["observer"].items()},
        "beyond_policy": _beyond_policy(who["observer"], effects.network, ~in_view),
        "by_network": {
            what: _by_network_and_distance(who["observer"][what], effects, size) for what in ("policy", "belief")
        },
    }


def _flat(effects: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    maps = {f"successor {gamma}": effects["successor"][:, number] for number, gamma in enumerate(GAMMAS)}
    return {"policy": effects["policy"], "belief": effects["belief"]} | maps


def _row(who: dict[str, dict[str, np.ndarray]], network: np.ndarray, chosen: np.ndarray) -> dict[str, Any]:
    row: dict[str, Any] = {"pairs": int(chosen.sum())}
    for name, measured in who.items():
        row[name] = {what: summarise(values[chosen], network[chosen]) for what, values in measured.items()}
    return row


def by_network(values: np.ndarray, network: np.ndarray) -> np.ndarray:
    """The mean of each network that has any; what was not measured is left out."""
    known = np.isfinite(values)
    return np.array([values[known & (network == one)].mean() for one in np.unique(network[known])])


def _by_network_and_distance(values: np.ndarray, effects: Effects, size: int) -> list[list[float]]:
    """`[network][distance]`: the observer's means, of which those over networks are in the rows."""

    def mean(chosen: np.ndarray) -> float:
        return float(values[chosen].mean()) if chosen.any() else float("nan")

    return [
        [mean((effects.network == one) & (effects.distance == far)) for far in range(1, size)]
        for one in np.unique(effects.network)
    ]


def summarise(values: np.ndarray, network: np.ndarray) -> dict[str, Any]:
    each = by_network(values, network)
    mean, interval = mean_interval(each) if len(each) else (float("nan"), UNKNOWN)
    return {"mean": mean, "interval": interval, "networks": len(each), "pairs": int(np.isfinite(values).sum())}


def _ratio(values: np.ndarray, network: np.ndarray, in_view: np.ndarray) -> dict[str, Any]:
    """Of the mean in view to that out of view, over networks that have both, resampled for its interval."""
    both = [
        (mine[in_view[network == one]].mean(), mine[~in_view[network == one]].mean())
        for one in np.unique(network)
        for mine in [values[network == one]]
        if in_view[network == one].any() and (~in_view[network == one]).any() and np.isfinite(mine).all()
    ]
    if not both:
        return {"mean": float("nan"), "interval": UNKNOWN}
    seen, unseen = np.array(both).T
    mean, interval = bootstrap(lambda a, b: float(a.mean() / b.mean()) if b.mean() else float("inf"), seen, unseen)
    return {"mean": mean, "interval": interval if len(both) > 1 else UNKNOWN}


def _beyond_policy(observer: dict[str, np.ndarray], network: np.ndarray, unseen: np.ndarray) -> dict[str, Any]:
    """How much more swaps out of view change the longest run than the next step, as the observer has it."""
    return summarise((observer[LONG_RUN] - observer["policy"])[unseen], network[unseen])


# --- What decides


def agreement(tables: list[dict[str, Any]], what: str) -> float:
    """Of all pairs of distances that the agents tell apart, the share that the observer puts in the same order, less
    the share in the opposite one.

    Most distances are out of view, where the agents' D_JS is exactly 0: ties, which would cap a rank correlation at
    0.76 for a perfect observer of 5×5 agents (8 distances). So only distances whose intervals over networks lie apart
    for the agents count (Goodman and Kruskal's gamma); conditions in one list are counted together.
    """
    curves = [np.array([row["observer"][what]["mean"] for row in table["by_distance"]]) for table in tables]
    return _concordance(tables, curves, what)


def agreement_interval(tables: list[dict[str, Any]], what: str, resamples: int = 500) -> tuple[float, float]:
    """95%, by resampling the networks that the observer's curves are means over; the agents' order stands."""
    each = [np.array(table["by_network"][what]) for table in tables]  # [network, distance]
    if min(map(len, each)) < 2:
        return UNKNOWN
    random = np.random.default_rng(0)  # the resampling is part of the method, not of the experiment
    draws = []
    for _ in range(resamples):
        chosen = [networks[random.integers(0, len(networks), len(networks))] for networks in each]
        draws.append(_concordance(tables, [_mean_of_known(networks) for networks in chosen], what))
    return tuple(np.nanpercentile(draws, [2.5, 97.5]).tolist()) if np.isfinite(draws).any() else UNKNOWN


def _mean_of_known(networks: np.ndarray) -> np.ndarray:
    known = np.isfinite(networks)
    return np.where(known, networks, 0).sum(0) / np.where(known.any(0), known.sum(0), np.nan)


def _concordance(tables: list[dict[str, Any]], observer: list[np.ndarray], what: str) -> float:
    """`observer`: for each table its curve, `[distance]`."""
    same = opposite = 0
    for table, curve in zip(tables, observer, strict=True):
        rows = [row for row in table["by_distance"] if row["pairs"] >= FEWEST]
        for one, other in combinations(rows, 2):
            if apart(one["agents"][what], other["agents"][what]):
                agents = one["agents"][what]["mean"] - other["agents"][what]["mean"]
                product = agents * float(curve[one["distance"] - 1] - curve[other["distance"] - 1])
                same += product > 0
                opposite += product < 0
    return (same - opposite) / (same + opposite) if same + opposite else float("nan")


def apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two intervals do not overlap; unknown ones do."""
    return above(one, other) or above(other, one)


def above(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one["interval"][0] > other["interval"][1]


def seen_above_unseen(table: dict[str, Any], what: str) -> bool:
    seen = table["in_view"]["observer"][what]
    return seen["mean"] >= NOTICEABLE and above(seen, table["out_of_view"]["observer"][what])


def in_order(tables: list[dict[str, Any]], what: str) -> bool:
    """Whether an observer has the agents' order, and swaps in view matter to it.

    Order alone would not do: even an untrained network is moved more by what is near.
    """
    noticed = all(table["in_view"]["observer"][what]["mean"] >= NOTICEABLE for table in tables)
    return noticed and agreement(tables, what) >= AGREES


def follows_sight(tables: list[dict[str, Any]], what: str) -> bool:
    """The same, and swaps in view matter much more than those out of view."""
    return in_order(tables, what) and all(table["ratio"][what]["mean"] >= DIFFERS for table in tables)


IN_ORDER = (
    f"the agents' order of distances (agreement of at least {AGREES}: concordant less discordant pairs, among those "
    f"that the agents' intervals tell apart), a D_JS of at least {NOTICEABLE} nats in view"
)
FOLLOWS_SIGHT = f"{IN_ORDER}, and at least {DIFFERS:g} times that out of view"
MORE_IN_VIEW = f"at least {NOTICEABLE} nats in view, and more than out of view, intervals apart"
"""The rules in words."""


def parting(narrow: dict[str, Any], wide: dict[str, Any], what: str) -> dict[str, Any]:
    """Where, between distances 2 and 4, the curve of far-sighted agents lies above that of short-sighted ones."""
    rows = {far: (narrow["by_distance"][far - 1], wide["by_distance"][far - 1]) for far in (2, 3, 4)}
    counted = {far: pair for far, pair in rows.items() if all(row["pairs"] >= FEWEST for row in pair)}
    gaps = {far: two["observer"][what]["mean"] - one["observer"][what]["mean"] for far, (one, two) in counted.items()}
    clear = [
        far
        for far, (one, two) in counted.items()
        if above(two["observer"][what], one["observer"][what]) and two["observer"][what]["mean"] >= NOTICEABLE
    ]
    return {"gaps": gaps, "clear": clear, "everywhere": len(gaps) == len(rows) and min(gaps.values()) > 0}


def widest(part: dict[str, Any]) -> int | None:
    """The distance where they part most: of those where they do so clearly, if there are any."""
    return max(part["clear"] or part["gaps"], key=lambda far: part["gaps"][far], default=None)


def gap_at(
    far: int | None, narrow: dict[str, Any], wide: dict[str, Any], who: str, what: str
) -> tuple[float, tuple[float, float]]:
    """Between far-sighted and short-sighted agents at a distance; unknown where there is none to look at."""
    if far is None:
        return float("nan"), UNKNOWN
    one, other = (table["by_distance"][far - 1][who][what] for table in (wide, narrow))
    return difference(one, other)


GAP = (
    "observer's D_JS between next-step policies, 9×9 less 3×3 agents, in nats, at the distance (2 to 4) where the gap "
    "is widest"
)
