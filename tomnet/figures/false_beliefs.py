"""Figures 11 and 12a-b: agents with a 5×5 field of view, and what their observer knows of it."""

import numpy as np
from matplotlib.figure import SubFigure

from ..episodes.targets import GAMMAS
from ..experiments.analysis.statistics import Estimate
from ..experiments.false_beliefs import Tables
from ..experiments.sally_anne.swap_curves import Curves, PairMean
from ..experiments.sally_anne.turning_back import Picture, TurningTable
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_field_of_view, draw_query, draw_trajectory, with_subgoal
from .panels import Panel, Panels
from .swap_curves import (
    ACROSS,
    COLOURS,
    CONTROL,
    GAMMA_SIGNS,
    WHO,
    from_zero,
    said,
    series,
    shade_view,
    side_by_side,
)


def panels(tables: Tables) -> Panels:
    natural, turning = tables.natural, tables.turning_back
    liked = LETTERS[tables.pictures[0].preferred]
    return {
        "figure-11": (
            Panel(
                "a",
                f"Led from {liked} to the subgoal; then a swap",
                "Four gridworlds in two rows: an agent's path from what it likes to the subgoal, and the same level "
                "after a swap, with the agent's field of view as a dashed square: the swap lies inside it "
                "above, outside below.",
                lambda place: _pictures(place, tables.pictures, turning.reach),
                4.0,
            ),
            Panel(
                "b",
                f"How much less likely it is to turn back to {liked}",
                "Relative drop of the probability of turning back by swap distance: agents left, ToMnet right; grey "
                "ground marks distances in view.",
                lambda place: _drops(place, turning),
                4.0,
            ),
            Panel(
                "c",
                "Probability of turning back where nothing was swapped",
                "Probability of turning back by distance without a swap, for agents and ToMnet.",
                lambda place: _turning(place, turning),
                2.3,
            ),
        ),
        "figure-12a-b": (
            Panel(
                "a",
                "What a swap does to the next step",
                "D_JS between next-step policies with and without a swap, by swap distance: agents left; right ToMnet, "
                "and an observer that sees the query only.",
                lambda place: _policies(place, natural, tables.control),
            ),
            Panel(
                "b",
                "What a swap does to the way ahead",
                "D_JS between successor maps by swap distance, a series for each discount: agents left, ToMnet right.",
                lambda place: _successors(place, natural),
            ),
        ),
    }


def _pictures(place: SubFigure, pictures: list[Picture], reach: int) -> None:
    grid = place.subplots(len(pictures), 2)
    for axes, picture in zip(grid, pictures):
        far, size = picture.distance, len(picture.swap.walls)
        draw_trajectory(axes[0], with_subgoal(picture.episode), title=f"{far} cells from {LETTERS[picture.preferred]}")
        draw_query(axes[1], with_subgoal(picture.swap), title="swap in view" if far <= reach else "swap out of view")
        draw_field_of_view(axes[1], picture.swap.agent_cell, reach, size)


def _drops(place: SubFigure, table: TurningTable) -> None:
    both = place.subplots(2, 1, sharex=True, sharey=True)
    rows = table.by_distance
    far = np.array([row.distance for row in rows])
    for axes, (who, title) in zip(both, WHO.items()):
        shade_view(axes, table.reach)
        drops = [_in_percent(row.of(who)["drop"]) for row in rows]
        axes.bar(far, style.means(drops), width=0.6, color=style.tint(COLOURS[who], 0.45), zorder=1)
        style.tomnet_points(axes, far, drops, colour=COLOURS[who])
        axes.axhline(0, color=style.QUIET, linewidth=0.6)
        axes.set_title(title, fontsize=7.5)
        axes.set_ylabel("$\\Delta\\pi_L$, %")
    both[1].set(ylim=(min(-5, both[1].get_ylim()[0]), max(105, both[1].get_ylim()[1])))
    both[1].set(xlabel=ACROSS, xticks=far, xlim=(0.5, far[-1] + 0.5))


