"""D_JS by swap distance, agents and observer side by side, as plain tables; and what decides whether they agree."""

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from ...episodes.targets import GAMMAS
from ...observer.tomnet import ToMnet
from ..analysis.statistics import UNKNOWN, Estimate, bootstrap, by_network, difference, mean_interval
from .natural_swaps import Effects, effects_of
from .swap_effects import NOTICEABLE
from .walks import Walks

Who = Literal["agents", "observer"]
WHO: tuple[Who, ...] = get_args(Who)
FEWEST_COUNTED = 10  # pairs behind a mean that decides anything
AGREES, DIFFERS = 0.9, 3.0
"""Thresholds: of the agreement in order, and of the ratio between swaps in view and out of view."""
LONG_RUN = f"successor {GAMMAS[-1]}"


@dataclasses.dataclass(frozen=True)
class PairMean(Estimate):
    """Over networks, each by its own mean over pairs."""

    pairs: int  # for which it was measured


@dataclasses.dataclass(frozen=True)
class SideBySide:
    """The agents, and what the observer predicts of them: each measure by its name."""

    pairs: int
    agents: dict[str, PairMean]
    observer: dict[str, PairMean]

    def of(self, who: Who) -> dict[str, PairMean]:
        return self.agents if who == "agents" else self.observer

    def at(self, distance: int, reach: int) -> "SideBySideAt":
        return SideBySideAt(self.pairs, self.agents, self.observer, distance, distance <= reach)


@dataclasses.dataclass(frozen=True)
class SideBySideAt(SideBySide):
    distance: int
    in_view: bool


@dataclasses.dataclass(frozen=True)
class SwapTest:
    """Agents of one condition and their observer, tested with swaps near and far."""

    reach: int
    networks: int
    in_view: SideBySide
    out_of_view: SideBySide
    by_distance: list[SideBySideAt]


@dataclasses.dataclass(frozen=True)
class Curves(SwapTest):
    """D_JS: "policy", "belief", and "successor" for each discount."""

    pairs: int
    ratio: dict[str, Estimate]  # the observer's: of the mean in view to that out of view
    beyond_policy: PairMean  # how much more swaps out of view change its longest run than its next step
    by_network: dict[str, Float[np.ndarray, "network distance"]]  # the observer's means


def curves_of(
    walks: dict[str, Walks], observer: ToMnet, futures: dict[str, np.ndarray] | None = None
) -> dict[str, Curves]:
    """By condition."""
    futures = futures or {}
    return {
        name: curves(effects_of(each, observer, futures.get(name)), each.world.size) for name, each in walks.items()
    }


def curves(effects: Effects, size: int) -> Curves:
    """With intervals over networks."""
    agents, observer = _flat(effects.agents), _flat(effects.observer)
    network, in_view = effects.network, effects.in_view

    def means(measured: dict[str, np.ndarray], chosen: np.ndarray) -> dict[str, PairMean]:
        return {what: summarise(values[chosen], network[chosen]) for what, values in measured.items()}

    def row(chosen: np.ndarray) -> SideBySide:
        return SideBySide(int(chosen.sum()), means(agents, chosen), means(observer, chosen))

    return Curves(
        reach=effects.reach,
        pairs=len(effects.distance),
        networks=len(np.unique(network)),
        in_view=row(in_view),
        out_of_view=row(~in_view),
        by_distance=[row(effects.distance == far).at(far, effects.reach) for far in range(1, size)],
        ratio={what: _ratio(values, network, in_view) for what, values in observer.items()},
        beyond_policy=summarise((observer[LONG_RUN] - observer["policy"])[~in_view], network[~in_view]),
        by_network={what: _by_network_and_distance(observer[what], effects, size) for what in ("policy", "belief")},
    )


