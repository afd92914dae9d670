"""Figure S1, beyond the paper: what it costs an observer to see the past badly."""

import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..experiments.analysis.statistics import Estimate
from ..experiments.partial_observers import Point, Score, Scores, Tables
from . import style
from .panels import Panel, Panels


@dataclasses.dataclass(frozen=True)
class Kind:
    """One way of seeing badly, in words."""

    title: str
    severity: str  # what stands below the axis
    row: str  # one of its points, in a table
    worst: str  # its last point, for the caption
    even: bool = False  # points at even distances, since it is no probability


KINDS = {
    "missed": Kind("Steps are missed", "probability that a step is missed", "steps missed: {}", "all steps missed"),
    "mistaken": Kind(
        "Actions are mistaken",
        "probability that an action is taken for another",
        "actions mistaken: {}",
        "actions that tell nothing",
    ),
    "near": Kind(
        "Objects are seen near the agent only",
        "objects seen up to so many cells away",
        "objects seen up to {} away",
        "only the next cells seen",
        True,
    ),
}


SIGNS = (style.sign("ToMnet, 95% bars", "o"), style.sign("ideal, 95% band", "", style.IDEAL, line=True))


def panels(tables: Tables) -> Panels:
    def panel(letter: str, kind: str) -> Panel:
        words = KINDS[kind]
        return Panel(
            letter,
            words.title,
            f"Loss and accuracy of the object taken against {words.severity}: dots for ToMnet, a line for the ideal "
            "observer that knows how badly it sees, a dotted one where nothing is seen.",
            lambda place: _curves(place, tables, kind),
            3.1,
        )

    return {"figure-S1": tuple(panel(letter, kind) for letter, kind in zip("abc", tables.curves, strict=True))}


def _curves(place: SubFigure, tables: Tables, kind: str) -> None:
    above, below = place.subplots(2, 1, sharex=True)
    points = tables.curves[kind]
    everything = [tables.all_seen, *(point.scores for point in points)]
    x = _places(kind, points)
    for axes, measure in ((above, "loss"), (below, "accuracy")):
        _curve(axes, x, everything, measure)
        style.reference(axes, getattr(tables.nothing_seen, measure).mean, "nothing\nseen", outside=True)
    above.set(ylim=(0, None), ylabel="object taken:\nloss, nats")
    below.set(ylim=(0, 1.03), ylabel="object taken:\naccuracy", xlabel=KINDS[kind].severity)
    best = "all" if KINDS[kind].even else "0"
    below.set_xticks(x, [best, *(f"{point.severity:g}" for point in points)])
    style.legend_above(above, SIGNS)


def _places(kind: str, points: list[Point]) -> np.ndarray:
    """Along the axis, from all in sight on."""
    if KINDS[kind].even:
        return np.arange(1.0 + len(points))
    return np.array([0.0, *(point.severity for point in points)])


def _curve(axes: Axes, x: np.ndarray, everything: list[Scores], measure: str) -> None:
    def estimates(whose: str) -> list[Estimate]:
        return [getattr(getattr(scores, whose), measure) for scores in everything]

    ideal = estimates("ideal")
    low, high = np.array([each.interval for each in ideal]).T
    axes.fill_between(x, low, high, color=style.IDEAL, alpha=0.1, linewidth=0)
    style.ideal_line(axes, x, style.means(ideal))
    style.tomnet_points(axes, x, estimates("observer"))


def captions(tables: Tables) -> dict[str, str]:
    def costs(score: Score) -> str:
        return f"{style.plain(score.cost.mean)} nats"

    worst = {kind: points[-1].scores for kind, points in tables.curves.items()}
    told = "; ".join(
        f"{KINDS[kind].worst}, {costs(each.observer)} to ToMnet and "
        f"{costs(each.ideal)} to the ideal observer ({letter})"
        for letter, (kind, each) in zip("abc", worst.items(), strict=True)
    )
    learned, ideal = tables.all_seen.observer.loss.mean, tables.all_seen.ideal.loss.mean
    return {
        "figure-S1": (
            "Goal-driven agents, seen badly for one trajectory, and the object that each then takes on a new level, "
            f"which is seen plainly. With all in sight, the loss is {style.plain(learned)} nats for ToMnet and "
            f"{style.plain(ideal)} for the ideal observer; with nothing seen, "
            f"{style.plain(tables.nothing_seen.loss.mean)}. What it costs to see as badly as was tried: {told}. One "
            "observer for all, not told how it sees; the ideal observer is. Bars and shades: 95% intervals over agents."
        )
    }
