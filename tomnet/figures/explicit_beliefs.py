"""Figure 13: what agents say they believe, and what the observer thinks they would say."""

import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import SubFigure
from matplotlib.patches import Rectangle

from ..experiments.analysis.examples import PlainState
from ..experiments.explicit_beliefs import Tables
from ..experiments.sally_anne.swap_curves import Who
from ..experiments.sally_anne.swap_examples import SwapExample, SwapExamples
from ..world.levels import LETTERS
from . import style
from .gridworld import OCCUPANCY, draw_agent, draw_level
from .panels import Panel, Panels
from .swap_curves import CONTROL, narrow_and_wide, said

SIDES = {"in_view": "swap in view", "out_of_view": "swap out of view"}
COSTS = {
    "truth": ("forecast of the truth", "P", style.ORANGE, True),
    "control": (*CONTROL, True),
    "observer": ("ToMnet", "o", style.TOMNET, True),
    "entropy": ("agents' own entropy", "D", style.IDEAL, False),
}


def panels(tables: Tables) -> Panels:
    return {
        "figure-13": (
            Panel(
                "a",
                "What the agent says",
                "Eight maps of an agent's belief: two objects in rows; a swap in view left, out of view right, each "
                "without and with the swap.",
                lambda place: _maps(place, tables.examples, "belief"),
                2.25,
            ),
            Panel(
                "b",
                "What ToMnet thinks it would say",
                "The same eight maps as ToMnet predicts them from the agent's behaviour.",
                lambda place: _maps(place, tables.examples, "predicted_belief"),
                2.25,
            ),
            Panel(
                "c",
                "What a swap does to beliefs",
                "D_JS between beliefs by swap distance for 3×3 and 9×9 agents: agents left, ToMnet right.",
                lambda place: narrow_and_wide(place, tables.natural, "belief"),
            ),
            Panel(
                "d",
                "The cost of foretelling beliefs",
                "Cross-entropy with the agents' beliefs for each field of view: of a forecast that everyone believes "
                "the truth, of an observer that sees the query only, of ToMnet, and the agents' own entropy, the least "
                "possible.",
                lambda place: _costs(place, tables),
            ),
        )
    }


def moved(example: SwapExample) -> tuple[int, int]:
    """The preferred object, and the one that takes its place."""
    was = example.no_swap.state.object_cells[example.preferred]
    return example.preferred, example.swap.state.object_cells.index(was)


def _maps(place: SubFigure, examples: SwapExamples, what: str) -> None:
    grid = place.subplots(2, 2 * len(SIDES))
    for side, (name, title) in enumerate(SIDES.items()):
        example = examples.get(name)
        columns = grid[:, 2 * side : 2 * side + 2]
        if example is None:
            for axes in columns.flat:
                axes.set_axis_off()
            columns[0, 0].set_title("none to show", fontsize=7.5)
            continue
        for row, kind in enumerate(moved(example)):
            for col, (future, label) in enumerate(((example.no_swap, "no swap"), (example.swap, "swap"))):
                axes = columns[row, col]
                _belief(axes, future.state, getattr(future, what)[kind], kind)
                if row == 0:
                    axes.set_title(f"{title}:\n{label}" if col == 0 else f"\n{label}", fontsize=7, pad=2)
            columns[row, 0].set_ylabel(LETTERS[kind], rotation=0, labelpad=6, weight="bold")


def _belief(axes: Axes, state: PlainState, belief: np.ndarray, kind: int) -> None:
    """Where an object is believed to be: the darker, the surer; its frame is where it is."""
    size = len(state.walls)
    draw_level(axes, dataclasses.replace(state, object_cells=[]), grid=False)
    cells = belief[: size * size].reshape(size, size)
    edges = np.arange(size + 1) - 0.5
    shown = np.ma.masked_where(state.walls.astype(bool), cells)
    # circles for every place where an unseen object may be would make this figure larger than all others together
    axes.pcolormesh(edges, edges, shown, cmap=OCCUPANCY, norm=PowerNorm(0.5, 0, 1), zorder=1.2)
    row, col = divmod(state.object_cells[kind], size)
    frame = {"fill": False, "edgecolor": style.object_colour(kind), "linewidth": 1.4, "zorder": 6}
    axes.add_patch(Rectangle((col - 0.42, row - 0.42), 0.84, 0.84, **frame))
    draw_agent(axes, state.agent_cell, size)


def _costs(place: SubFigure, tables: Tables) -> None:
    axes = place.subplots()
    rows, x = tables.forecast, np.arange(len(tables.forecast))
    columns = {cost: [getattr(row, cost) for row in rows] for cost in ("truth", "observer", "entropy")}
    columns["control"] = [row.observer for row in tables.control]
    handles = []
    for shift, (cost, (label, marker, colour, filled)) in zip((-0.24, -0.08, 0.08, 0.24), COSTS.items()):
        mark = {} if filled else {"markerfacecolor": "white"}
        costs = columns[cost]
        style.tomnet_points(axes, x + shift, costs, colour=colour, marker=marker, **mark)
        handles.append(style.sign(label, marker, colour, filled=filled))
    axes.set_xticks(x, [style.condition_name(row.condition) for row in rows])
    axes.set(ylabel="nats, all objects")
    axes.set_ylim(bottom=0)
    place.legend(handles=handles, loc="outside lower center", ncols=2)


def captions(tables: Tables) -> dict[str, str]:
    everyone, natural = tables.forecast[-1], tables.natural
    shown = next((example for example in tables.examples.values() if example is not None), None)
    first = ""
    if shown is not None:
        liked, other = (LETTERS[kind] for kind in moved(shown))
        first = (
            f"Beliefs about {liked}, which the agent prefers, and {other}: the darker, the surer; frames show where "
            "each is, dots the agent (a, b). "
        )

    def sides(who: Who, name: str) -> str:
        return " and ".join(said(side.of(who)["belief"]) for side in (natural[name].in_view, natural[name].out_of_view))

    return {
        "figure-13": (
            f"{first}Swaps in view and out of view change the beliefs of 3×3 agents by {sides('agents', '3x3')} nats "
            f"of D_JS and those of 9×9 agents by {sides('agents', '9x9')}; ToMnet predicts {sides('observer', '3x3')}, "
            f"and {sides('observer', '9x9')} (c). Foretelling what held-out agents say costs ToMnet "
            f"{style.plain(everyone.observer.mean)} nats, an observer without a theory of mind, which sees the query "
            f"only, {style.plain(tables.control[-1].observer.mean)}, a forecast of the truth "
            f"{style.plain(everyone.truth.mean)}; "
            f"the agents' own entropy is {style.plain(everyone.entropy.mean)} (d)."
        )
    }
