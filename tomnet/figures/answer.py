"""What an observer says of an agent, drawn: what was seen of it, what it will do, and where it will be.

from tomnet.experiments.analysis.answer_example import answer_example
from tomnet.figures.answer import answer_figure
answer_figure(answer_example(tomnet.meet("goal-inference/2d", past), level)).savefig("ann.png")
"""

import numpy as np
from matplotlib.figure import Figure, SubFigure

from ..asking.answer import Answer
from ..experiments.analysis.answer_example import AnswerExample
from ..experiments.analysis.examples import PlainEpisode, PlainState
from . import style
from .gridworld import draw_agent, draw_occupancy, draw_query, draw_trajectory
from .panels import Panel, compose

SHOWN = 2  # past episodes
GAMMA = 0.9


def answer_figure(example: AnswerExample) -> Figure:
    """The last of the past episodes, the state asked about, and the answer; only what the observer has heads for."""
    past, query, said = example.past[-SHOWN:], example.query, example.said
    panels = [
        Panel("a", "What was seen, and a new level", _ALT["seen"], lambda place: _levels(place, past, query), 2.15),
        Panel("b", "What it will do, and take", _ALT["bars"], lambda place: _bars(place, said), 2.15),
    ]
    if "successor" in said.heads:
        panels.append(Panel("c", "Where it will be", _ALT["maps"], lambda place: _map(place, said, query), 2.15))
    return compose(panels, columns=len(panels))


_ALT = {
    "seen": "Gridworlds: past episodes as arrows, then the state asked about, the agent as a dot.",
    "bars": "Bars: the probability of each action, and of each object that it is taken.",
    "maps": "A map, shaded by how much of its time the agent will spend in each cell.",
}


def _levels(place: SubFigure, past: list[PlainEpisode], query: PlainState) -> None:
    *before, now = np.atleast_1d(place.subplots(1, len(past) + 1))
    for axes, episode in zip(before, past, strict=True):
        draw_trajectory(axes, episode, title="past")
    draw_query(now, query, title="asked about")


def _bars(place: SubFigure, said: Answer) -> None:
    heads = [head for head in ("action", "consumption") if head in said.heads]
    every = np.atleast_1d(place.subplots(1, len(heads), sharey=True))
    for axes, head in zip(every, heads, strict=True):
        told = getattr(said, head)
        axes.bar(range(len(told)), told.array, width=0.7, color=style.TOMNET)
        ticks = style.ACTION_SIGNS if head == "action" else told.names
        axes.set_xticks(range(len(told)), ticks)
        axes.set(title="next action" if head == "action" else "taken", ylim=(0, 1), yticks=[0, 0.5, 1])
    every[0].set_ylabel("probability")


def _map(place: SubFigure, said: Answer, query: PlainState) -> None:
    axes, shares = place.subplots(), said.successor[GAMMA]
    draw_occupancy(axes, query, shares, largest=float(shares.max()), title=f"successor map, γ = {GAMMA}")
    draw_agent(axes, query.agent_cell, len(query.walls))
