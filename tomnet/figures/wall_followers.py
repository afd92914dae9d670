"""Figure 9: two kinds of stateless agents that an observer told apart without being told, and how they differ."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..experiments.analysis.examples import PlainState
from ..experiments.analysis.wall_followers import ClusteredNetwork, PolicyFields, WallFollowers
from . import style
from .gridworld import draw_policy_arrows
from .panels import Panel

LEFT_HANDED, RIGHT_HANDED = style.BLUE, style.ORANGE
SHOWN_POSTERIORS = 12  # of each agent; all of them would be one blot
LEAST_TURN = 0.05  # that an axis shows: less than that is nothing to look at
ENCLOSED = 0.8  # of an agent's density, as in the paper


def wall_follower_panels(followers: WallFollowers, fields: PolicyFields) -> tuple[Panel, ...]:
    return (
        Panel(
            "a",
            "Posteriors of stateless agents",
            "Ellipses in two dimensions of the embedding, several for each of the sighted, stateless networks, "
            "coloured by the hand with which it follows walls.",
            lambda place: _traces(place, followers),
            3.1,
        ),
        Panel(
            "b",
            f"Regions that hold {ENCLOSED:.0%} of each",
            "A contour for each network around most of its posterior density, and the means of the two clusters.",
            lambda place: _contours(place, followers),
            3.1,
        ),
        Panel(
            "c",
            "The clusters and the hands",
            "Each network's place along the line between the two clusters against its own handedness index, with "
            "intervals.",
            lambda place: _hands(place, followers),
            2.6,
        ),
        Panel(
            "d",
            "Which way the expected policies turn",
            "Two bars: how much the policy expected of an agent at each cluster's mean turns anticlockwise around "
            "the middle of the map, on average over levels.",
            lambda place: _turns(place, fields),
            2.6,
        ),
        Panel(
            "e",
            "Policies expected at the two clusters' means, and their difference",
            "For each of two levels three fields of arrows: the policy expected at the one cluster's mean, at the "
            "other's, darker where they differ, and the difference of the two.",
            lambda place: _fields(place, fields),
            5.0,
        ),
    )


def hand_colour(network: ClusteredNetwork) -> str:
    return LEFT_HANDED if network.hand.index.mean > 0 else RIGHT_HANDED


def _hand_signs() -> list:
    return [style.sign("left-handed", "o", LEFT_HANDED), style.sign("right-handed", "o", RIGHT_HANDED)]


def _around(axes: Axes, followers: WallFollowers) -> tuple[np.ndarray, np.ndarray]:
    """Both panels show the same part of the plane, in equal scales."""
    mean, deviation = (np.concatenate([getattr(row, name) for row in followers.each]) for name in ("mean", "deviation"))
    low, high = (mean - 2 * deviation).min(0), (mean + 2 * deviation).max(0)
    middle, half = (low + high) / 2, max(float((high - low).max()) / 2, 0.3)
    low, high = middle - half, middle + half
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set(xlabel=style.dimension_name(followers.pair[0]), ylabel=style.dimension_name(followers.pair[1]))
    return low, high


def _traces(place: SubFigure, followers: WallFollowers) -> None:
    axes = place.subplots()
    for row in followers.each:
        style.ellipses(axes, row.mean[:SHOWN_POSTERIORS], row.deviation[:SHOWN_POSTERIORS], hand_colour(row))
    _around(axes, followers)
    place.legend(handles=_hand_signs(), loc="outside lower center", ncols=2)


def _contours(place: SubFigure, followers: WallFollowers) -> None:
    axes = place.subplots()
    low, high = _around(axes, followers)
    x, y = (np.linspace(low[i], high[i], 80) for i in (0, 1))
    for row in followers.each:
        density = mixture_density(row.mean, row.deviation, x, y)
        axes.contour(x, y, density, [enclosing(density, ENCLOSED)], colors=hand_colour(row), linewidths=0.9)
    for number, centre in enumerate(followers.centres.tolist()):
        axes.plot(*centre, "o", color=style.IDEAL, markersize=5, zorder=5)
        left_or_right = (-9 + 13 * number, 4)  # the two may nearly coincide
        axes.annotate(
            str(number + 1), centre, xytext=left_or_right, textcoords="offset points", weight="bold", zorder=6
        )
    handles = [*_hand_signs(), style.sign("cluster means", "o", style.IDEAL)]
    place.legend(handles=handles, loc="outside lower center", ncols=3)


def mixture_density(mean: np.ndarray, deviation: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`[y, x]`: the mean of the posteriors' densities."""

    def normal(places: np.ndarray, axis: int) -> np.ndarray:
        spread = deviation[:, axis, None]
        return np.exp(-0.5 * ((places - mean[:, axis, None]) / spread) ** 2) / spread

    return np.einsum("nx,ny->yx", normal(x, 0), normal(y, 1)) / len(mean)


