"""Figure 4: from one trajectory to the next action, the object eaten and the successor map on a new level."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..episodes.targets import GAMMAS
from ..experiments.analysis.comparison import Comparison
from ..experiments.goal_inference import Example, Tables
from ..world.gridworld import ACTIONS
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_occupancy, draw_query, draw_trajectory
from .panels import Panel, Panels

SHOWN_GAMMAS = (0.9, 0.99)  # the paper's Fig. 4d shows the first; the second has the whole way in view
HEAD_TITLES = {"action": "next action", "consumption": "object eaten", "successor": "successor maps"}


def panels(tables: Tables) -> Panels:
    example = tables.example
    return {
        "figure-4": (
            Panel(
                "a–b",
                "One past trajectory, and a new level",
                "Two gridworlds. Left: the agent's past trajectory as arrows. Right: the query state, the "
                "agent as a dot.",
                lambda place: _levels(place, example),
                2.15,
            ),
            Panel(
                "c",
                "Predicted action and object",
                "Bars: probabilities of each action and of each object for ToMnet, open marks for the "
                "ideal observer, a star where it happened.",
                lambda place: _bars(place, example),
                2.15,
            ),
            Panel(
                "d",
                "Successor maps",
                "Shaded maps of the discounted time in each cell, for two discounts: ToMnet, ideal "
                "observer, what happened.",
                lambda place: _successor(place, example),
                2.6,
            ),
            Panel(
                "e",
                "Losses, and the share of what the past can tell",
                "For each prediction, the loss without any past, of ToMnet with a small and a larger "
                "embedding, and of the ideal observer, in nats.",
                lambda place: losses(place, tables.comparison),
                2.6,
            ),
        )
    }


def _levels(place: SubFigure, example: Example) -> None:
    left, right = place.subplots(1, 2)
    draw_trajectory(left, example.past, title="past trajectory")
    draw_query(right, example.query, title="query state")


def _bars(place: SubFigure, example: Example) -> None:
    actions, objects = place.subplots(1, 2, sharey=True)
    tomnet, ideal = example.observer, example.ideal
    x = np.arange(len(ACTIONS))
    actions.bar(x, tomnet.action, width=0.7, color=style.TOMNET)
    style.ideal_marks(actions, x, ideal.action)
    actions.set_xticks(x, style.ACTION_SIGNS)
    actions.set(title="next action", ylabel="probability", ylim=(0, 1.2), yticks=[0, 0.5, 1])
    _happened(actions, example.action_taken, tomnet.action, ideal.action)
    kinds = range(len(tomnet.consumption))
    objects.bar(kinds, tomnet.consumption, width=0.7, color=style.TOMNET)
    style.ideal_marks(objects, kinds, ideal.consumption)
    style.object_ticks(objects, kinds)
    objects.set(title="object eaten")
    if example.eaten is not None:
        _happened(objects, example.eaten, tomnet.consumption, ideal.consumption)
    handles = [style.sign("ToMnet", "s"), style.IDEAL_SIGN, style.HAPPENED_SIGN]
    place.legend(handles=handles, loc="outside lower center", ncols=3)


def _happened(axes: Axes, which: int, *heights: list[float]) -> None:
    """A star above whatever the agent then did."""
    top = max(values[which] for values in heights)
    axes.plot(which, min(top, 1.0) + 0.12, "*", color=style.HAPPENED, markersize=7, zorder=5)


def _successor(place: SubFigure, example: Example) -> None:
    columns = {
        "ToMnet": example.observer.successor,
        "ideal observer": example.ideal.successor,
        "what happened": example.successor_taken,
    }
    grid = place.subplots(len(SHOWN_GAMMAS), len(columns))
    for row, gamma in enumerate(SHOWN_GAMMAS):
        which = GAMMAS.index(gamma)
        largest = max(np.max(columns[name][which]) for name in ("ideal observer", "what happened"))
        for axes, (name, maps) in zip(grid[row], columns.items(), strict=True):
            draw_occupancy(axes, example.query, maps[which], largest=largest, title="" if row else name)
        grid[row, 0].set_ylabel(f"γ = {gamma}")


def losses(place: SubFigure, observers: dict[str, dict[str, Comparison]]) -> None:
    """A small scale for each head, since their losses differ in size; one line for each observer."""
    heads = [head for head in HEAD_TITLES if all(head in table for table in observers.values())]
    every = np.atleast_1d(place.subplots(len(heads), 1))
    for axes, head in zip(every, heads, strict=True):
        for line, table in enumerate(observers.values()):
            row = table[head]
            ends = [row.no_past, row.ideal]
            axes.plot(ends, [line, line], color=style.GRID, linewidth=3, solid_capstyle="butt", zorder=1)
            axes.plot(ends[0], line, "x", color=style.NO_PAST, markersize=5, zorder=2)
            style.ideal_marks(axes, ends[1], line)
            axes.plot(row.observer.mean, line, "o", color=style.TOMNET, markersize=5, zorder=5)
            axes.annotate(
                style.percent_between(row.captured),
                (1, line),
                xycoords=("axes fraction", "data"),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                color=style.TOMNET,
            )
        axes.set_yticks(range(len(observers)), [dimensions(name) for name in observers])
        axes.set_ylim(len(observers) - 0.5, -0.6)
        axes.margins(x=0.06)
        axes.set_title(HEAD_TITLES[head], loc="left", pad=2)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    every[-1].set_xlabel("loss, nats (less is better); right: share captured")
    handles = [style.IDEAL_SIGN, style.TOMNET_SIGN, style.sign("no past", "x", style.NO_PAST)]
    place.legend(handles=handles, loc="outside lower center", ncols=3)


def dimensions(observer: str) -> str:
    """`2d` → `2-D`."""
    return observer.replace("d", "-D")


def captions(tables: Tables) -> dict[str, str]:
    shares = "; ".join(
        f"{name}: {style.percent(row.captured.mean)}, loss {style.plain(row.observer.mean)} against "
        f"{style.plain(row.ideal)} for the ideal observer and {style.plain(row.no_past)} without a past"
        for name, row in ((HEAD_TITLES[head], tables.comparison["2d"][head]) for head in HEAD_TITLES)
    )
    return {
        "figure-4": (
            f"Goal-driven agents, seen for one trajectory (a). On a new level (b) {_expected(tables.example)} (c). "
            "Where it will walk, expected and then seen (d). "
            f"Share of what the past can tell, over all agents and with a 2-D embedding — {shares} (e)."
        )
    }


def _expected(example: Example) -> str:
    eaten = example.eaten
    if eaten is None:
        return "this agent eats nothing; what ToMnet and the ideal observer expect of it"
    return (
        f"ToMnet gives the object that this agent then eats ({LETTERS[eaten]}) a probability of "
        f"{style.plain(example.observer.consumption[eaten], 2)}, the ideal observer "
        f"{style.plain(example.ideal.consumption[eaten], 2)}"
    )
