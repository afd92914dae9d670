"""Section 3.4, Fig. A1: an observer that has never seen a swap, asked about swaps.

    tomnet run unseen-swaps --preset laptop
    tomnet run unseen-swaps --preset full     14 min on an H200: F6, 0.12 nats

Goal: the curves of `false-beliefs-mixed` and `explicit-beliefs` again, from an observer trained where nothing ever
changes behind an agent's back.
"""

import dataclasses

from ..observer.tomnet import ToMnet
from ..world.gridworld import SUBGOAL_MAZE
from .claims.claim import Claim, Verdict, if_measured, verdict
from .claims.statements import STATEMENTS
from .experiment import Experiment, ObserverSpec, Preset
from .sally_anne.natural_swaps import futures_of
from .sally_anne.specs import MIXED, NARROW, SIGHTED, WIDE, WITH_FUTURES, control_spec, spec
from .sally_anne.swap_curves import (
    BETWEEN,
    GAP,
    IN_ORDER,
    Curves,
    agreement,
    agreement_interval,
    curves_of,
    gap_at,
    keeps_order,
    parting,
)
from .sally_anne.swap_effects import NOTICEABLE
from .sally_anne.walks import walk_all

STILL = dataclasses.replace(SUBGOAL_MAZE, swap_probability=0.0)


def specs(preset: Preset) -> tuple[ObserverSpec, ...]:
    still = spec("no-swaps", preset, MIXED, beliefs=True, world=STILL)
    return still, control_spec(preset, home="explicit-beliefs")


@dataclasses.dataclass(frozen=True)
class Tables:
    natural: dict[str, Curves]  # by condition
    control: dict[str, Curves]  # the same, as foretold without a theory of mind


def evaluate(observers: dict[str, ToMnet], agents: int, seed: int) -> tuple[Tables, list[Claim]]:
    """With swaps: the agents were raised to expect them, and only the observer was not."""
    walks = walk_all(seed, SIGHTED, agents)
    tables = Tables(
        natural=curves_of(walks, observers["no-swaps"], futures_of(seed, WITH_FUTURES, agents)),
        control=curves_of(walks, observers["control"]),
    )
    return tables, _claims(tables)


def _claims(tables: Tables) -> list[Claim]:
    natural, control = tables.natural, tables.control
    sighted = [natural[name] for name in SIGHTED]
    two, unread = ((each[NARROW], each[WIDE]) for each in (natural, control))
    part = parting(*two, "policy")
    gap = gap_at(part.widest, *two, "observer", "policy")
    return [
        Claim(
            "F6",
            STATEMENTS["F6"],
            _decided(natural),
            gap.mean,
            gap.interval,
            GAP,
            f"reproduced: {IN_ORDER} for each field of view; and 9×9 above 3×3, intervals apart and at least "
            f"{NOTICEABLE} nats, at some distance from {BETWEEN}; partly: one of the two",
            paper="Fig. A1: “qualitatively identical”",
            agents=if_measured(gap_at(part.widest, *two, "agents", "policy").mean),
            control=if_measured(gap_at(part.widest, *unread, "observer", "policy").mean),
            detail={
                "agreement": agreement(sighted, "policy"),
                "agreement_interval": agreement_interval(sighted, "policy"),  # it takes the agents' order as given
                "distance": part.widest,
                "clear_at": part.clear,
                "gaps": {str(far): gap for far, gap in part.gaps.items()},
                "agreement_beliefs": agreement(sighted, "belief"),
                "ratios": {name: natural[name].ratio["policy"].mean for name in SIGHTED},
                "control": {
                    "agreement": agreement([control[name] for name in SIGHTED], "policy"),
                    "by_the_same_rule": _decided(control),
                },
            },
        )
    ]


def _decided(natural: dict[str, Curves]) -> Verdict:
    ordered = keeps_order([natural[name] for name in SIGHTED], "policy")
    apart = bool(parting(natural[NARROW], natural[WIDE], "policy").clear)
    return verdict(ordered and apart, ordered or apart)


EXPERIMENT = Experiment(
    name="unseen-swaps",
    title="Beliefs about swaps never seen",
    section="3.4",
    figures=("A1",),
    claims=("F6",),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"full": "14"},
)
