"""How a population of deep RL agents learned, from the rows of its metrics.jsonl."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from . import style
from .panels import Panel, Panels
from .population_evaluation import COLOURS, in_order

WINDOW = 5  # reports that a learning curve is averaged over


def learning_curves(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, np.ndarray]]:
    """By condition: steps, and the return of each network then, `[time, network]`; nan before its first episode ended.

    Networks take turns through the conditions, chunk after chunk, as `PopulationTraining.indices_of` deals them out.
    """
    conditions = list(dict.fromkeys(name for row in rows for name in row["returns"]))
    steps = sorted({row["steps"] for row in rows})
    chunks = 1 + max(row["chunk"] for row in rows)
    width = len(rows[0]["each"])
    each = np.full((len(steps), chunks * width), np.nan)
    for row in rows:
        mine = slice(row["chunk"] * width, (row["chunk"] + 1) * width)
        each[steps.index(row["steps"]), mine] = [style.number(value) for value in row["each"]]
        for lost in row["diverged"]:
            each[steps.index(row["steps"]), row["chunk"] * width + lost] = np.nan
    owner = np.arange(chunks * width) % len(conditions)
    return {
        name: {"steps": np.array(steps), "returns": each[:, owner == place]} for place, name in enumerate(conditions)
    }


def learning_panels(rows: Sequence[dict[str, Any]]) -> Panels:
    return {
        "learning-curves": (
            Panel(
                "",
                "Learning, by species",
                "Return per episode against the steps of each network. A line for the mean of a species' networks, "
                f"a band from the worst to the best of them; all are running means of {WINDOW} reports.",
                lambda place: _learning(place, learning_curves(rows)),
                3.0,
            ),
        )
    }


def _learning(place: SubFigure, curves: dict[str, dict[str, np.ndarray]]) -> None:
    axes = place.subplots()
    ends, last = {}, max(curve["steps"][-1] for curve in curves.values())
    unit, many = ("millions", 1e6) if last >= 1e6 else ("thousands", 1e3)
    for name in in_order(curves):
        steps, returns = curves[name]["steps"], smooth(curves[name]["returns"])
        there = np.isfinite(returns).any(1)
        if not there.any():
            continue
        steps, returns = steps[there] / many, returns[there]
        colour = COLOURS.get(name, style.PURPLE)
        axes.fill_between(steps, np.nanmin(returns, 1), np.nanmax(returns, 1), color=colour, alpha=0.18, linewidth=0)
        dashes = "--" if name.startswith("stateless") else "-"
        dot = "o" if len(steps) == 1 else ""  # a line of one point would not be seen
        axes.plot(
            steps, np.nanmean(returns, 1), marker=dot, color=colour, linestyle=dashes, linewidth=1.3, clip_on=False
        )
        ends[name] = float(np.nanmean(returns[-1]))
    axes.set(xlabel=f"steps of each network, in {unit}", ylabel="return of an episode")
    axes.set_xlim(0, last / many)
    _name_ends(axes, ends)


def smooth(values: np.ndarray, window: int = WINDOW) -> np.ndarray:
    """A running mean over the last few rows, which hold few episodes each."""
    seen = np.isfinite(values)
    total = np.cumsum(np.where(seen, values, 0), axis=0)
    count = np.cumsum(seen, axis=0)
    total[window:], count[window:] = total[window:] - total[:-window], count[window:] - count[:-window]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _name_ends(axes: Axes, ends: dict[str, float]) -> None:
    """Each line named at its end: no need to match colours to a legend."""
    low, high = axes.get_ylim()
    names = sorted(ends, key=lambda name: ends[name])
    for name, place in zip(names, apart([ends[name] for name in names], 0.062 * (high - low))):
        axes.annotate(
            style.condition_name(name),
            (1, place),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=COLOURS.get(name, style.PURPLE),
            weight="bold",
        )


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Sorted places, moved as little as need be for neighbours to be a gap apart."""
    groups = [[place, 1] for place in places]  # the middle of a run of neighbours, and how many they are
    merged = []
    for group in groups:
        merged.append(group)
        while len(merged) > 1 and merged[-1][0] - merged[-2][0] < gap * (merged[-1][1] + merged[-2][1]) / 2:
            (middle, count), (before, others) = merged.pop(), merged.pop()
            merged.append([(middle * count + before * others) / (count + others), count + others])
    return [middle + gap * (i - (count - 1) / 2) for middle, count in merged for i in range(count)]
