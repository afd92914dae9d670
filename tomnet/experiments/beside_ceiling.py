"""The ceiling beside what observers reached: for D1, D4, F5, B1 and B3, where one is stored with the agents.

tomnet agents ceiling --agents 500 --out tomnet/zoo/agents/ceiling.json
"""

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..agents import population
from ..support.progress import stage
from .analysis.ceiling_measures import POOLS
from .belief_embeddings import EASY, HARD
from .ceiling import MIXED_POPULATION, THREE_SPECIES, Ceiling, other_agents, read_ceiling
from .claims.claim import Claim
from .deep_rl_agents import CUTS, weakest_head
from .sally_anne.specs import NARROW, WIDE

FILE = "ceiling.json"
Measured = Callable[[str, str], float]
"""(population, measure) → its mean, or not a number where it was not measured."""


def stored_ceiling() -> Ceiling | None:
    """That of the pretrained agents as they are now. A file about other agents is left out, not refused: observers of
    new agents can be evaluated before their ceiling is known."""
    path = population.PRETRAINED / FILE
    if not path.exists():
        return None
    ceiling = read_ceiling(path)
    others = other_agents(ceiling)
    if others:
        stage(f"the stored ceiling is about other agents of {', '.join(others)}, and left out")
    return None if others else ceiling


def beside_ceiling(claims: list[Claim], tables: Any, ceiling: Ceiling | None) -> list[Claim]:
    """The claims, with what one would reach who had the networks at hand: those asked about, or those of training."""
    if ceiling is None:
        return claims
    return [
        _with_ceiling(claim, CEILINGS[claim.id], tables, ceiling) if claim.id in CEILINGS else claim for claim in claims
    ]


def _with_ceiling(claim: Claim, read: Callable[[Claim, Any, Measured], float], tables: Any, ceiling: Ceiling) -> Claim:
    def mean(part, population: str, measure: str) -> float:
        row = ceiling.find(population, part, measure)
        return math.nan if row is None else row.estimate.mean

    values = {part: read(claim, tables, partial(mean, part)) for part in POOLS}
    known = {part: value for part, value in values.items() if math.isfinite(value)}
    return dataclasses.replace(claim, ceiling=(claim.ceiling or {}) | known or None)


# --- In the unit of each claim


def _cut(claim: Claim, tables: Any, mean: Measured) -> float:
    """Of the loss without any net, as a share of the paper's cut, for the prediction that decides."""
    head = weakest_head(tables)
    (none,) = (
        row.loss.mean
        for row in tables.losses
        if (row.part, row.observer, row.shuffled, row.head) == ("held out", "none", (), head)
    )
    return (1 - mean(THREE_SPECIES, head) / none) / CUTS[head]


def _species(claim: Claim, tables: Any, mean: Measured) -> float:
    return mean(THREE_SPECIES, "species")


def _gap(claim: Claim, tables: Any, mean: Measured) -> float:
    """At the distance where the observer's is widest."""
    return mean(MIXED_POPULATION, f"swap effect, {WIDE} less {NARROW}, at distance {claim.detail['distance']}")


def _belief_share(claim: Claim, tables: Any, mean: Measured) -> float:
    return mean(MIXED_POPULATION, "belief, share")


def _mixed_up(claim: Claim, tables: Any, mean: Measured) -> float:
    hard, easy = (mean(MIXED_POPULATION, f"{one} and {other} taken for each other") for one, other in (HARD, EASY))
    return hard - easy


CEILINGS = {"D1": _cut, "D4": _species, "F5": _gap, "B1": _belief_share, "B3": _mixed_up}
