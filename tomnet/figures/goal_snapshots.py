"""Figure 5: goal-driven agents known from a few snapshots only."""

import numpy as np
from matplotlib.figure import SubFigure

from ..experiments.goal_snapshots import (
    CurvePoint,
    Embeddings,
    Field,
    PreferenceReadOut,
    Tables,
)
from ..world.gridworld import ACTIONS
from ..world.levels import LETTERS
from . import style
from .gridworld import draw_policy_arrows, draw_query, draw_trajectory
from .panels import Panel, Panels

OBSERVERS = {"all-heads": "all heads", "action-only": "action head only"}
OBSERVER_SIGNS = {"all-heads": ("o", style.TOMNET), "action-only": ("s", style.SKY_BLUE)}
HEAD_SIGNS = {
    "action": ("o", style.TOMNET),
    "consumption": ("s", style.GREEN),
    "successor": ("^", style.PURPLE),
}
OBJECT_MARKERS = ("o", "s", "^", "D")


def panels(tables: Tables) -> Panels:
    return {
        "figure-5": (
            Panel(
                "a",
                f"One of the snapshots; the agent likes {LETTERS[tables.field.preferred]} best",
                "Two gridworlds. Left: a past state with the action taken as an arrow. Right: the query level.",
                lambda place: _snapshot(place, tables.field),
                2.15,
            ),
            Panel(
                "b",
                "More snapshots, better predictions",
                "Probability given to the true action against the number of past snapshots: dots for "
                "ToMnet, a line for the ideal observer, and chance.",
                lambda place: _curve(place, tables.curve),
                2.15,
            ),
            Panel(
                "c",
                "Predicted policy from every cell",
                "Fields of arrows on the query level for growing numbers of snapshots: ToMnet above, ideal "
                "observer below.",
                lambda place: _fields(place, tables.field),
                2.6,
            ),
            Panel(
                "d",
                "Character embeddings by preferred object",
                "Two scatters of embeddings, one for each observer: colour and shape show the preferred "
                "object, saturation grows with the number of snapshots, grey dots in the centre are agents "
                "never seen.",
                lambda place: _embeddings(place, tables.points),
                2.6,
            ),
            Panel(
                "e",
                "Preferred object, told from the embedding",
                "Accuracy of the preferred object from nearest neighbours against the number of snapshots, "
                "for both observers, with the ideal observer's and chance.",
                lambda place: _accuracy(place, tables.embedding, len(tables.field.query.object_cells)),
                2.3,
            ),
            Panel(
                "f",
                "Share of what the past can tell",
                "Captured share against the number of snapshots, a series for each prediction, with its goal.",
                lambda place: _captured(place, tables.curve),
                2.3,
            ),
        )
    }


def _snapshot(place: SubFigure, field: Field) -> None:
    left, right = place.subplots(1, 2)
    draw_trajectory(left, field.snapshots[0], title="a past state, an action")
    draw_query(right, field.query, title="query state")


def _curve(place: SubFigure, curve: list[CurvePoint]) -> None:
    axes = place.subplots()
    x, ideal = np.array([point.past for point in curve]), [point.ideal for point in curve]
    low, high = np.array([each.interval for each in ideal]).T
    axes.fill_between(x, low, high, color=style.IDEAL, alpha=0.1, linewidth=0)
    style.ideal_line(axes, x, style.means(ideal))
    style.tomnet_points(axes, x, [point.observer for point in curve])
    style.reference(axes, 1 / len(ACTIONS), "chance")
    axes.set(ylim=(0, None), xlabel="snapshots seen, $N_{past}$", ylabel="probability of true action", xticks=x)
    style.legend_above(axes, [style.TOMNET_SIGN, style.IDEAL_LINE])


def _fields(place: SubFigure, field: Field) -> None:
    grid = place.subplots(2, len(field.fields))
    for col, one in enumerate(field.fields):
        draw_policy_arrows(grid[0, col], field.query, one.observer, title=f"$N_{{past}}$ = {one.past}")
        draw_policy_arrows(grid[1, col], field.query, one.ideal, colour=style.IDEAL)
    for axes, name in zip(grid[:, 0], ("ToMnet", "ideal observer"), strict=True):
        axes.set_ylabel(name)


