"""One style for every figure: colours that the colour-blind can tell apart, the same sign for the same thing.

ToMnet is always blue and filled, the ideal observer always dark and open (or a thin line), what the
agent then did always vermillion, and what can be said without any past always grey.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib import colormaps, font_manager
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from ..experiments.analysis.statistics import Estimate
from ..world.levels import LETTERS

Colour = str | tuple[float, float, float]

# Okabe and Ito's palette, less yellow, too pale on paper, and black, which is the ideal observer's.
ORANGE, SKY_BLUE, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

TOMNET, IDEAL, HAPPENED, NO_PAST = BLUE, "#1A1A1A", VERMILLION, "#8A8A8A"
OBJECTS = (ORANGE, SKY_BLUE, GREEN, PURPLE)
WALL, GRID, QUIET = "#4D4D4D", "#E4E4E4", "#666666"

ACTION_COLOURS = (ORANGE, SKY_BLUE, GREEN, PURPLE, "#555555")
ACTION_MARKERS = ("^", "v", "<", ">", "o")  # the shape says it too, for those who do not see the colour
NOTHING = "—"  # in place of a number that could not be measured
ACTION_SIGNS = ("↑", "↓", "←", "→", "stay")
CONDITION_SIGNS = {
    "blind": ("D", NO_PAST),
    "3x3": ("o", ORANGE),
    "5x5": ("s", GREEN),
    "7x7": ("^", SKY_BLUE),
    "9x9": ("v", BLUE),
}
"""Marker and colour of deep RL agents, by what they see."""

RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine draws the same file
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "legend.handletextpad": 0.3,
    "legend.columnspacing": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.0,
    "lines.markersize": 4.5,
    "patch.linewidth": 0.6,
    "figure.dpi": 200,
    "text.hinting": "none",  # so that text is as wide on screen as in a file, and a layout fits both
    "svg.fonttype": "path",
    "svg.hashsalt": "tomnet",  # otherwise the names inside an SVG are random, and no two runs agree
    "path.simplify": False,
}


def object_colour(kind: int) -> str:
    return OBJECTS[kind % len(OBJECTS)]


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white: strength 1 is the colour itself."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def blues(count: int) -> list[tuple[float, float, float]]:
    """From light to ToMnet's blue, for a series such as N_past."""
    return [tint(TOMNET, strength) for strength in np.linspace(0.4, 1, count)]


def graded(count: int) -> list[tuple[float, float, float]]:
    """Colours in order of lightness and of hue, for a series with more steps than shades of blue can show."""
    return [to_rgb(colour) for colour in colormaps["viridis"](np.linspace(0.9, 0, count))[:, :3]]


def number(value: Any) -> float:
    """JSON has no NaN: what could not be measured is written as null."""
    return math.nan if value is None else float(value)


def means(estimates: Sequence[Estimate]) -> np.ndarray:
    return np.array([each.mean for each in estimates])


def whiskers(estimates: Sequence[Estimate]) -> np.ndarray:
    """Distances down and up to the ends of the 95% intervals, as `errorbar` wants them."""
    down = [each.mean - each.low for each in estimates]
    up = [each.high - each.mean for each in estimates]
    return np.maximum(np.nan_to_num([down, up]), 0)


def tomnet_points(
    axes: Axes, x, estimates: Sequence[Estimate], *, colour: Colour = TOMNET, marker: str = "o", **kwargs
):
    """ToMnet: filled marks with their 95% intervals."""
    bars = {"yerr": whiskers(estimates), "ecolor": colour, "elinewidth": 0.8}
    return axes.errorbar(x, means(estimates), fmt=marker, color=colour, zorder=3, **bars, **kwargs)


def ellipses(axes: Axes, mean: np.ndarray, deviation: np.ndarray, colour: Any, *, marker: str = "o") -> None:
    """One standard deviation around each mean; the more there are, the lighter, or the last would hide the others."""
    if not len(mean):
        return
    size, alpha = 2 * deviation, min(0.25, 1.5 / len(mean))
    axes.plot(*mean.T, marker, color=colour, markersize=2, markeredgewidth=0, zorder=3)
    axes.add_collection(
        EllipseCollection(
            *(size[:, 0], size[:, 1], np.zeros(len(mean))),
            units="xy",
            offsets=mean,
            offset_transform=axes.transData,
            facecolor=(*to_rgb(colour), alpha),
            edgecolor=(*to_rgb(colour), 0.6),
            linewidth=0.5,
        )
    )


