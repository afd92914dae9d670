"""Figures 10 and 12c-d: what a swap does to agents, and one observer of agents with different fields of view."""

from matplotlib.figure import SubFigure

from ..episodes.targets import GAMMAS
from ..experiments.false_beliefs_mixed import Tables
from ..experiments.sally_anne.swap_curves import Curves, Who
from . import style
from .panels import Panel, Panels
from .swap_curves import (
    NARROW_AND_WIDE,
    WHO,
    condition_legend,
    from_zero,
    narrow_and_wide,
    said,
    series,
    set_distances,
)
from .swap_examples import swap_example_caption, swap_example_panels


def panels(tables: Tables) -> Panels:
    natural = tables.natural
    return {
        **swap_example_panels(tables.examples),
        "figure-12c-d": (
            Panel(
                "c",
                "What a swap does to the next step",
                "D_JS between next-step policies by swap distance for 3×3 and 9×9 agents: agents left, ToMnet right.",
                lambda place: narrow_and_wide(place, natural, "policy"),
            ),
            Panel(
                "",
                "All fields of view, as ToMnet has them",
                "ToMnet's D_JS between next-step policies by swap distance, a series for each field of view, blind "
                "agents included.",
                lambda place: _everyone(place, natural),
            ),
            Panel(
                "d",
                "What a swap does to the way ahead",
                "D_JS between successor maps by swap distance for 3×3 and 9×9 agents: a column for each discount, "
                "agents above, ToMnet below.",
                lambda place: successors(place, natural),
                3.6,
            ),
        ),
    }


def _everyone(place: SubFigure, natural: dict[str, Curves]) -> None:
    axes = place.subplots()
    for number, (name, table) in enumerate(natural.items()):
        marker, colour = style.CONDITION_SIGNS[name]
        shift = 0.1 * (number - (len(natural) - 1) / 2)
        series(axes, table, "observer", "policy", marker=marker, colour=colour, shift=shift)
    set_distances(axes, natural)
    from_zero(axes)
    axes.set_ylabel("$D_{JS}$, nats")
    place.legend(
        handles=[style.sign(style.condition_name(name), *style.CONDITION_SIGNS[name], line=True) for name in natural],
        loc="outside lower center",
        ncols=len(natural),
    )


def successors(place: SubFigure, natural: dict[str, Curves]) -> None:
    grid = place.subplots(len(WHO), len(GAMMAS), sharex=True, sharey=True)
    shown = {name: natural[name] for name in NARROW_AND_WIDE}
    for row, (who, title) in zip(grid, WHO.items()):
        for axes, gamma in zip(row, GAMMAS):
            for shift, name in zip((-0.06, 0.06), NARROW_AND_WIDE):
                marker, colour = style.CONDITION_SIGNS[name]
                series(axes, shown[name], who, f"successor {gamma}", marker=marker, colour=colour, shift=shift)
            set_distances(axes, shown, every=3)
            axes.label_outer()
        row[0].set_ylabel(f"{title}\n$D_{{JS}}$, nats")
    from_zero(*grid.flat)
    for axes, gamma in zip(grid[0], GAMMAS):
        axes.set_title(f"γ = {gamma}", fontsize=7.5)
    for axes in (grid[-1][0], grid[-1][-1]):
        axes.set_xlabel("")  # the middle one speaks for all three: side by side they run into each other
    condition_legend(place, NARROW_AND_WIDE)


def captions(tables: Tables) -> dict[str, str]:
    natural, examples = tables.natural, tables.examples

    def at(who: Who, far: int) -> str:
        pair = [natural[name].by_distance[far - 1].of(who)["policy"] for name in NARROW_AND_WIDE]
        return f"{said(pair[0])} and {said(pair[1])}"

    figure_10 = {"figure-10": swap_example_caption(examples)} if any(examples.values()) else {}
    return figure_10 | {
        "figure-12c-d": (
            "The natural Sally-Anne test in a mixed population: one ToMnet, which is not told who sees how far. For a "
            f"swap at distance 2, the policies of 3×3 and 9×9 agents change by {at('agents', 2)} nats of D_JS, and "
            f"ToMnet predicts {at('observer', 2)} (c). Blind agents never see a swap; ToMnet's prediction for them "
            f"moves by {said(natural['blind'].out_of_view.observer['policy'])}."
        )
    }
