"""A claim of the paper, and the measurement that decides it."""

import dataclasses
import math
from typing import Any, Literal

Verdict = Literal["reproduced", "partly", "not reproduced"]


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
    detail: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def reference(self) -> float | None:
        """What the measured value stands beside."""
        return self.agents if self.ideal is None else self.ideal


def if_measured(value: float) -> float | None:
    """A claim's reference: none at all, rather than not a number, where it could not be measured."""
    return None if math.isnan(value) else value


def verdict(reproduced: bool, partly: bool) -> Verdict:
    return "reproduced" if reproduced else "partly" if partly else "not reproduced"
