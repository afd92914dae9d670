"""Figures about a population of deep RL agents: how it learned, what it earns, how it moves, and figure 10.

From plain tables: rows of metrics.jsonl, `evaluate_population`'s tables, diaries.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..world.levels import LETTERS
from . import style
from .gridworld import (
    draw_agent,
    draw_change,
    draw_fog,
    draw_level,
    draw_swap,
    draw_trajectory,
    with_subgoal,
)
from .panels import Panel, Panels

WIDEST = style.graded(4)
COLOURS: dict[str, style.Colour] = {
    "random": style.QUIET,
    "blind": style.NO_PAST,
    **dict(zip(("3x3", "5x5", "7x7", "9x9"), WIDEST)),
    "stateless-5x5": style.VERMILLION,
    "oracle": style.IDEAL,
}
"""Wider sees darker; who sees nothing is grey, and who forgets has a colour that is not on the scale."""
SHARES = {
    "subgoal_first": "subgoal,\nif in reach",
    "preferred_if_reachable": "preferred,\nif in reach",
    "time_out": "time ran\nout",
}
SWAPS = {"in_view": "swap in view", "out_of_view": "swap out of view"}


def title_of(condition: str) -> str:
    return condition.replace("x", "×").replace("-", " ")


def in_order(conditions) -> list[str]:
    known = [name for name in COLOURS if name in conditions]
    return known + [name for name in conditions if name not in COLOURS]


# --- Learning


def learning_curves(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, np.ndarray]]:
    """By condition: steps, and the return of each network then, `[time, network]`; nan before its first episode ended.

    Networks take turns through the conditions, chunk after chunk, as `upbringing.members` deals them out.
    """
    conditions = list(dict.fromkeys(name for row in rows for name in row["returns"]))
    steps = sorted({row["steps"] for row in rows})
    chunks = 1 + max(row["chunk"] for row in rows)
    width = len(rows[0]["each"])
    each = np.full((len(steps), chunks * width), np.nan)
    for row in rows:
        mine = slice(row["chunk"] * width, (row["chunk"] + 1) * width)
        each[steps.index(row["steps"]), mine] = [style.number(value) for value in row["each"]]
        for lost in row["diverged"]:
            each[steps.index(row["steps"]), row["chunk"] * width + lost] = np.nan
    owner = np.arange(chunks * width) % len(conditions)
    return {
        name: {"steps": np.array(steps), "returns": each[:, owner == place]} for place, name in enumerate(conditions)
    }


def learning_panels(rows: Sequence[dict[str, Any]]) -> Panels:
    return {
        "learning-curves": (
            Panel(
                "",
                "Learning, by species",
                "Return per episode against the steps of each network. A line for the mean of a species' networks, "
                "a band from the worst to the best of them.",
                lambda place: _learning(place, learning_curves(rows)),
                3.0,
            ),
        )
    }


def _learning(place: SubFigure, curves: dict[str, dict[str, np.ndarray]]) -> None:
    axes = place.subplots()
    ends, last = {}, max(curve["steps"][-1] for curve in curves.values())
    unit, many = ("millions", 1e6) if last >= 1e6 else ("thousands", 1e3)
    for name in in_order(curves):
        steps, returns = curves[name]["steps"], smooth(curves[name]["returns"])
        there = np.isfinite(returns).any(1)
        if not there.any():
            continue
        steps, returns = steps[there] / many, returns[there]
        colour = COLOURS.get(name, style.PURPLE)
        axes.fill_between(steps, np.nanmin(returns, 1), np.nanmax(returns, 1), color=colour, alpha=0.18, linewidth=0)
        dashes = "--" if name.startswith("stateless") else "-"
        dot = "o" if len(steps) == 1 else ""  # a line of one point would not be seen
        axes.plot(
            steps, np.nanmean(returns, 1), marker=dot, color=colour, linestyle=dashes, linewidth=1.3, clip_on=False
        )
        ends[name] = float(np.nanmean(returns[-1]))
    axes.set(xlabel=f"steps of each network, in {unit}", ylabel="return of an episode")
    axes.set_xlim(0, last / many)
    _name_ends(axes, ends)


def smooth(values: np.ndarray, window: int = 5) -> np.ndarray:
    """A running mean over the last few rows, which hold few episodes each."""
    seen = np.isfinite(values)
    total = np.cumsum(np.where(seen, values, 0), axis=0)
    count = np.cumsum(seen, axis=0)
    total[window:], count[window:] = total[window:] - total[:-window], count[window:] - count[:-window]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _name_ends(axes: Axes, ends: dict[str, float]) -> None:
    """Each line named at its end: no need to match colours to a legend."""
    low, high = axes.get_ylim()
    names = sorted(ends, key=lambda name: ends[name])
    for name, place in zip(names, apart([ends[name] for name in names], 0.062 * (high - low))):
        axes.annotate(
            title_of(name),
            (1, place),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=COLOURS.get(name, style.PURPLE),
            weight="bold",
        )


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Sorted places, moved as little as need be for neighbours to be a gap apart."""
    groups = [[place, 1] for place in places]  # the middle of a run of neighbours, and how many they are
    merged = []
    for group in groups:
        merged.append(group)
        while len(merged) > 1 and merged[-1][0] - merged[-2][0] < gap * (merged[-1][1] + merged[-2][1]) / 2:
            (middle, count), (before, others) = merged.pop(), merged.pop()
            merged.append([(middle * count + before * others) / (count + others), count + others])
    return [middle + gap * (i - (count - 1) / 2) for middle, count in merged for i in range(count)]


