"""A claim of the paper, and the measurement that decides it."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal

Verdict = Literal["reproduced", "partly", "not reproduced"]
AtHand = Literal["agent", "held out", "training"]


@dataclasses.dataclass(frozen=True)
class Claim:
    id: str
    statement: str
    verdict: Verdict
    value: float
    interval: tuple[float, float] | None  # 95%
    unit: str
    decided_by: str  # the rule, with its thresholds: written before any result was seen
    paper: str | None = None  # the paper's own figure, where it gives one
    ideal: float | None = None  # the exact observer's figure, where one exists
    agents: float | None = None  # what the agents themselves do, where there is no exact observer
    control: float | None = None  # of an observer without a theory of mind, where one was asked
    ceiling: dict[AtHand, float] | None = None  # of one who has at hand what observers have to infer
    detail: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def reference(self) -> float | None:
        """What the measured value stands beside."""
        return self.agents if self.ideal is None else self.ideal


def beside(control: float | None, ceiling: Mapping[AtHand, float] | None) -> dict[str, float]:
    """What else a claim's value stands beside, in words, where it was measured."""
    known = {} if control is None else {"an observer without a theory of mind": control}
    return known | {AT_HAND[part]: value for part, value in (ceiling or {}).items()}


AT_HAND: dict[AtHand, str] = {
    "agent": "one who has the agent itself at hand, and rolls it out",
    "held out": "the ceiling, one who has these networks at hand",
    "training": "one who has the training networks at hand",
}


def if_measured(value: float) -> float | None:
    """A claim's reference: none at all, rather than not a number, where it could not be measured."""
    return None if math.isnan(value) else value


def verdict(reproduced: bool, partly: bool) -> Verdict:
    return "reproduced" if reproduced else "partly" if partly else "not reproduced"
