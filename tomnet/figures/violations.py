"""Violations of expectation: the maze, the way so far, what was expected (blue) and what was done (vermillion)."""

import re
from collections.abc import Iterable, Mapping
from os.path import commonprefix

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..experiments.analysis.examples import PlainState
from ..recordings.moves import OFFSETS
from ..recordings.recording import SUBGOAL as SUBGOAL_LETTER
from ..watch.result import Moment, Shares
from . import style
from .gridworld import SUBGOAL, draw_agent, draw_level, draw_object
from .panels import Panel

HEIGHT = 2.2
MOST_BARS = 6  # actions
FAINTEST = 0.03  # probability of an action that is given an arrow
LONGEST = 18  # characters of a name
SHORT = 0.8  # cells: an arrow to an object leaves its letter free
HALO = [patheffects.withStroke(linewidth=1.6, foreground="white")]


def violation_panels(moments: list[Moment], kinds: list[str], names: Mapping[str, str]) -> list[Panel]:
    """`names`: those of agents, as they are short."""
    return [
        Panel(
            chr(ord("a") + number) if len(moments) > 1 else "",
            f"{names.get(moment.agent) or short(moment.agent)}, episode {short(moment.episode)}, "
            f"step {moment.step.time + 1}: {style.plain(moment.step.nats, 1)} nats",
            f"The maze with the way so far: {moment.step.done} was done, {likeliest(moment.step.action)} was expected.",
            lambda place, moment=moment: _draw(place, moment, kinds),
            HEIGHT,
            stretches=False,
        )
        for number, moment in enumerate(moments)
    ]


def likeliest(said: Shares) -> str:
    """`C 0.97`: a name and its probability."""
    if not said:
        return style.NOTHING
    name = max(said, key=said.__getitem__)
    return f"{name} {style.plain(said[name], 2)}"


def short(name: str) -> str:
    """A name that somebody chose, as a figure can hold it."""
    return style.drawable(name if len(name) <= LONGEST else f"{name[:8]}…{name[-9:]}")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """The same of many: long ones without the words that all of those begin or end with, which tell nobody apart."""
    names = list(names)
    long = [name for name in names if len(name) > LONGEST]
    begin = end = 0
    if len(long) > 1:
        begin = len(re.sub(r"[^\W_]*$", "", commonprefix(long)))
        end = len(re.sub(r"[^\W_]*$", "", commonprefix([name[begin:][::-1] for name in long])))
    apart = {name: ("…" if begin else "") + name[begin : len(name) - end] + ("…" if end else "") for name in long}
    return {name: short(apart.get(name, name)) for name in names}


def _draw(place: SubFigure, moment: Moment, kinds: list[str]) -> None:
    maze, bars = place.subplots(1, 2, width_ratios=(1.7, 1))
    _maze(maze, moment, kinds)
    _bars(bars, moment)


def _maze(axes: Axes, moment: Moment, kinds: list[str]) -> None:
    cols = moment.walls.shape[1]
    draw_level(axes, PlainState(moment.walls.astype(int), moment.path[-1], []))
    for letter, cell in moment.objects:
        kind = SUBGOAL if letter == SUBGOAL_LETTER else kinds.index(letter) % SUBGOAL  # there are so many colours
        draw_object(axes, kind, *divmod(cell, cols), letter=letter)
    rows, columns = np.divmod(moment.path, cols)
    axes.plot(columns, rows, color=style.HAPPENED, linewidth=1.2, solid_capstyle="round", zorder=5.5)
    draw_agent(axes, moment.path[-1], cols)
    for name, share in moment.step.action.items():
        if share >= FAINTEST and name != moment.step.done:
            _arrow(axes, moment, name, 0.6 + 1.2 * share, style.TOMNET)
    _arrow(axes, moment, moment.step.done or "", 1.3, style.HAPPENED)


def _arrow(axes: Axes, moment: Moment, action: str, length: float, colour: str) -> None:
    """Of moves by direction; of other actions only the bars tell."""
    if action not in OFFSETS:
        return
    cols = moment.walls.shape[1]
    (row, col), (down, right) = divmod(moment.path[-1], cols), OFFSETS[action]
    ahead = (row + down) * cols + col + right
    if ahead in [cell for _, cell in moment.objects]:
        length = min(length, SHORT)
    if not (down or right):
        axes.plot(col, row, "o", color=colour, fillstyle="none", markersize=9, markeredgewidth=1.4, zorder=7)
        return
    axes.annotate(
        "",
        (col + length * right, row + length * down),
        (col, row),
        arrowprops={
            "arrowstyle": "-|>,head_length=0.35,head_width=0.2",
            "color": colour,
            "linewidth": 1.8,
            "shrinkA": 2,
            "shrinkB": 0,
            "path_effects": HALO,
        },
        zorder=7,
        annotation_clip=False,
    )


def _bars(axes: Axes, moment: Moment) -> None:
    said, done = moment.step.action, moment.step.done
    shown = sorted(said, key=lambda name: (name != done, -said[name]))[:MOST_BARS]
    shown = [name for name in said if name in shown]  # in the order of the actions, the one that was done among them
    colours = [style.HAPPENED if name == done else style.TOMNET for name in shown]
    axes.barh(range(len(shown)), [said[name] for name in shown], height=0.7, color=colours)
    axes.set_yticks(range(len(shown)), [short(name) for name in shown])
    for label, name in zip(axes.get_yticklabels(), shown, strict=True):
        label.set(color=style.HAPPENED if name == done else "black", weight="bold" if name == done else "normal")
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", "½", "1"])
    axes.set_title("expected next", fontsize=7.5)
    after = f"will take: {style.drawable(likeliest(moment.step.taken))}" if moment.step.taken else ""
    axes.set_xlabel(after, fontsize=7.5)