def condition_name(condition: str) -> str:
    return condition.replace("x", "×").replace("-", " ")


def dimension_name(number: int) -> str:
    return f"$e_{{char}}$, dimension {number + 1}"


def ideal_line(axes: Axes, x, y, **kwargs):
    """The ideal observer: a thin dark line."""
    return axes.plot(x, y, **{"color": IDEAL, "linewidth": 0.8, "zorder": 2, **kwargs})


def ideal_marks(axes: Axes, x, y, **kwargs):
    """The ideal observer where a line would make no sense: open marks."""
    style = {
        "marker": "D",
        "s": 22,
        "facecolor": "white",
        "edgecolor": IDEAL,
        "linewidth": 0.9,
        "zorder": 4,
        "clip_on": False,
    }
    return axes.scatter(x, y, **{**style, **kwargs})


def sign(label: str, marker: str, colour: Colour = TOMNET, *, filled: bool = True, line: bool = False) -> Line2D:
    """An entry of a legend."""
    return Line2D(
        [],
        [],
        color=colour,
        marker=marker,
        markersize=4.5,
        markerfacecolor=colour if filled else "white",
        linestyle="-" if line else "",
        linewidth=0.8,
        label=label,
    )


TOMNET_SIGN = sign("ToMnet", "o")
IDEAL_SIGN = sign("ideal observer", "D", IDEAL, filled=False)
IDEAL_LINE = sign("ideal observer", "", IDEAL, line=True)
HAPPENED_SIGN = sign("what happened", "*", HAPPENED)


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(font_manager.get_font(font_manager.findfont(RC["font.family"])).get_charmap())


def drawable(text: str) -> str:
    """Somebody's text: a box stands for what the font does not have, and a dollar sign for itself."""
    return "".join(char if ord(char) in _glyphs() else "□" for char in text).replace("$", r"\$")


def legend_above(axes: Axes, handles: Sequence[Line2D]) -> None:
    """A legend in the margin above, where it covers no data."""
    legend = axes.legend(
        handles=handles,
        ncols=len(handles),
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.1,
        borderpad=0.2,
    )
    legend.set_in_layout(False)  # a wide legend must not make the axes narrow; an empty title keeps its place
    axes.set_title(" ")


def reference(axes: Axes, y: float, label: str, *, outside: bool = False) -> None:
    """A dotted level to compare with, such as chance, named where it runs or, among data, beside the axes."""
    axes.axhline(y, color=QUIET, linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)
    axes.annotate(
        label,
        (1, y),
        xycoords=("axes fraction", "data"),
        xytext=(3, 0) if outside else (0, 2),
        textcoords="offset points",
        ha="left" if outside else "right",
        va="center" if outside else "bottom",
        fontsize=7,
        color=QUIET,
    )


def object_ticks(axes: Axes, kinds: Sequence[int]) -> None:
    """Objects along the x-axis, as they look in a level."""
    axes.set_xticks(list(kinds), [LETTERS[kind] for kind in kinds])
    axes.tick_params(axis="x", length=0, pad=7)
    for kind, label in zip(kinds, axes.get_xticklabels(), strict=True):
        square = {
            "boxstyle": "square,pad=0.2",
            "facecolor": object_colour(kind),
            "edgecolor": IDEAL,
            "linewidth": 0.6,
        }
        label.set(bbox=square, weight="bold")


def percent(share: Any) -> str:
    return NOTHING if not math.isfinite(number(share)) else f"{plain(100 * number(share), 0)}%"


def percent_between(share: Estimate) -> str:
    """`88% [85, 91]`: a share and its 95% interval, where it has one."""
    low, high = (100 * end for end in share.interval)
    return percent(share.mean) + (f" [{plain(low, 0)}, {plain(high, 0)}]" if math.isfinite(low + high) else "")


def plain(value: Any, digits: int = 3) -> str:
    """A number for a reader: few digits, but never a 0.000 that is not zero; a minus that is not a hyphen."""
    value = number(value)
    if not math.isfinite(value):
        return NOTHING
    if digits and 1e-6 < abs(value) < 0.5 * 10**-digits:
        digits = math.ceil(-math.log10(abs(value)))  # up to the first that is not 0
    tiny = digits and value and abs(value) < 0.5 * 10**-digits
    return (f"{value:.1g}" if tiny else f"{value:.{digits}f}").replace("-", "−")
