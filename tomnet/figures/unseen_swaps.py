"""Figure A1: an observer that was trained without a single swap, beside the agents."""

from ..experiments.sally_anne.swap_curves import Curves
from ..experiments.unseen_swaps import Tables
from .false_beliefs_mixed import successors
from .panels import Panel, Panels
from .swap_curves import narrow_and_wide, said


def panels(tables: Tables) -> Panels:
    natural = tables.natural
    return {
        "figure-A1": (
            Panel(
                "a",
                "Next step, trained without swaps",
                "D_JS between next-step policies by swap distance for 3×3 and 9×9 agents: agents left, ToMnet right.",
                lambda place: narrow_and_wide(place, natural, "policy"),
            ),
            Panel(
                "b",
                "Beliefs, trained without swaps",
                "D_JS between beliefs by swap distance for 3×3 and 9×9 agents: agents left, ToMnet right.",
                lambda place: narrow_and_wide(place, natural, "belief"),
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


def captions(tables: Tables) -> dict[str, str]:
    def sides(name: str, what: str, natural: dict[str, Curves] = tables.natural) -> str:
        return " and ".join(said(side.observer[what]) for side in (natural[name].in_view, natural[name].out_of_view))

    return {
        "figure-A1": (
            "A ToMnet that never saw a swap in training, on the natural Sally-Anne test. For swaps in view and out of "
            f"view, its next-step policies move by {sides('3x3', 'policy')} nats of D_JS for 3×3 agents and by "
            f"{sides('9x9', 'policy')} for 9×9 agents (a), its beliefs by {sides('3x3', 'belief')} and by "
            f"{sides('9x9', 'belief')} (b). The policies predicted by an observer without a theory of mind, which sees "
            f"the query only, move by {sides('3x3', 'policy', tables.control)} and by "
            f"{sides('9x9', 'policy', tables.control)}. Compare Figs. 12c-d and 13c, by a ToMnet that did see swaps."
        )
    }
