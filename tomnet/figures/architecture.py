"""Figure 1: the parts of the observer. It shows no result, so it needs none."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from ..experiments.analysis.examples import PlainEpisode, PlainState
from . import style
from .gridworld import draw_level, draw_query, draw_trajectory
from .panels import Panel, compose

Number = float | int
LATER = "#9A9A9A"
CAPTION = (
    "ToMnet. The character net reads an agent's past episodes into a character embedding. With it, and "
    "with the state that is asked about, the prediction net says what the agent will do next, which object "
    "it will eat, and where it will spend its time. The mental net (grey) reads the current episode so "
    "far; the experiments up to section 3.2 do without it."
)
ALT = (
    "Diagram: past episodes feed the character net, giving the character embedding; the current episode "
    "feeds the mental net, drawn grey; both and the query state feed the prediction net, which has three "
    "heads: next action, object eaten, successor maps."
)

# A level small enough to follow by eye: the agent walks around a wall to B; then it is asked about elsewhere.
WALLS = np.array([[0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
PAST = PlainEpisode(
    WALLS, agent_cells=[2, 1, 0, 5, 10, 15], object_cells=[9, 20], actions=[2, 2, 1, 1, 1, 1], final_cell=20
)
RECENT = PlainEpisode(WALLS, agent_cells=[18], object_cells=[4, 21], actions=[2], final_cell=17)
QUERY = PlainState(WALLS, agent_cell=17, object_cells=[4, 21])
EMPTY = PlainState(np.zeros_like(WALLS), agent_cell=0, object_cells=[])


def architecture_figure() -> Figure:
    return compose([architecture_panel()], columns=1)


def architecture_panel() -> Panel:
    return Panel("", "", ALT, _draw, 3.3)


def _draw(place: SubFigure) -> None:
    axes = place.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 34), ylim=(0, 33))
    axes.axis("off")
    for step in (0.9, 0.45):  # a stack: there may be several past episodes, or none
        _level(place, (1.0 + step, 1.0 + step), EMPTY, draw_level)
    _level(place, (1.0, 1.0), PAST, draw_trajectory)
    _level(place, (12.6, 1.0), RECENT, draw_trajectory)
    _level(place, (24.2, 1.0), QUERY, draw_query)
    for x, text, colour in (
        (4.6, "past episodes", style.IDEAL),
        (15.6, "current episode", LATER),
        (27.2, "query state", style.IDEAL),
    ):
        axes.text(x, 0.1, text, ha="center", va="bottom", fontsize=7.5, color=colour)
    _box(axes, (1, 11.2, 7.6, 3.4), "character\nnet", style.TOMNET)
    _box(axes, (11.8, 11.2, 7.6, 3.4), "mental\nnet", LATER)
    _box(axes, (1, 19.8, 32, 4.2), "prediction net", style.TOMNET)
    _arrow(axes, (4.8, 9.4), (4.8, 11.2))
    _arrow(axes, (15.6, 8.6), (15.6, 11.2), LATER)
    _arrow(axes, (4.8, 14.6), (4.8, 19.8))
    _arrow(axes, (15.6, 14.6), (15.6, 19.8), LATER)
    _arrow(axes, (27.2, 8.6), (27.2, 19.8))
    axes.text(5.5, 17.0, "$e_{char}$", fontsize=9, va="center")
    axes.text(16.3, 17.0, "$e_{mental}$", fontsize=9, va="center", color=LATER)
    axes.text(19.8, 12.9, "in later\nsections", fontsize=7, va="center", color=LATER, style="italic")
    heads = (
        (7.6, "$\\hat{\\pi}$", "next action"),
        (17, "$\\hat{c}$", "object eaten"),
        (26.4, "$\\widehat{SR}$", "successor map"),
    )
    for x, symbol, text in heads:
        _arrow(axes, (x, 24.0), (x, 26.6))
        axes.text(x, 27.0, symbol, ha="center", va="bottom", fontsize=10)
        axes.text(x, 30.2, text, ha="center", va="bottom", fontsize=8)


def _level(place: SubFigure, corner: tuple[Number, Number], state: PlainState | PlainEpisode, draw: Callable) -> None:
    left, bottom = corner
    inset = place.add_axes((left / 34, (bottom + 1.6) / 33, 6 / 34, 6 / 33))
    draw(inset, state)


def _box(axes: Axes, corner_and_size: tuple[Number, Number, Number, Number], text: str, colour: str) -> None:
    left, bottom, width, height = corner_and_size
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.8",
            facecolor=style.tint(colour, 0.14),
            edgecolor=colour,
            linewidth=1.1,
        )
    )
    axes.text(left + width / 2, bottom + height / 2, text, ha="center", va="center", fontsize=8.5)


def _arrow(axes: Axes, start: tuple[Number, Number], end: tuple[Number, Number], colour: str = style.IDEAL) -> None:
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=7, color=colour, linewidth=1, shrinkA=0, shrinkB=0)
    )
