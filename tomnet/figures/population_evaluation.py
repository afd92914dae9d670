"""What a population of deep RL agents earns, and whether it acts on what it remembers."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..experiments.analysis.performance import Performance
from ..experiments.analysis.population_evaluation import PopulationTables
from ..experiments.analysis.statistics import Estimate, NetworkMean
from ..experiments.sally_anne.acts_on_memory import ActsOnMemory
from . import style
from .panels import Panel, Panels
from .swap_examples import swap_example_panels

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


def in_order(conditions) -> list[str]:
    known = [name for name in COLOURS if name in conditions]
    return known + [name for name in conditions if name not in COLOURS]


def listed(conditions: list[str]) -> str:
    return ", ".join(map(style.condition_name, conditions))


# --- What they earn


def population_panels(tables: PopulationTables) -> Panels:
    """All that `evaluate_population`'s tables can show."""
    return {
        **performance_panels(tables.performance),
        **memory_panels(tables.acts_on_memory),
        **swap_example_panels(tables.examples),
    }


def performance_panels(performance: dict[str, Performance]) -> Panels:
    names = in_order(performance)
    height = 0.75 + 0.25 * len(names)
    dots = "a small dot for each network, a large one with its 95% interval for their mean, open ones for references."
    return {
        "performance": (
            Panel(
                "a",
                "Return of an episode",
                f"Mean returns of {listed(names)}: {dots}",
                lambda place: _performance(place, performance, {"returns": ""}),
                height,
            ),
            Panel(
                "b",
                "Share of episodes",
                f"Shares of episodes, of {listed(names)}, in which the subgoal was eaten, the preferred object was "
                f"eaten, and time ran out: {dots}",
                lambda place: _performance(place, performance, SHARES),
                height,
            ),
        )
    }


def _performance(place: SubFigure, performance: dict[str, Performance], measures: dict[str, str]) -> None:
    names = in_order(performance)
    columns = np.atleast_1d(place.subplots(1, len(measures), sharey=True))
    random = np.random.default_rng(0)  # only to keep dots of equal value apart
    for axes, (measure, title) in zip(columns, measures.items()):
        for y, name in enumerate(names):
            _one_species(axes, y, getattr(performance[name], measure), name, random)
        axes.grid(axis="x", color=style.GRID, linewidth=0.5)
        axes.set_axisbelow(True)
        if title:
            axes.set_title(title, fontsize=7.5)
        if measure in SHARES:
            axes.set(xlim=(-0.1, 1.1))
            axes.set_xticks((0, 0.5, 1), ("0", "", "100%"))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    columns[0].set_yticks(range(len(names)), [style.condition_name(name) for name in names])
    columns[0].set_ylim(-0.6, len(names) - 0.4)


def _one_species(axes: Axes, y: int, mean: NetworkMean, name: str, random: np.random.Generator) -> None:
    reference, colour = name in ("oracle", "random"), COLOURS.get(name, style.PURPLE)
    if not reference:
        _each_network(axes, y + random.uniform(-0.22, 0.22, len(mean.each)), mean, colour)
    _their_mean(axes, y, mean, colour, "D" if reference else "o", filled=not reference)


def _each_network(axes: Axes, places: np.ndarray, mean: NetworkMean, colour: style.Colour) -> None:
    axes.plot(mean.each, places, "o", color=colour, markersize=2.2, alpha=0.55, markeredgewidth=0, zorder=2)


def _their_mean(axes: Axes, y: int | float, mean: Estimate, colour: style.Colour, marker: str, *, filled: bool) -> None:
    axes.errorbar(
        [mean.mean],
        [y],
        xerr=style.whiskers([mean]),
        fmt=marker,
        color=colour,
        markerfacecolor=colour if filled else "white",
        markersize=4,
        elinewidth=0.9,
        zorder=3,
        clip_on=False,
    )


# --- Whether they act on what they remember


def memory_panels(acting: dict[str, ActsOnMemory]) -> Panels:
    names = in_order(acting)
    return {
        "acts-on-memory": (
            Panel(
                "",
                "Stepping back to what is out of sight",
                f"Probability that {listed(names)} agents step back to where they last saw their object, beyond their "
                "view (filled), beside the same step where it never was (open): a small dot for each network, a large "
                "one with its 95% interval for their mean.",
                lambda place: _memory(place, acting),
                0.9 + 0.34 * len(names),
            ),
        )
    }


def _memory(place: SubFigure, acting: dict[str, ActsOnMemory]) -> None:
    axes, names = place.subplots(), in_order(acting)
    random = np.random.default_rng(0)  # only to keep dots of equal value apart
    for y, name in enumerate(names):
        for mean, above, colour in (
            (acting[name].beyond_view, 0.18, COLOURS.get(name, style.PURPLE)),
            (acting[name].never_there, -0.18, style.NO_PAST),
        ):
            _each_network(axes, y + above + random.uniform(-0.1, 0.1, len(mean.each)), mean, colour)
            _their_mean(axes, y + above, mean, colour, "o", filled=above > 0)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set(xlim=(-0.03, 1.03), xlabel="probability of the step back", ylim=(-0.6, len(names) - 0.4))
    axes.set_yticks(range(len(names)), [style.condition_name(name) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    seen = style.sign("seen there, now out of view", "o", style.IDEAL)
    style.legend_above(axes, (seen, style.sign("never there", "o", style.NO_PAST, filled=False)))