def _in_percent(share: Estimate) -> Estimate:
    return Estimate(100 * share.mean, 100 * share.low, 100 * share.high, share.count)


def _turning(place: SubFigure, table: TurningTable) -> None:
    axes = place.subplots()
    shade_view(axes, table.reach)
    far = np.array([row.distance for row in table.by_distance])
    handles = []
    for shift, (who, title) in zip((-0.08, 0.08), WHO.items()):
        marker = "o" if who == "observer" else "D"
        mine = [row.of(who)["no_swap"] for row in table.by_distance]
        style.tomnet_points(axes, far + shift, mine, colour=COLOURS[who], marker=marker)
        handles.append(style.sign(title, marker, COLOURS[who]))
    axes.set(ylim=(-0.03, 1.03), xlabel=ACROSS, ylabel="probability", xticks=far)
    axes.set_xlim(0.5, far[-1] + 0.5)
    style.legend_above(axes, handles)


def _policies(place: SubFigure, natural: dict[str, Curves], control: dict[str, Curves]) -> None:
    both = side_by_side(place, natural, [("5x5", "policy", "o", style.TOMNET)])
    label, marker, colour = CONTROL
    series(both[1], control["5x5"], "observer", "policy", marker=marker, colour=colour, shift=0.12)
    from_zero(*both)
    for axes in both:
        shade_view(axes, natural["5x5"].reach)
    handles = [style.sign("ToMnet", "o", style.TOMNET, line=True), style.sign(label, marker, colour, line=True)]
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _successors(place: SubFigure, natural: dict[str, Curves]) -> None:
    lines = [("5x5", f"successor {gamma}", *GAMMA_SIGNS[gamma]) for gamma in GAMMAS]
    for axes in side_by_side(place, natural, lines):
        shade_view(axes, natural["5x5"].reach)
    handles = [style.sign(f"γ = {gamma}", *GAMMA_SIGNS[gamma], line=True) for gamma in GAMMAS]
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def captions(tables: Tables) -> dict[str, str]:
    turning, natural, control = tables.turning_back, tables.natural["5x5"], tables.control["5x5"]

    def drop(side: dict[str, PairMean]) -> str:
        return style.percent(round(side["drop"].mean, 2) + 0.0)  # no "−0%"

    def policy(side: dict[str, PairMean]) -> str:
        return said(side["policy"])

    at_all = [style.plain(turning.by_distance[end].agents["no_swap"].mean, 2) for end in (0, -1)]
    longest = f"successor {GAMMAS[-1]}"
    return {
        "figure-11": (
            "The hand-made Sally-Anne test, 5×5 agents. A swap in view lowers the probability of turning back to where "
            f"the preferred object was by {drop(turning.in_view.agents)}; ToMnet predicts "
            f"{drop(turning.in_view.observer)}. Out of view it lowers it by {drop(turning.out_of_view.agents)}, and "
            f"ToMnet predicts {drop(turning.out_of_view.observer)} (b; means over networks with 95% intervals). "
            f"Without a swap, agents turn back with a probability of {at_all[0]} at distance 1 and {at_all[1]} at "
            f"distance {turning.by_distance[-1].distance} (c)."
        ),
        "figure-12a-b": (
            f"The natural Sally-Anne test, 5×5 agents, {natural.pairs} pairs of worlds; grey: in view. D_JS between "
            f"next-step policies is {policy(natural.in_view.agents)} nats for swaps in view and "
            f"{policy(natural.out_of_view.agents)} out of view; ToMnet's predictions move by "
            f"{policy(natural.in_view.observer)} and {policy(natural.out_of_view.observer)}, those of an observer "
            "without a theory of mind, which sees the query only, by "
            f"{policy(control.in_view.observer)} and {policy(control.out_of_view.observer)} (a). Out of view, ToMnet's "
            f"successor maps for γ = {GAMMAS[-1]} move by {said(natural.out_of_view.observer[longest])} nats, the "
            f"agents' own by {said(natural.out_of_view.agents[longest])} (b)."
        ),
    }
