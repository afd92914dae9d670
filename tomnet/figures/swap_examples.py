"""Figure 10: a way to the subgoal, then a swap in view and one out of view, and how two worlds go on from there."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..experiments.sally_anne.swap_examples import SwapExample, SwapExamples
from ..support.words import counted
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_agent, draw_change, draw_fog, draw_level, draw_swap, draw_trajectory, with_subgoal
from .panels import Panel, Panels

SWAPS = {"in_view": "swap in view", "out_of_view": "swap out of view"}


def swap_example_panels(examples: SwapExamples) -> Panels:
    """Figure 10: a way to the subgoal, a swap in view and one out of view, and what they change."""
    shown = {name: example for name, example in examples.items() if example is not None}
    if not shown:
        return {}

    def each(draw) -> Any:
        def panel(place: SubFigure) -> None:
            columns = np.atleast_1d(place.subplots(1, len(shown)))
            for axes, (name, example) in zip(columns, shown.items()):
                draw(axes, example, SWAPS[name])

        return panel

    return {
        "figure-10": (
            Panel(
                "a",
                "The way to the subgoal (★)",
                "Gridworlds with the agent's trajectory to the subgoal. Dark cells were never in view, light ones "
                "were, white ones are in view when the subgoal is eaten.",
                each(_way),
                2.2,
            ),
            Panel(
                "b",
                "Objects change places",
                "The same gridworlds just after a swap, with an arrow from the old to the new place of each object: "
                "once within the field of view, once outside it.",
                each(_swap),
                2.2,
            ),
            Panel(
                "c",
                "The next action",
                "Bars: the probability of each action with and without the swap. "
                + " ".join(
                    f"{SWAPS[name].capitalize()}: D_JS {nats(example.policy_change)}."
                    for name, example in shown.items()
                ),
                lambda place: _policies(place, shown),
                2.3,
            ),
            Panel(
                "d",
                "Where the agent then spends its time",
                "Gridworlds coloured by the change of the mean discounted occupancy that the swap makes: blue for "
                "more, vermillion for less.",
                lambda place: _successors(place, shown),
                2.35,
            ),
        )
    }


def _way(axes: Axes, example: SwapExample, title: str) -> None:
    draw_trajectory(axes, with_subgoal(example.episode), title=title)
    draw_fog(axes, example.visibility)
    axes.set_xlabel(f"this agent prefers {LETTERS[example.preferred]}", fontsize=7)


def _swap(axes: Axes, example: SwapExample, title: str) -> None:
    state = with_subgoal(example.swap.state)
    draw_level(axes, state)
    draw_fog(axes, example.visibility)
    before = with_subgoal(example.no_swap.state).object_cells
    draw_swap(axes, before, state.object_cells, len(state.walls))
    draw_agent(axes, state.agent_cell, len(state.walls))
    width = example.field_of_view
    away = counted(example.distance, "cell")
    axes.set_xlabel(f"nearest change {away} away,\nfield of view {width}×{width}", fontsize=7)


def _policies(place: SubFigure, shown: dict[str, SwapExample]) -> None:
    columns = np.atleast_1d(place.subplots(1, len(shown), sharey=True))
    x = np.arange(len(style.ACTION_SIGNS))
    for axes, (name, example) in zip(columns, shown.items()):
        axes.bar(x - 0.2, example.no_swap.policy, width=0.38, color=style.NO_PAST, label="no swap")
        axes.bar(x + 0.2, example.swap.policy, width=0.38, color=style.TOMNET, label="swap")
        axes.set(ylim=(0, 1.05), yticks=(0, 0.5, 1))
        axes.set_xticks(x, style.ACTION_SIGNS)
        axes.tick_params(axis="x", length=0)
        axes.set_title(f"{SWAPS[name].removeprefix('swap ')}: $D_{{JS}}$ = {nats(example.policy_change)}", fontsize=7.5)
    columns[0].set_ylabel("probability")
    place.legend(*columns[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def _successors(place: SubFigure, shown: dict[str, SwapExample]) -> None:
    columns = np.atleast_1d(place.subplots(1, len(shown)))
    changes = {name: example.swap.successor[-1] - example.no_swap.successor[-1] for name, example in shown.items()}
    largest = max(float(np.abs(change).max()) for change in changes.values()) or 1.0
    for axes, (name, example) in zip(columns, shown.items()):
        state = with_subgoal(example.swap.state)
        mesh = draw_change(axes, state, changes[name], largest=largest, title=SWAPS[name])
        draw_agent(axes, state.agent_cell, len(state.walls))
    bar = place.colorbar(mesh, ax=list(columns), shrink=0.65, aspect=22, pad=0.01)
    bar.set_label("occupancy, swap − no swap", fontsize=7)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(length=2, labelsize=7)


def swap_example_caption(examples: SwapExamples) -> str:
    said = []
    for name, example in examples.items():
        if example is None:
            said.append(f"no {SWAPS[name]} among these agents")
        else:
            policies, beliefs = nats(example.policy_change), nats(example.belief_change)
            said.append(f"{SWAPS[name]}, D_JS between the two next policies {policies}, between the beliefs {beliefs}")
    one = next((example for example in examples.values() if example is not None), None)
    how = ""
    if one is not None:
        gamma = style.plain(one.gammas[-1], 2)
        how = f" Occupancy (d) is discounted by {gamma}, the mean of {one.rollouts} stochastic rollouts."
    return (
        "The subgoal task, in which agents can come to hold false beliefs: when the subgoal is eaten, the other "
        f"objects may change places. Here: {'; '.join(said)} (c).{how}"
    )


def nats(value: float) -> str:
    """An effect of exactly nothing is said to be nothing."""
    return "0" if value == 0 else f"{style.plain(value)} nats"
