"""F1 and F7: what the agents themselves make of swaps, decided from tables of `swap_effects` alone."""

import numpy as np

from ...agents.population import find_condition
from ..claims.claim import Claim, verdict
from ..claims.statements import STATEMENTS
from .swap_effects import NOTICEABLE, SwapTable

WIDTHS = ("5x5", "7x7", "9x9")  # that 3x3 is set against


def swap_claims(tables: dict[str, SwapTable]) -> list[Claim]:
    """F1 where there are sighted agents, F7 where all fields of view are there to compare.

    What could not be measured, for want of pairs or of a second network, is left out: it was not refuted.
    """
    sighted = [name for name in tables if find_condition(name).field_of_view]
    claims = [seen_swaps_only(tables, sighted)] if sighted else []
    if all(name in tables for name in ("3x3", *WIDTHS)):
        claims.append(hypersensitive(tables))
    return [claim for claim in claims if claim is not None]


def seen_swaps_only(tables: dict[str, SwapTable], sighted: list[str]) -> Claim | None:
    """None where it was not measured. An effect out of view decides it, whatever is missing."""
    seen = {name: tables[name].in_view.policy for name in sighted}
    unseen = [table.out_of_view.policy.largest for table in tables.values()]
    largest = max((largest for largest in unseen if np.isfinite(largest)), default=float("nan"))
    if not largest > 0 and not (largest == 0 and all(effect.measured for effect in seen.values())):
        return None
    weakest = min(seen, key=lambda name: seen[name].mean if np.isfinite(seen[name].mean) else -1)
    lows = [effect.low for effect in seen.values()]
    return Claim(
        "F1",
        STATEMENTS["F1"],
        verdict(
            largest == 0 and all(low > NOTICEABLE for low in lows),
            largest == 0 and all(low > 0 for low in lows),
        ),
        seen[weakest].mean,
        seen[weakest].interval,
        f"nats of D_JS between next-step policies, swap in view, least of all sighted conditions ({weakest})",
        "reproduced: the largest D_JS of any swap out of view is exactly 0, and the interval of the mean D_JS in view "
        f"is above {NOTICEABLE} for every sighted condition that was measured; partly: above 0 instead",
        paper="Fig. 12a, left: “often changed when a swap was in view”, “wouldn't change when the swap was not "
        "observable”",
        detail={"largest_out_of_view": largest} | {name: effect.mean for name, effect in seen.items()},
    )


def hypersensitive(tables: dict[str, SwapTable]) -> Claim | None:
    """None where it was not measured."""
    near = {name: tables[name].by_distance[0].policy for name in ("3x3", *WIDTHS)}
    if not all(effect.measured for effect in near.values()):
        return None
    small, others = near["3x3"], [near[name] for name in WIDTHS]
    return Claim(
        "F7",
        STATEMENTS["F7"],
        verdict(
            all(small.above(other) for other in others),
            all(small.mean > other.mean for other in others),
        ),
        small.mean,
        small.interval,
        "nats of D_JS between next-step policies, swaps at distance 1, 3×3 agents",
        "reproduced: above that of 5×5, 7×7 and 9×9 agents, intervals apart; partly: above each of them",
        paper="Fig. 12c: “considerably more sensitive” than 9×9; 5×5 and 7×7 “had intermediate sensitivities”",
        detail={name: effect.mean for name, effect in near.items()}
        | {
            "softer, above 9×9 alone, intervals apart": small.above(near["9x9"]),
            "softer, 5×5 and 7×7 between the two": all(
                near["9x9"].mean <= near[name].mean <= small.mean for name in ("5x5", "7x7")
            ),
        },
    )