def enclosing(density: np.ndarray, share: float) -> float:
    """The level above which that share of the whole lies."""
    falling = np.sort(density.reshape(-1))[::-1]
    total = np.cumsum(falling)
    return float(falling[min(int(np.searchsorted(total, share * total[-1])), len(falling) - 1)])


def _hands(place: SubFigure, followers: WallFollowers) -> None:
    axes = place.subplots()
    for row in followers.each:
        place_along, index = followers.agreement.turned * row.along, [row.hand.index]
        look = {"fmt": "o" if row.cluster == 0 else "s", "color": hand_colour(row), "elinewidth": 0.8}
        axes.errorbar([place_along], style.means(index), style.whiskers(index), **look)
    axes.axhline(0, color=style.QUIET, linewidth=0.6)
    axes.set(ylim=(-1.05, 1.05), xlabel="place between the clusters, from their middle", ylabel="handedness index")
    handles = [style.sign("cluster 1", "o", style.QUIET), style.sign("cluster 2", "s", style.QUIET)]
    style.legend_above(axes, [*handles, *_hand_signs()][:2])


def _turns(place: SubFigure, fields: PolicyFields) -> None:
    axes = place.subplots()
    turns = fields.anticlockwise
    x = np.arange(len(turns))
    axes.bar(x, style.means(turns), width=0.5, color=style.TOMNET)
    axes.errorbar(x, style.means(turns), style.whiskers(turns), fmt="none", ecolor=style.IDEAL, elinewidth=0.8)
    axes.axhline(0, color=style.IDEAL, linewidth=0.6)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -LEAST_TURN), max(high, LEAST_TURN))
    axes.set_xticks(x, [f"cluster {i + 1}" for i in x])
    axes.set(xlim=(-0.7, len(turns) - 0.3), ylabel="anticlockwise turn")


def _fields(place: SubFigure, fields: PolicyFields) -> None:
    grid = np.atleast_2d(place.subplots(len(fields.shown), 3))
    largest = max(float(one.divergence.max()) for one in fields.shown)
    for row, one in enumerate(fields.shown):
        shades = [shade(value, largest) for value in one.divergence]
        difference = (one.one - one.other) / 2  # at full length arrows would run into each other
        shown = {"cluster 1": one.one, "cluster 2": one.other, "half the difference": difference}
        for col, (name, vectors) in enumerate(shown.items()):
            colour: Any = style.IDEAL if name == "half the difference" else standing_only(one.query, shades)
            title = name if row == 0 else ""
            draw_policy_arrows(grid[row, col], one.query, vectors, colour=colour, title=title)


def shade(divergence: float, largest: float) -> tuple[float, float, float]:
    """Darker where the two policies differ more."""
    return style.tint(style.TOMNET, 0.25 + 0.75 * float(divergence) / max(largest, 1e-12))


def standing_only(query: PlainState, values: list) -> list:
    """Values of the cells where arrows are drawn, in their order."""
    walls, things = query.walls.astype(bool).reshape(-1), set(query.object_cells)
    return [value for cell, value in enumerate(values) if not walls[cell] and cell not in things]


def wall_follower_caption(found: WallFollowers, fields: PolicyFields) -> str:
    together, turns = found.agreement, fields.anticlockwise
    return (
        f"Sighted, stateless agents: {len(found.each)} networks never met, several traces of each (a, b). Two "
        f"clusters describe them {_compared(found.gain)} points of BIC (silhouette "
        f"{style.plain(found.silhouette, 2)}). The clusters tell {style.percent(together.accuracy.mean)} of the "
        f"networks' hands, {together.positive} left and {together.negative} right; place and handedness "
        f"correlate with {style.plain(together.correlation.mean, 2)} (c). Policies expected at the two means turn "
        f"anticlockwise by {style.plain(turns[0].mean)} and {style.plain(turns[1].mean)} on average over "
        f"{fields.levels} levels (d, e)."
    )


def _compared(gain: float) -> str:
    """How well two clusters do, beside one."""
    return f"worse than one, by {style.plain(-gain, 1)}" if gain < 0 else f"better than one, by {style.plain(gain, 1)}"