def _flat(effects: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    maps = {f"successor {gamma}": effects["successor"][:, number] for number, gamma in enumerate(GAMMAS)}
    return {"policy": effects["policy"], "belief": effects["belief"]} | maps


def _by_network_and_distance(values: np.ndarray, effects: Effects, size: int) -> Float[np.ndarray, "network distance"]:
    def mean(chosen: np.ndarray) -> float:
        return float(values[chosen].mean()) if chosen.any() else float("nan")

    means = [
        [mean((effects.network == one) & (effects.distance == far)) for far in range(1, size)]
        for one in np.unique(effects.network)
    ]
    return np.array(means, float).reshape(-1, size - 1)


def summarise(values: np.ndarray, network: np.ndarray) -> PairMean:
    over = mean_interval(by_network(values, network))
    return PairMean(**vars(over), pairs=int(np.isfinite(values).sum()))


def _ratio(values: np.ndarray, network: np.ndarray, in_view: np.ndarray) -> Estimate:
    """Over networks that have swaps on both sides, resampled for its interval."""
    both = [
        (mine[in_view[network == one]].mean(), mine[~in_view[network == one]].mean())
        for one in np.unique(network)
        for mine in [values[network == one]]
        if in_view[network == one].any() and (~in_view[network == one]).any() and np.isfinite(mine).all()
    ]
    if not both:
        return UNKNOWN
    seen, unseen = np.array(both).T
    ratio = bootstrap(lambda a, b: float(a.mean() / b.mean()) if b.mean() else float("inf"), seen, unseen)
    return ratio if len(both) > 1 else dataclasses.replace(UNKNOWN, mean=ratio.mean, count=1)


# --- What decides


def agreement(tables: Sequence[SwapTest], what: str) -> float:
    """Of all pairs of distances that the agents tell apart, the share that the observer puts in the same order, less
    the share in the opposite one.

    Most distances are out of view, where the agents' D_JS is exactly 0: ties, which would cap a rank correlation at
    0.76 for a perfect observer of 5×5 agents (8 distances). So only distances whose intervals over networks lie apart
    for the agents count (Goodman and Kruskal's gamma); conditions in one list are counted together.
    """
    curves = [np.array([row.observer[what].mean for row in table.by_distance]) for table in tables]
    return _concordance(tables, curves, what)


def agreement_interval(tables: list[Curves], what: str, resamples: int = 500) -> tuple[float, float]:
    """95%, by resampling the networks that the observer's curves are means over; the agents' order stands."""
    each = [table.by_network[what] for table in tables]
    if min(map(len, each)) < 2:
        return UNKNOWN.interval
    random = np.random.default_rng(0)  # the resampling is part of the method, not of the experiment
    draws = []
    for _ in range(resamples):
        chosen = [networks[random.integers(0, len(networks), len(networks))] for networks in each]
        draws.append(_concordance(tables, [_mean_of_known(networks) for networks in chosen], what))
    return tuple(np.nanpercentile(draws, [2.5, 97.5]).tolist()) if np.isfinite(draws).any() else UNKNOWN.interval


def _mean_of_known(networks: np.ndarray) -> np.ndarray:
    known = np.isfinite(networks)
    return np.where(known, networks, 0).sum(0) / np.where(known.any(0), known.sum(0), np.nan)


def _concordance(tables: Sequence[SwapTest], observer: list[np.ndarray], what: str) -> float:
    """`observer`: for each table its curve, `[distance]`."""
    same = opposite = 0
    for table, curve in zip(tables, observer, strict=True):
        rows = [row for row in table.by_distance if row.pairs >= FEWEST_COUNTED]
        for one, other in combinations(rows, 2):
            if one.agents[what].apart(other.agents[what]):
                agents = one.agents[what].mean - other.agents[what].mean
                product = agents * float(curve[one.distance - 1] - curve[other.distance - 1])
                same += product > 0
                opposite += product < 0
    return (same - opposite) / (same + opposite) if same + opposite else float("nan")


def seen_above_unseen(table: Curves, what: str) -> bool:
    seen = table.in_view.observer[what]
    return seen.mean >= NOTICEABLE and seen.above(table.out_of_view.observer[what])


def keeps_order(tables: list[Curves], what: str) -> bool:
    """Whether an observer has the agents' order, and swaps in view matter to it.

    Order alone would not do: even an untrained network is moved more by what is near.
    """
    noticed = all(table.in_view.observer[what].mean >= NOTICEABLE for table in tables)
    return noticed and agreement(tables, what) >= AGREES


def follows_sight(tables: list[Curves], what: str) -> bool:
    """The same, and swaps in view matter much more than those out of view."""
    return keeps_order(tables, what) and all(table.ratio[what].mean >= DIFFERS for table in tables)


IN_ORDER = (
    f"the agents' order of distances (agreement of at least {AGREES}: concordant less discordant pairs, among those "
    f"that the agents' intervals tell apart), a D_JS of at least {NOTICEABLE} nats in view"
)
FOLLOWS_SIGHT = f"{IN_ORDER}, and at least {DIFFERS:g} times that out of view"
MORE_IN_VIEW = f"at least {NOTICEABLE} nats in view, and more than out of view, intervals apart"
"""The rules in words."""


def beyond_the_edge(table: Curves, what: str) -> float:
    """The ratio between swaps in view and out of view, without those just out of view, where a soft boundary lies."""
    rows = [row for row in table.by_distance if row.pairs and (row.in_view or row.distance > table.reach + 1)]
    seen, far = ([row for row in rows if row.in_view == side] for side in (True, False))
    if not seen or not far:
        return float("nan")
    near, beyond = (
        float(np.average([row.observer[what].mean for row in side], weights=[row.pairs for row in side]))
        for side in (seen, far)
    )
    return near / beyond if beyond else float("inf")


PARTING = (2, 3, 4)  # distances between the edges of a 3×3 and of a 9×9 field of view
BETWEEN = f"{PARTING[0]} to {PARTING[-1]}"


@dataclasses.dataclass(frozen=True)
class Parting:
    """Where, beyond the sight of the narrow, the observer's curve for far-sighted agents lies above theirs."""

    gaps: dict[int, float]  # by distance, where enough was measured
    clear: list[int]  # distances at which the intervals lie apart, and the far-sighted notice
    everywhere: bool

    @property
    def where_measured(self) -> bool:
        """Softer than `everywhere`: distances of which too few pairs are known do not count."""
        return bool(self.gaps) and min(self.gaps.values()) > 0

    @property
    def widest(self) -> int | None:
        """The distance where they part most: of those where they do so clearly, if there are any."""
        return max(self.clear or self.gaps, key=lambda far: self.gaps[far], default=None)


def parting(narrow: Curves, wide: Curves, what: str) -> Parting:
    rows = {far: (narrow.by_distance[far - 1], wide.by_distance[far - 1]) for far in PARTING}
    counted = {
        far: (one.observer[what], other.observer[what])
        for far, (one, other) in rows.items()
        if min(one.pairs, other.pairs) >= FEWEST_COUNTED
    }
    gaps = {far: other.mean - one.mean for far, (one, other) in counted.items()}
    clear = [far for far, (one, other) in counted.items() if other.above(one) and other.mean >= NOTICEABLE]
    return Parting(gaps, clear, len(gaps) == len(rows) and min(gaps.values()) > 0)


def gap_at(far: int | None, narrow: Curves, wide: Curves, who: Who, what: str) -> Estimate:
    """Between far-sighted and short-sighted agents at a distance; unknown where there is none to look at."""
    if far is None:
        return UNKNOWN
    one, other = (table.by_distance[far - 1].of(who)[what] for table in (wide, narrow))
    return difference(one, other)


GAP = (
    "observer's D_JS between next-step policies, 9×9 less 3×3 agents, in nats, at the distance "
    f"({BETWEEN}) where the gap is widest"
)
