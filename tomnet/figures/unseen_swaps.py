"""Figure A1: an observer that was trained without a single swap, beside the agents."""

from matplotlib.figure import Figure

from ..experiments.experiment import Result
from .false_beliefs_mixed import policies, successors
from .panels import Panel, Panels, compose_all
from .swap_curves import NARROW_AND_WIDE, condition_legend, condition_lines, said, side_by_side


def draw(result: Result) -> dict[str, Figure]:
    return compose_all(panels(result))


def panels(result: Result) -> Panels:
    natural = result.tables["natural"]

    def beliefs(place) -> None:
        side_by_side(
            place, {name: natural[name] for name in NARROW_AND_WIDE}, condition_lines(NARROW_AND_WIDE, "belief")
        )
        condition_legend(place, NARROW_AND_WIDE)

    return {
        "figure-A1": (
            Panel(
                "a",
                "Next step, trained without swaps",
                "D_JS between next-step policies by swap distance for 3×3 and 9×9 agents: agents left, ToMnet right.",
                lambda place: policies(place, natural),
            ),
            Panel(
                "b",
                "Beliefs, trained without swaps",
                "D_JS between beliefs by swap distance for 3×3 and 9×9 agents: agents left, ToMnet right.",
                beliefs,
            ),
            Panel(
                "c",
                "The way ahead, trained without swaps",
                "D_JS between successor maps by swap distance for 3×3 and 9×9 agents: a column for each discount, "
                "agents above, ToMnet below.",
                lambda place: successors(place, natural),
                3.6,
            ),
        )
    }


def captions(result: Result) -> dict[str, str]:
    natural = result.tables["natural"]

    def sides(name: str, what: str) -> str:
        return " and ".join(said(natural[name][side]["observer"][what]) for side in ("in_view", "out_of_view"))

    return {
        "figure-A1": (
            "A ToMnet that never saw a swap in training, on the natural Sally-Anne test. For swaps in view and out of "
            f"view, its next-step policies move by {sides('3x3', 'policy')} nats of D_JS for 3×3 agents and by "
            f"{sides('9x9', 'policy')} for 9×9 agents (a), its beliefs by {sides('3x3', 'belief')} and by "
            f"{sides('9x9', 'belief')} (b). Compare Figs. 12c-d and 13c, by a ToMnet that did see swaps."
        )
    }
