"""Curves of D_JS by swap distance: the agents beside what the observer predicts of them (Figs. 12, 13c and A1)."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..episodes.targets import GAMMAS
from ..experiments.analysis.statistics import Estimate
from ..experiments.sally_anne.swap_curves import Curves, Who
from . import style

CONTROL = ("query only", "X", style.NO_PAST)  # an observer without a theory of mind: label, marker, colour
WHO: dict[Who, str] = {"agents": "agents", "observer": "ToMnet's prediction"}
COLOURS = {"agents": style.HAPPENED, "observer": style.TOMNET}
NARROW_AND_WIDE = ("3x3", "9x9")  # the two conditions that are set beside each other
GAMMA_SIGNS = dict(zip(GAMMAS, (("o", style.SKY_BLUE), ("s", style.BLUE), ("^", "#003F63"))))
ACROSS = "swap distance, cells"
FEWEST_DRAWN = 2  # pairs behind a mean


def measured(table: Curves, who: Who, what: str) -> dict[int, Estimate]:
    """By distance, where enough was measured; intervals end where D_JS does."""
    means = {row.distance: row.of(who)[what] for row in table.by_distance}
    enough = {far: mean for far, mean in means.items() if np.isfinite(mean.mean) and mean.pairs >= FEWEST_DRAWN}
    return {far: _possible(mean) for far, mean in enough.items()}


def _possible(divergence: Estimate) -> Estimate:
    low, high = np.clip(divergence.interval, 0.0, np.log(2)).tolist()
    return dataclasses.replace(divergence, low=low, high=high)


def series(
    axes: Axes, table: Curves, who: Who, what: str, *, marker: str, colour: style.Colour, shift: float = 0.0
) -> None:
    far = measured(table, who, what)
    if not far:
        return
    every = range(min(far), max(far) + 1)  # a line does not bridge distances at which nothing was measured
    means = [far[one].mean if one in far else np.nan for one in every]
    axes.plot(np.array(every) + shift, means, color=colour, linewidth=0.8, zorder=2)
    style.tomnet_points(axes, np.array(list(far)) + shift, list(far.values()), colour=colour, marker=marker)


def shade_view(axes: Axes, reach: int) -> None:
    """What is in view, on a grey ground."""
    axes.axvspan(0.5, reach + 0.5, color=style.GRID, alpha=0.7, linewidth=0, zorder=0)


def side_by_side(
    place: SubFigure,
    tables: Mapping[str, Curves],
    lines: Sequence[tuple[str, str, str, style.Colour]],
    label: str = "$D_{JS}$, nats",
) -> tuple[Axes, Axes]:
    """Agents left, observer right, on one scale. `lines`: condition, what was measured, marker, colour.

    A single line needs no colour of its own to be told apart: it takes that of agents and observer.
    """
    both = place.subplots(1, 2, sharey=True)
    for axes, (who, title) in zip(both, WHO.items()):
        for number, (condition, what, marker, colour) in enumerate(lines):
            shift = 0.12 * (number - (len(lines) - 1) / 2)
            own = COLOURS[who] if len(lines) == 1 else colour
            series(axes, tables[condition], who, what, marker=marker, colour=own, shift=shift)
        axes.set_title(title, fontsize=7.5)
        set_distances(axes, tables)
    from_zero(*both)
    both[0].set_ylabel(label)
    return both[0], both[1]


def narrow_and_wide(place: SubFigure, natural: Mapping[str, Curves], what: str) -> None:
    """The two conditions in one pair of axes."""
    side_by_side(place, {name: natural[name] for name in NARROW_AND_WIDE}, condition_lines(NARROW_AND_WIDE, what))
    condition_legend(place, NARROW_AND_WIDE)


def set_distances(axes: Axes, tables: Mapping[str, Curves], every: int = 1) -> None:
    """Narrow axes have room for every third number only."""
    far = [far for table in tables.values() for far in measured(table, "observer", "policy")]
    last = max(far, default=2)
    axes.set(xlim=(0.5, last + 0.5), xticks=range(1, last + 1, every), xlabel=ACROSS)


def from_zero(*sharing: Axes) -> None:
    """D_JS begins at 0, with room for marks that lie just there."""
    top = max(axes.get_ylim()[1] for axes in sharing)
    for axes in sharing:
        axes.set_ylim(-0.03 * top, 1.03 * top)


def condition_lines(conditions: Sequence[str], what: str) -> list[tuple[str, str, str, style.Colour]]:
    return [(name, what, *style.CONDITION_SIGNS[name]) for name in conditions]


def condition_legend(place: SubFigure, conditions: Sequence[str]) -> None:
    handles = [
        style.sign(f"{style.condition_name(name)} agents", *style.CONDITION_SIGNS[name], line=True)
        for name in conditions
    ]
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def said(effect: Estimate) -> str:
    """A mean with its interval, for a caption."""
    return f"{style.plain(effect.mean)} [{style.plain(effect.low)}, {style.plain(effect.high)}]"
