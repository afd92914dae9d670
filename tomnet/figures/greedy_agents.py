"""Figure 6: greedy agents among goal-driven ones, told apart from where they go."""

import numpy as np
from matplotlib.figure import SubFigure

from ..experiments.analysis.examples import PlainEpisode
from ..experiments.greedy_agents import CurvePoint, Example, Tables, Trip
from ..support.words import counted
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_expected_objects, draw_query, draw_trajectory
from .panels import Panel, Panels

TRIPS = {"far": "far trip", "near": "near trip"}


def panels(tables: Tables) -> Panels:

    def maps(letter: str, trip: str) -> Panel:
        example = tables.examples[trip]
        if example is None:
            why = f"Empty: after no {TRIPS[trip]} was the same object in reach again with another one nearer."
            return Panel(letter, f"No {TRIPS[trip]} to show", why, _nothing)
        return Panel(
            letter,
            f"After a {TRIPS[trip]} to {eaten_letter(example.past)}",
            f"Four gridworlds: the past trajectory of a {TRIPS[trip]}, the new level, and on it the object "
            "most likely to be eaten from each cell, as ToMnet and as the ideal observer expect it.",
            lambda place: _maps(place, example),
            3.75,
        )

    return {
        "figure-6": (
            maps("a", "far"),
            maps("b", "near"),
            Panel(
                "c",
                "The same object again?",
                "Bars: the probability that the object of the past trip is eaten again though another is "
                "nearer, after far and near trips: ToMnet, ideal observer and what happened.",
                lambda place: _trips(place, tables.trips),
                2.4,
            ),
            Panel(
                "d",
                "Greedy or goal-driven?",
                "Area under the curve for telling the subspecies against the number of past episodes: dots "
                "for the read-out of the embedding, a line for the ideal observer, and chance.",
                lambda place: _areas(place, tables.curve),
                2.4,
            ),
        )
    }


def eaten_letter(episode: PlainEpisode) -> str:
    """The object on which an episode ended."""
    cells = episode.object_cells
    return LETTERS[cells.index(episode.final_cell)] if episode.final_cell in cells else "no object"


def _nothing(place: SubFigure) -> None:
    place.subplots().set_axis_off()


def _maps(place: SubFigure, example: Example) -> None:
    grid = place.subplots(2, 2)
    draw_trajectory(grid[0, 0], example.past, title="past trajectory")
    draw_query(grid[0, 1], example.query, title="new level")
    draw_expected_objects(grid[1, 0], example.query, example.observer, title="ToMnet expects")
    draw_expected_objects(grid[1, 1], example.query, example.ideal, title="ideal observer expects")


def _trips(place: SubFigure, trips: dict[str, Trip]) -> None:
    axes = place.subplots()
    rows = [trips[trip] for trip in TRIPS]
    x, tomnet, ideal = np.arange(len(rows)), [row.observer for row in rows], [row.ideal for row in rows]
    axes.bar(x, style.means(tomnet), width=0.45, color=style.TOMNET)
    quiet = {"fmt": "none", "elinewidth": 0.9, "zorder": 3}
    axes.errorbar(x, style.means(tomnet), style.whiskers(tomnet), ecolor="#7FB8D8", **quiet)
    axes.errorbar(x + 0.32, style.means(ideal), style.whiskers(ideal), ecolor=style.IDEAL, **quiet)
    style.ideal_marks(axes, x + 0.32, style.means(ideal))
    axes.plot(x - 0.32, [row.happened for row in rows], "*", color=style.HAPPENED, markersize=7)
    axes.set_xticks(x, [f"{TRIPS[trip]}\n({trips[trip].episodes} agents)" for trip in TRIPS])
    axes.set(ylim=(0, 1.05), xlim=(-0.6, len(rows) - 0.4), ylabel="probability")
    style.legend_above(axes, [style.HAPPENED_SIGN, style.sign("ToMnet", "s"), style.IDEAL_SIGN])


def _areas(place: SubFigure, curve: list[CurvePoint]) -> None:
    axes = place.subplots()
    told = {point.past: point.subspecies for point in curve if point.subspecies}
    x, areas = list(told), list(told.values())
    style.ideal_line(axes, x, [area.ideal for area in areas])
    style.tomnet_points(axes, x, [area.observer for area in areas])
    style.reference(axes, 0.5, "chance")
    axes.set(ylim=(0.4, 1.03), xlabel="past episodes, $N_{past}$", ylabel="area under the curve", xticks=x)
    style.legend_above(axes, [style.TOMNET_SIGN, style.IDEAL_LINE])


def captions(tables: Tables) -> dict[str, str]:
    trips, examples = tables.trips, tables.examples
    shown = ", ".join(letter for letter, trip in zip("ab", TRIPS, strict=True) if examples[trip] is not None)
    cells = f"Each cell shows the object most likely to be eaten from there ({shown}). " if shown else ""
    told = next(point.subspecies for point in tables.curve if point.past == 1)
    area, best = (told.observer.mean, told.ideal) if told else (None, None)

    def sure(trip: str) -> str:
        row = trips[trip]
        return (
            f"after a {TRIPS[trip]} ToMnet expects the same object again with "
            f"{style.plain(row.observer.mean, 2)} (ideal observer {style.plain(row.ideal.mean, 2)}, it "
            f"happened in {style.plain(row.happened, 2)})"
        )

    def acted(point: CurvePoint) -> str:
        return f"{style.plain(point.action.mean, 2)} (ideal observer {style.plain(point.ideal_action, 2)})"

    return {
        "figure-6": (
            "A mixture of goal-driven and greedy agents. A near trip goes to the nearest object, a far one passes a "
            f"nearer object by. {cells}Where the object of the past trip is in reach again "
            f"but another is nearer, {sure('far')}, {sure('near')} (c). After one trajectory the subspecies can be "
            f"read out of the embedding with an area under the curve of {style.plain(area)}; at best it is "
            f"{style.plain(best)} (d). The action that an agent then takes is given a probability of "
            f"{acted(tables.curve[0])} with nothing seen, and of {acted(tables.curve[-1])} after "
            f"{counted(tables.curve[-1].past, 'past episode')}."
        )
    }
