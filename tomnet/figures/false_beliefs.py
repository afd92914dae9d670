"""Figures 11 and 12a-b: agents with a 5×5 field of view, and what their observer knows of it."""

from typing import Any

from matplotlib.figure import Figure, SubFigure

from ..episodes.targets import GAMMAS
from ..experiments.experiment import Result
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_field_of_view, draw_query, draw_trajectory, with_subgoal
from .panels import Panel, Panels, compose_all
from .swap_curves import ACROSS, COLOURS, GAMMA_SIGNS, WHO, said, shade_view, side_by_side


def draw(result: Result) -> dict[str, Figure]:
    return compose_all(panels(result))


def panels(result: Result) -> Panels:
    tables = result.tables
    natural, turning = tables["natural"], tables["turning_back"]
    liked = LETTERS[tables["pictures"][0]["preferred"]]
    return {
        "figure-11": (
            Panel(
                "a",
                f"Led from {liked} to the subgoal; then a swap",
                "Four gridworlds in two rows: an agent's path from what it likes to the subgoal, and the same level "
                "after a swap, with the agent's field of view as a dashed square: the swap lies inside it "
                "above, outside below.",
                lambda place: _pictures(place, tables["pictures"], turning["reach"]),
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
                "D_JS between next-step policies with and without a swap, by swap distance: agents left, ToMnet right.",
                lambda place: _policies(place, natural),
            ),
            Panel(
                "b",
                "What a swap does to the way ahead",
                "D_JS between successor maps by swap distance, a series for each discount: agents left, ToMnet right.",
                lambda place: _successors(place, natural),
            ),
        ),
    }


def _pictures(place: SubFigure, pictures: list[dict[str, Any]], reach: int) -> None:
    grid = place.subplots(len(pictures), 2)
    for axes, picture in zip(grid, pictures):
        far, size = picture["distance"], len(picture["swap"]["walls"])
        draw_trajectory(
            axes[0], with_subgoal(picture["episode"]), title=f"{far} cells from {LETTERS[picture['preferred']]}"
        )
        draw_query(axes[1], with_subgoal(picture["swap"]), title="swap in view" if far <= reach else "swap out of view")
        draw_field_of_view(axes[1], picture["swap"]["agent_cell"], reach, size)


def _drops(place: SubFigure, table: dict[str, Any]) -> None:
    both = place.subplots(2, 1, sharex=True, sharey=True)
    rows = table["by_distance"]
    for axes, (who, title) in zip(both, WHO.items()):
        shade_view(axes, table["reach"])
        drops = [
            {"drop": 100 * style.number(one["mean"]), "interval": [100 * style.number(end) for end in one["interval"]]}
            for one in (row[who]["drop"] for row in rows)
        ]
        x = style.column(rows, "distance")
        axes.bar(x, style.column(drops, "drop"), width=0.6, color=style.tint(COLOURS[who], 0.45), zorder=1)
        style.network_points(axes, x, drops, "drop", "interval", colour=COLOURS[who])
        axes.axhline(0, color=style.QUIET, linewidth=0.6)
        axes.set_title(title, fontsize=7.5)
        axes.set_ylabel("$\\Delta\\pi_L$, %")
    both[1].set(ylim=(min(-5, both[1].get_ylim()[0]), max(105, both[1].get_ylim()[1])))
    both[1].set(xlabel=ACROSS, xticks=style.column(rows, "distance"), xlim=(0.5, rows[-1]["distance"] + 0.5))


def _turning(place: SubFigure, table: dict[str, Any]) -> None:
    axes = place.subplots()
    shade_view(axes, table["reach"])
    rows = table["by_distance"]
    handles = []
    for shift, (who, title) in zip((-0.08, 0.08), WHO.items()):
        marker = "o" if who == "observer" else "D"
        mine = [row[who]["no_swap"] for row in rows]
        style.network_points(
            axes, style.column(rows, "distance") + shift, mine, "mean", "interval", colour=COLOURS[who], marker=marker
        )
        handles.append(style.sign(title, marker, COLOURS[who]))
    axes.set(ylim=(-0.03, 1.03), xlabel=ACROSS, ylabel="probability", xticks=style.column(rows, "distance"))
    axes.set_xlim(0.5, rows[-1]["distance"] + 0.5)
    style.legend_above(axes, handles)


def _policies(place: SubFigure, natural: dict[str, Any]) -> None:
    for axes in side_by_side(place, natural, [("5x5", "policy", "o", style.NETWORK)]):
        shade_view(axes, natural["5x5"]["reach"])


def _successors(place: SubFigure, natural: dict[str, Any]) -> None:
    lines = [("5x5", f"successor {gamma}", *GAMMA_SIGNS[gamma]) for gamma in GAMMAS]
    for axes in side_by_side(place, natural, lines):
        shade_view(axes, natural["5x5"]["reach"])
    handles = [style.sign(f"γ = {gamma}", *GAMMA_SIGNS[gamma], line=True) for gamma in GAMMAS]
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def captions(result: Result) -> dict[str, str]:
    tables = result.tables
    turning, natural = tables["turning_back"], tables["natural"]["5x5"]

    def drop(who: str, side: str) -> str:
        return style.percent(round(style.number(turning[side][who]["drop"]["mean"]), 2) + 0.0)  # no "−0%"

    def policy(who: str, side: str) -> str:
        return said(natural[side][who]["policy"])

    at_all = [style.plain(turning["by_distance"][end]["agents"]["no_swap"]["mean"], 2) for end in (0, -1)]
    longest = f"successor {GAMMAS[-1]}"
    return {
        "figure-11": (
            "The hand-made Sally-Anne test, 5×5 agents. A swap in view lowers the probability of turning back to where "
            f"the preferred object was by {drop('agents', 'in_view')}; ToMnet predicts {drop('observer', 'in_view')}. "
            f"Out of view it lowers it by {drop('agents', 'out_of_view')}, and ToMnet predicts "
            f"{drop('observer', 'out_of_view')} (b; means over networks with 95% intervals). Without a swap, agents "
            f"turn back with a probability of {at_all[0]} at distance 1 and {at_all[1]} at distance "
            f"{turning['by_distance'][-1]['distance']} (c)."
        ),
        "figure-12a-b": (
            f"The natural Sally-Anne test, 5×5 agents, {natural['pairs']} pairs of worlds; grey: in view. D_JS between "
            f"next-step policies is {policy('agents', 'in_view')} nats for swaps in view and "
            f"{policy('agents', 'out_of_view')} out of view; ToMnet's predictions move by "
            f"{policy('observer', 'in_view')} and {policy('observer', 'out_of_view')} (a). Out of view, its successor "
            f"maps for γ = {GAMMAS[-1]} move by {said(natural['out_of_view']['observer'][longest])} nats, the agents' "
            f"own by {said(natural['out_of_view']['agents'][longest])} (b)."
        ),
    }
