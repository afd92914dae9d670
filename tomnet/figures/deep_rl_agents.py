"""Figure 7: what each net is worth to an observer of deep RL agents, and where it expects three species to go."""

import numpy as np
from matplotlib.figure import SubFigure

from ..experiments.analysis.species_maps import Maps
from ..experiments.analysis.table_a1 import Cut, Floor
from ..experiments.analysis.three_species import SPECIES_NAMES
from ..experiments.deep_rl_agents import Tables
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_occupancy, draw_query, draw_trajectory
from .panels import Panel, Panels

NETS = {"char": "character net", "mental": "mental net", "both": "both"}
NET_COLOURS = {"char": style.SKY_BLUE, "mental": style.GREEN, "both": style.TOMNET}
HEAD_NAMES = {"action": "next action", "consumption": "consumption", "successor": "successor maps"}
SHOWN_GAMMA = -1  # the longest-sighted map


def panels(tables: Tables) -> Panels:
    maps = tables.maps
    return {
        "figure-7": (
            Panel(
                "a",
                "What each net saves of the loss",
                "Bars for each of three predictions: the share of the loss without any net that is saved by the "
                "character net, by the mental net and by both, on held-out agents; the paper's figures as short "
                "lines, and what knowing the agent itself would save as open marks.",
                lambda place: _usefulness(place, tables.cuts, tables.floor),
                2.9,
            ),
            Panel(
                "b",
                "The query, and a past episode of each agent",
                "Four gridworlds: the query state, and a past trajectory of an agent of each species as arrows.",
                lambda place: _episodes(place, maps),
                2.9,
            ),
            Panel(
                "c",
                f"Where each agent will be from the query on (γ = {maps.gammas[SHOWN_GAMMA]:g}); "
                f"all three like {LETTERS[maps.preferred]} best",
                "Six maps of the query level, shaded by the share of time: above as ToMnet expects it of an agent of "
                "each species, below as rollouts of these agents have it.",
                lambda place: _maps(place, maps),
                4.6,
            ),
        )
    }


def _usefulness(place: SubFigure, cuts: dict[str, dict[str, Cut]], floor: Floor) -> None:
    axes = place.subplots()
    width = 0.26
    for step, (name, colour) in enumerate(NET_COLOURS.items()):
        rows = [cuts[head][name] for head in HEAD_NAMES]
        x, saved = np.arange(len(rows)) + width * (step - 1), [row.cut for row in rows]
        axes.bar(x, style.means(saved), width=0.92 * width, color=colour)
        bars = {"fmt": "none", "ecolor": style.IDEAL, "elinewidth": 0.8}
        axes.errorbar(x, style.means(saved), style.whiskers(saved), **bars)
        paper = [row.paper for row in rows]
        axes.hlines(paper, x - 0.46 * width, x + 0.46 * width, color=style.ORANGE, linewidth=1.6, zorder=4)
    at_best = [floor.heads[head].saves for head in HEAD_NAMES]
    style.ideal_marks(axes, np.arange(len(at_best)) + 1.62 * width, at_best)
    axes.axhline(0, color=style.IDEAL, linewidth=0.6)
    axes.set_xticks(np.arange(len(HEAD_NAMES)), list(HEAD_NAMES.values()))
    axes.tick_params(axis="x", length=0)
    axes.set(ylabel="share of the loss saved", xlim=(-0.55, len(HEAD_NAMES) - 0.35))
    axes.set_ylim(min(0, axes.get_ylim()[0]), 1.02)
    signs = [style.sign(NETS[name], "s", colour) for name, colour in NET_COLOURS.items()]
    others = [
        style.sign("paper", "_", style.ORANGE),
        style.sign("rollouts of the agent", "D", style.IDEAL, filled=False),
    ]
    place.legend(handles=[*signs, *others], loc="outside lower center", ncols=3)


def _episodes(place: SubFigure, maps: Maps) -> None:
    grid = place.subplots(2, 2)
    draw_query(grid[0, 0], maps.query, title="query")
    for axes, one in zip(grid.flat[1:], maps.species, strict=True):
        draw_trajectory(axes, one.past, title=SPECIES_NAMES[one.name])


def _maps(place: SubFigure, maps: Maps) -> None:
    grid = place.subplots(2, len(maps.species))
    shown = [(one.expected[SHOWN_GAMMA], one.happened[SHOWN_GAMMA]) for one in maps.species]
    largest = max(float(np.max(each)) for pair in shown for each in pair)
    for col, (one, pair) in enumerate(zip(maps.species, shown, strict=True)):
        for row, occupancy in enumerate(pair):
            title = SPECIES_NAMES[one.name] if row == 0 else ""
            draw_occupancy(grid[row, col], maps.query, occupancy, largest=largest, title=title)
            row_of, col_of = divmod(maps.query.agent_cell, len(maps.query.walls))
            grid[row, col].plot(col_of, row_of, "o", color="white", markeredgecolor="black", markersize=4, zorder=6)
    for axes, name in zip(grid[:, 0], ("ToMnet expects", f"{maps.rollouts} rollouts"), strict=True):
        axes.set_ylabel(name)


def captions(tables: Tables) -> dict[str, str]:
    both = {head: tables.cuts[head]["both"] for head in HEAD_NAMES}
    saved = ", ".join(f"{style.percent(both[head].cut.mean)} ({name})" for head, name in HEAD_NAMES.items())
    paper = ", ".join(style.percent(cut.paper) for cut in both.values())
    floor = ", ".join(style.percent(tables.floor.heads[head].saves) for head in HEAD_NAMES)
    species, maps = tables.species["neighbours"], tables.maps
    return {
        "figure-7": (
            f"Deep RL agents of three species, none of them met in training. With character and mental net the "
            f"observer loses less than with neither by {saved}; in the paper by {paper}; a predictor made of rollouts "
            f"of the agent itself by {floor} (a). After {maps.past} past episodes (one of each agent in b) the "
            f"species is told from the embedding in {style.percent(species.accuracy.mean)}. The expected map is "
            f"nearest to the agent's own, among the three species', in {style.percent(maps.nearest_is_own)} of "
            "cases (c)."
        )
    }
