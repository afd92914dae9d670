"""What `tomnet fit` found: every observer against N_past, how far probabilities can be trusted, and who is who."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.lines import Line2D

from ..fit.result import FitResult
from ..fit.scores import Score
from . import style
from .panels import Panel, Panels

SIGNS = {  # colour, mark, filled or not
    "nearest": (style.NO_PAST, "v", True),
    "favourite so far": (style.ORANGE, "s", True),
    "inverse planner": (style.IDEAL, "D", False),
    "network": (style.TOMNET, "o", True),
    "mixture": (style.PURPLE, "P", True),
}
PART_SIGNS = {"training": (style.NO_PAST, "."), "validation": (style.NO_PAST, "x"), "test": (style.TOMNET, "o")}
APART = 0.07  # marks of observers beside each other, in steps of the axis
SMALLEST, LARGEST = 5, 60  # marks of a bin, in square points: of one that is empty, and of one that holds all
ROOM = 0.04  # beyond the ends of an axis, so that no mark is cut off
NOT_MEASURED = {
    ("outcome", "nearest not taken"): "there was no such episode",
    ("action", "all"): "no action is known",
}


def panels(result: FitResult) -> Panels:
    return {
        "fit": (
            Panel(
                "a",
                "Object taken, where it was not the nearest",
                "Accuracy of every observer against the number of past episodes, with 95% intervals.",
                lambda place: _against_past(place, result, "outcome", "nearest not taken", "accuracy"),
                2.7,
            ),
            Panel(
                "b",
                "Object taken, all episodes",
                "Loss of every observer in nats against the number of past episodes, with 95% intervals.",
                lambda place: _against_past(place, result, "outcome", "all", "nats"),
                2.7,
            ),
            Panel(
                "c",
                "Next action",
                "Loss of every observer in nats against the number of past episodes, with 95% intervals.",
                lambda place: _against_past(place, result, "action", "all", "nats"),
                2.7,
            ),
            Panel(
                "d",
                "Successor maps",
                "Loss of the network in nats against the number of past episodes, with 95% intervals.",
                lambda place: _against_past(place, result, "successor", "all", "nats"),
                2.7,
            ),
            Panel(
                "e",
                "Calibration",
                "How often the likeliest outcome came true against how likely it was said to be; marks are as large as "
                "the share of cases behind them.",
                lambda place: _calibration(place, result),
                2.8,
            ),
            Panel(
                "f",
                "Agents, by their character",
                "Each agent as a point on the two principal axes of the characters: of a network, the embedding and "
                "what the agent would take of things equally far.",
                lambda place: _agents(place, result),
                2.8,
            ),
        )
    }


def _against_past(place: SubFigure, result: FitResult, head: str, cases: str, unit: str) -> None:
    axes = place.subplots()
    rows = [one for one in result.scores if (one.head, one.cases) == (head, cases) and one.queries]
    if not rows:
        return _say_instead(axes, NOT_MEASURED[head, cases])
    names = [name for name in SIGNS if any(one.observer == name for one in rows)]
    levels = sorted({one.past for one in rows})
    for number, name in enumerate(names):
        curve = [one for one in rows if one.observer == name]
        _curve(axes, curve, [levels.index(one.past) + APART * (number - len(names) / 2) for one in curve], name, unit)
    axes.set_xticks(range(len(levels)), [str(level) for level in levels])
    axes.set(xlabel="past episodes seen", ylabel="accuracy" if unit == "accuracy" else "loss (nats)")
    _from_zero(axes, 1.0 if unit == "accuracy" else axes.get_ylim()[1])
    _legend(axes, names)


def _say_instead(axes: Axes, why: str) -> None:
    """Where there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=style.QUIET)


def _from_zero(axes: Axes, most: float) -> None:
    axes.set_ylim(-ROOM * most, (1 + ROOM) * most)
    axes.axhline(0, color=style.GRID, linewidth=0.6, zorder=0)


def _curve(axes: Axes, curve: list[Score], places: list[float], name: str, unit: str) -> None:
    colour, marker, filled = SIGNS[name]
    estimates = [one.nats if unit == "nats" or one.accuracy is None else one.accuracy for one in curve]
    axes.errorbar(
        places,
        style.means(estimates),
        yerr=style.whiskers(estimates),
        fmt=f"{marker}-",
        color=colour,
        markerfacecolor=colour if filled else "white",
        elinewidth=0.7,
        linewidth=0.8,
        zorder=3,
    )


def _legend(axes: Axes, names: list[str]) -> None:
    handles = [style.sign(name, SIGNS[name][1], SIGNS[name][0], filled=SIGNS[name][2]) for name in names]
    legend = axes.legend(handles=handles, ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1)
    legend.set_in_layout(False)
    axes.set_title(" \n ")


def _calibration(place: SubFigure, result: FitResult) -> None:
    axes = place.subplots()
    axes.plot([0, 1], [0, 1], color=style.QUIET, linewidth=0.7, linestyle=(0, (1, 2)))
    handles = []
    for curve in result.reliability:
        colour, marker, filled = SIGNS[curve.observer]
        x, y = [one.confidence for one in curve.bins], [one.accuracy for one in curve.bins]
        share = np.array([one.count for one in curve.bins]) / max(sum(one.count for one in curve.bins), 1)
        axes.plot(x, y, color=colour, linewidth=0.8, zorder=2)
        face = colour if filled else "white"
        size = SMALLEST + LARGEST * share
        axes.scatter(x, y, s=size, c=face, marker=marker, edgecolors=colour, linewidths=0.8, zorder=3)
        label = f"{curve.observer}, ECE {style.plain(curve.error, 2)}"
        handles.append(style.sign(label, marker, colour, filled=filled))
    axes.legend(handles=handles, loc="upper left")
    axes.set(
        xlim=(-ROOM, 1 + ROOM),
        ylim=(-ROOM, 1 + ROOM),
        xlabel="probability of the likeliest outcome",
        ylabel="share that came true",
    )


def _agents(place: SubFigure, result: FitResult) -> None:
    axes = place.subplots()
    if len(result.points) == 1:
        return _say_instead(axes, "a single agent: there is nobody to compare it with")
    handles: list[Line2D] = []
    for part, (colour, marker) in PART_SIGNS.items():
        points = [one.place for one in result.points if one.part == part]
        if points:
            edge = "white" if marker == "o" else colour  # tells apart those that lie upon each other
            axes.plot(*zip(*points), marker, color=colour, markersize=5, markeredgecolor=edge, alpha=0.8)
            handles.append(style.sign(f"{part} agents", marker, colour))
    axes.legend(handles=handles, loc="best")
    axes.set(xlabel="first principal axis", ylabel="second")