def _embeddings(place: SubFigure, points: dict[str, Embeddings]) -> None:
    grid = np.atleast_1d(place.subplots(1, len(points)))
    kinds: set[int] = set()
    for axes, (observer, told) in zip(grid, points.items(), strict=True):
        preferred = np.asarray(told.preferred)
        kinds |= set(preferred.tolist())
        most = max(told.past)
        for past, character in zip(told.past, told.character, strict=True):
            where = np.asarray(character, float)[:, :2]
            if past == 0:  # nothing seen: every agent is the same to the observer
                axes.scatter(*where.T, s=14, color=style.NO_PAST, zorder=4, edgecolor="white", linewidth=0.3)
                continue
            for kind in sorted(set(preferred.tolist())):
                colour = style.tint(style.object_colour(kind), 0.15 + 0.85 * past / most)
                marker = OBJECT_MARKERS[kind % len(OBJECT_MARKERS)]
                axes.scatter(*where[preferred == kind].T, s=6, color=[colour], marker=marker, linewidth=0, zorder=2)
        axes.set_title(OBSERVERS[observer], fontsize=7.5)
        axes.set(xticks=[], yticks=[], xlabel="$e_{char}$, 1st dimension")
    grid[0].set_ylabel("2nd dimension")
    handles = [
        style.sign(LETTERS[kind], OBJECT_MARKERS[kind % len(OBJECT_MARKERS)], style.object_colour(kind))
        for kind in sorted(kinds)
    ]
    handles.append(style.sign("none seen", "o", style.NO_PAST))
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _accuracy(place: SubFigure, embedding: dict[str, list[PreferenceReadOut]], objects: int) -> None:
    axes = place.subplots()
    handles = []
    for step, (observer, rows) in enumerate(embedding.items()):
        told = {row.past: row.accuracy for row in rows if row.accuracy}  # who was never seen cannot be told
        marker, colour = OBSERVER_SIGNS[observer]
        x = np.array(list(told), float) + 0.24 * step - 0.12  # side by side, so that neither hides the other
        style.tomnet_points(axes, x, list(told.values()), colour=colour, marker=marker)
        handles.append(style.sign(OBSERVERS[observer], marker, colour))
    rows = next(iter(embedding.values()))
    style.ideal_line(axes, [row.past for row in rows], [row.ideal for row in rows])
    style.reference(axes, 1 / objects, "chance")
    axes.set(
        ylim=(0, 1.03),
        xlabel="snapshots seen, $N_{past}$",
        ylabel="accuracy",
        xticks=[row.past for row in rows],
    )
    style.legend_above(axes, [*handles, style.IDEAL_LINE])


def _captured(place: SubFigure, curve: list[CurvePoint]) -> None:
    axes = place.subplots()
    handles = []
    for step, (head, (marker, colour)) in enumerate(HEAD_SIGNS.items()):
        shares = {row.past: row.heads[head].captured for row in curve if head in row.heads}
        x = np.array(list(shares), float) + 0.15 * (step - 1)  # side by side, so that no interval hides another
        style.tomnet_points(axes, x, list(shares.values()), colour=colour, marker=marker)
        handles.append(style.sign(head, marker, colour))
    goals = sorted({row.goal for one in curve for row in one.heads.values()})
    style.reference(axes, 1.0, "ideal", outside=True)
    for goal in goals if axes.get_ylim()[0] > -1 else ():  # far below, the lines would run together
        style.reference(axes, goal, f"goal {goal:g}", outside=True)
    axes.set(
        xlabel="snapshots seen, $N_{past}$",
        ylabel="captured share",
        xticks=[row.past for row in curve if row.heads],
    )
    axes.set_ylim(min(0, axes.get_ylim()[0]), 1.08)
    style.legend_above(axes, handles)


def captions(tables: Tables) -> dict[str, str]:
    none, most = tables.curve[0], tables.curve[-1]
    told = ", ".join(
        f"{style.percent(rows[-1].accuracy.mean if rows[-1].accuracy else None)} ({OBSERVERS[observer]})"
        for observer, rows in tables.embedding.items()
    )
    ideal = next(iter(tables.embedding.values()))[-1].ideal
    trapped = tables.trapped
    return {
        "figure-5": (
            "Goal-driven agents, known from snapshots. An arrow is the move expected from its cell, longer where it is "
            "surer; the agent was chosen without a look at ToMnet (a, c). The true action is given a probability of "
            f"{style.plain(none.observer.mean)} with no snapshot and {style.plain(most.observer.mean)} "
            f"with {most.past}; the ideal observer's are {style.plain(none.ideal.mean)} and "
            f"{style.plain(most.ideal.mean)} (b). From the 2-D embedding the preferred object is told with an "
            f"accuracy of {told} after {most.past} snapshots, the ideal observer knows it in "
            f"{style.percent(ideal)} (d, e). On levels where a single object is in reach, that object is given "
            f"{style.plain(trapped.probability.mean, 2)}: {style.plain(trapped.if_preferred, 2)} where it is "
            f"the agent's favourite, {style.plain(trapped.if_not_preferred, 2)} where it is not (ideal observer "
            f"{style.plain(trapped.ideal, 2)}; claim G4)."
        )
    }