# --- What they earn


def population_panels(tables: dict[str, Any]) -> Panels:
    """All that `evaluate_population`'s tables can show."""
    return {**performance_panels(tables["performance"]), **subgoal_panels(tables["examples"])}


def population_captions(tables: dict[str, Any]) -> dict[str, str]:
    captions = {"performance": performance_caption(tables), "figure-10": subgoal_caption(tables["examples"])}
    return {stem: captions[stem] for stem in population_panels(tables)}


def performance_panels(performance: dict[str, dict[str, Any]]) -> Panels:
    names = in_order(performance)
    height = 0.75 + 0.25 * len(names)
    dots = "a small dot for each network, a large one with its 95% interval for their mean, open ones for references."
    return {
        "performance": (
            Panel(
                "a",
                "Return of an episode",
                f"Mean returns of {', '.join(map(title_of, names))}: {dots}",
                lambda place: _performance(place, performance, {"return": ""}),
                height,
            ),
            Panel(
                "b",
                "Share of episodes",
                f"Shares of episodes, of {', '.join(map(title_of, names))}, in which the subgoal was eaten, the "
                f"preferred object was eaten, and time ran out: {dots}",
                lambda place: _performance(place, performance, SHARES),
                height,
            ),
        )
    }


def _performance(place: SubFigure, performance: dict[str, dict[str, Any]], measures: dict[str, str]) -> None:
    names = in_order(performance)
    columns = np.atleast_1d(place.subplots(1, len(measures), sharey=True))
    random = np.random.default_rng(0)  # only to keep dots of equal value apart
    for axes, (measure, title) in zip(columns, measures.items()):
        for y, name in enumerate(names):
            _one_species(axes, y, performance[name][measure], name, random)
        axes.grid(axis="x", color=style.GRID, linewidth=0.5)
        axes.set_axisbelow(True)
        if title:
            axes.set_title(title, fontsize=7.5)
        if measure in SHARES:
            axes.set(xlim=(-0.1, 1.1))
            axes.set_xticks((0, 0.5, 1), ("0", "", "100%"))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    columns[0].set_yticks(range(len(names)), [title_of(name) for name in names])
    columns[0].set_ylim(-0.6, len(names) - 0.4)


