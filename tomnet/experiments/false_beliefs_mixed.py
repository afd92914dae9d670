"""Section 3.4, mixed population: does the observer know who can see what?

    tomnet run false-beliefs-mixed --preset laptop
    tomnet run false-beliefs-mixed --preset full     25 min on an H200, most of it beside another run: F5, 0.14 nats

Goal: from past behaviour alone it tells agents that see 3×3 from those that see 9×9, and expects a swap two to four
cells away to matter to the latter only.

The observer is that of `explicit-beliefs`, which meets the same agents: one observer, asked here about behaviour and
there about beliefs.
"""

import dataclasses

from ..observer.tomnet import ToMnet
from ..support.streams import EVALUATION_STREAM, stream
from ..world.gridworld import SUBGOAL_MAZE
from .claims.claim import Claim, if_measured, verdict
from .claims.statements import STATEMENTS
from .experiment import Experiment, ObserverSpec, Preset
from .sally_anne.natural_swaps import futures_of
from .sally_anne.specs import FIVE, MIXED, NARROW, SIGHTED, WIDE, WITH_FUTURES, mixed_spec
from .sally_anne.swap_claims import swap_claims
from .sally_anne.swap_curves import BETWEEN, GAP, Curves, agreement, curves_of, gap_at, parting
from .sally_anne.swap_effects import NOTICEABLE, SwapTable, pairs_by_network, swap_table
from .sally_anne.swap_examples import SwapExamples, swap_examples
from .sally_anne.walks import walk_all


def specs(preset: Preset) -> tuple[ObserverSpec, ...]:
    return (mixed_spec(preset, home="explicit-beliefs"),)


@dataclasses.dataclass(frozen=True)
class Tables:
    agents: dict[str, SwapTable]  # by condition
    natural: dict[str, Curves]  # by condition
    examples: SwapExamples


def evaluate(observers: dict[str, ToMnet], agents: int, seed: int) -> tuple[Tables, list[Claim]]:
    walks = walk_all(seed, MIXED, agents)
    (shown,) = FIVE
    key = stream(seed, EVALUATION_STREAM)
    tables = Tables(
        agents={name: swap_table(pairs_by_network(each.pairs, each.networks)) for name, each in walks.items()},
        natural=curves_of(walks, observers["mixed"], futures_of(seed, WITH_FUTURES, agents)),
        examples=swap_examples(key, walks[shown].agents, walks[shown].pairs, SUBGOAL_MAZE),
    )
    return tables, _claims(tables)


def _claims(tables: Tables) -> list[Claim]:
    natural = tables.natural
    two = (natural[NARROW], natural[WIDE])
    part = parting(*two, "policy")
    gap = gap_at(part.widest, *two, "observer", "policy")
    knows = Claim(
        "F5",
        STATEMENTS["F5"],
        verdict(bool(part.clear), part.everywhere),
        gap.mean,
        gap.interval,
        GAP,
        f"reproduced: 9×9 above 3×3, intervals apart, and at least {NOTICEABLE} nats, at some distance from {BETWEEN}; "
        "partly: above at each of them",
        paper="“an implicit grasp of how different agents' sensory abilities render them differentially vulnerable to "
        "acquire false beliefs”; that 9×9 lies above 3×3 from distance 2 on is assumed of Fig. 12c's picture",
        agents=if_measured(gap_at(part.widest, *two, "agents", "policy").mean),
        detail={
            "distance": part.widest,
            "clear_at": part.clear,
            "gaps": {str(far): gap for far, gap in part.gaps.items()},
            "agreement": agreement([natural[name] for name in SIGHTED], "policy"),
            "softer, above at each distance of these that was measured": part.where_measured,
        },
    )
    return sorted([*swap_claims(tables.agents), knows], key=lambda claim: claim.id)


EXPERIMENT = Experiment(
    name="false-beliefs-mixed",
    title="False beliefs in a mixed population",
    section="3.4",
    figures=("10", "12c-d"),
    claims=("F1", "F5", "F7"),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"full": "25"},
)