def _one_species(axes: Axes, y: int, row: dict[str, Any], name: str, random: np.random.Generator) -> None:
    reference, colour = name in ("oracle", "random"), COLOURS.get(name, style.PURPLE)
    if not reference:
        each = [style.number(value) for value in row["each"]]
        spread = y + random.uniform(-0.22, 0.22, len(each))
        axes.plot(each, spread, "o", color=colour, markersize=2.2, alpha=0.55, markeredgewidth=0, zorder=2)
    axes.errorbar(
        style.column([row], "mean"),
        [y],
        xerr=style.whiskers([row], "mean", "interval"),
        fmt="D" if reference else "o",
        color=colour,
        markerfacecolor="white" if reference else colour,
        markersize=4,
        elinewidth=0.9,
        zorder=3,
        clip_on=False,
    )


def performance_caption(tables: dict[str, Any]) -> str:
    performance = tables["performance"]
    species = [name for name in in_order(performance) if name not in ("oracle", "random")]
    earned = ", ".join(f"{title_of(name)} {style.plain(performance[name]['return']['mean'], 2)}" for name in species)
    oracle, random = (style.plain(performance[name]["return"]["mean"], 2) for name in ("oracle", "random"))
    counts = sorted({performance[name]["networks"] for name in species})
    networks = " or ".join(map(str, counts))
    return (
        f"{tables['levels']} levels of its own for each network, none of them met before, {networks} networks of each "
        "species. "
        f"Mean return: {earned}; an oracle that sees everything earns {oracle}, a random walk {random}. "
        "Intervals are over networks, those of oracle and random walk over levels."
    )


# --- How they move


def trajectory_panels(diaries: Sequence[dict[str, Any]]) -> Panels:
    """One diary for each species, best on the same level."""
    return {
        "trajectories": tuple(
            Panel(
                letter,
                f"{title_of(diary['condition'])}: {outcome_of(diary)}",
                f"An episode of a {title_of(diary['condition'])} agent: its way through the maze, cells that it never "
                "saw dark, cells that it saw on the way light.",
                lambda place, diary=diary: draw_life(place.subplots(), diary),
                3.2,
            )
            for letter, diary in zip("abcdefghijkl", diaries)
        )
    }


def trajectory_caption(diaries: Sequence[dict[str, Any]]) -> str:
    wanted = ", ".join(sorted({LETTERS[diary["preferred"]] for diary in diaries}))
    return (
        f"One episode of the best network of each species, all after object {wanted} and, before it, the subgoal (★), "
        "on the first level drawn on which everything is in reach. Dark: never in view; light: seen on the way; "
        "white: in view at the end."
    )


def draw_life(axes: Axes, diary: dict[str, Any]) -> None:
    """A whole episode: where it led, and what was in view on the way."""
    episode = as_episode(diary)
    draw_trajectory(axes, episode, width=0.1)
    draw_fog(axes, diary["steps"][-1]["visibility"])


def as_episode(diary: dict[str, Any]) -> dict[str, Any]:
    steps = diary["steps"]
    episode = {
        "walls": diary["walls"],
        "object_cells": steps[0]["object_cells"],
        "agent_cells": [step["agent_cell"] for step in steps],
        "actions": [step["action"] for step in steps],
        "final_cell": diary["final_cell"],
    }
    return with_subgoal(episode)


def outcome_of(diary: dict[str, Any]) -> str:
    """What became of an episode, in a few words."""
    eaten = [step["consumed"] for step in diary["steps"] if step["consumed"] >= 0]
    subgoal = len(diary["steps"][0]["object_cells"]) - 1
    words = ["★" if kind == subgoal else LETTERS[kind] for kind in eaten]
    ate = f"ate {' and '.join(words)}" if words else "ate nothing"
    count = len(diary["steps"])
    return f"{ate}, {count} step{'s' if count != 1 else ''}"


# --- Figure 10


def subgoal_panels(examples: dict[str, dict[str, Any] | None]) -> Panels:
    """Figure 10: a way to the subgoal, a swap in view and one out of view, and what they change."""
    shown = {name: example for name, example in examples.items() if example is not None}
    if not shown:
        return {}
    preferred = ", ".join(sorted({LETTERS[example["preferred"]] for example in shown.values()}))

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
                f"The way to the subgoal (★), of agents that prefer {preferred}",
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
                    f"{SWAPS[name].capitalize()}: D_JS {nats(example['policy_change'])}."
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


def _way(axes: Axes, example: dict[str, Any], title: str) -> None:
    draw_trajectory(axes, with_subgoal(example["episode"]), title=title)
    draw_fog(axes, example["visibility"])


def _swap(axes: Axes, example: dict[str, Any], title: str) -> None:
    state = with_subgoal(example["swap"]["state"])
    draw_level(axes, state)
    draw_fog(axes, example["visibility"])
    before = with_subgoal(example["no_swap"]["state"])["object_cells"]
    draw_swap(axes, before, state["object_cells"], len(state["walls"]))
    draw_agent(axes, state["agent_cell"], len(state["walls"]))
    width = example["field_of_view"]
    away = f"{example['distance']} cell{'s' if example['distance'] != 1 else ''} away"
    axes.set_xlabel(f"nearest change {away},\nfield of view {width}×{width}", fontsize=7)


def _policies(place: SubFigure, shown: dict[str, dict[str, Any]]) -> None:
    columns = np.atleast_1d(place.subplots(1, len(shown), sharey=True))
    x = np.arange(len(style.ACTION_SIGNS))
    for axes, (name, example) in zip(columns, shown.items()):
        axes.bar(x - 0.2, example["no_swap"]["policy"], width=0.38, color=style.NO_PAST, label="no swap")
        axes.bar(x + 0.2, example["swap"]["policy"], width=0.38, color=style.NETWORK, label="swap")
        axes.set(ylim=(0, 1.05), yticks=(0, 0.5, 1))
        axes.set_xticks(x, style.ACTION_SIGNS)
        axes.tick_params(axis="x", length=0)
        axes.set_title(
            f"{SWAPS[name].removeprefix('swap ')}: $D_{{JS}}$ = {nats(example['policy_change'])}", fontsize=7.5
        )
    columns[0].set_ylabel("probability")
    place.legend(*columns[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def _successors(place: SubFigure, shown: dict[str, dict[str, Any]]) -> None:
    columns = np.atleast_1d(place.subplots(1, len(shown)))
    changes = {
        name: np.subtract(example["swap"]["successor"][-1], example["no_swap"]["successor"][-1])
        for name, example in shown.items()
    }
    largest = max(float(np.abs(change).max()) for change in changes.values()) or 1.0
    for axes, (name, example) in zip(columns, shown.items()):
        state = with_subgoal(example["swap"]["state"])
        mesh = draw_change(axes, state, changes[name], largest=largest, title=SWAPS[name])
        draw_agent(axes, state["agent_cell"], len(state["walls"]))
    bar = place.colorbar(mesh, ax=list(columns), shrink=0.65, aspect=22, pad=0.01)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(length=2, labelsize=7)


def subgoal_caption(examples: dict[str, dict[str, Any] | None]) -> str:
    said = []
    for name, example in examples.items():
        if example is None:
            said.append(f"no {SWAPS[name]} among these agents")
        else:
            said.append(f"{SWAPS[name]}, D_JS between the two next policies {nats(example['policy_change'])}")
    one = next((example for example in examples.values() if example is not None), None)
    how = ""
    if one is not None:
        gamma = style.plain(one["gammas"][-1], 2)
        how = f" Occupancy (d) is discounted by {gamma}, the mean of {one['rollouts']} stochastic rollouts."
    return (
        "The subgoal task, in which agents can come to hold false beliefs: when the subgoal is eaten, the other "
        f"objects may change places. Here: {'; '.join(said)} (c).{how}"
    )


def nats(value: Any) -> str:
    """An effect of exactly nothing is said to be nothing."""
    return "0" if value == 0 else f"{style.plain(value)} nats"
