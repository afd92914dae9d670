"""What `tomnet fit` found: a table, enough to draw the figures and to print every number again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..experiments.analysis.statistics import Estimate
from ..support.errors import BadFile
from ..support.json_files import read_json
from ..support.typed_json import Misfit, from_json
from .scores import Advantage, AgentScore, Reliability, Score
from .training import Trained

RESULT = "result.json"


@dataclass(frozen=True)
class AgentPoint:
    """An agent after all that was seen of it, on the two principal axes of what tells one from another."""

    agent: str
    part: str
    embedding: list[float]
    place: list[float]


@dataclass(frozen=True)
class Started:
    """Whether it helped to start from a pretrained observer, by the loss of the object that is taken, in nats."""

    name: str
    kept: bool  # it is the network of this fit, because its loss on the validation part is the lower one
    validation: float
    validation_without: float
    past: int  # the longest, after which it was tested:
    test: Estimate
    test_without: Estimate
    gain: Estimate  # of the one over the other, agent by agent


@dataclass(frozen=True)
class FitResult:
    agents: int
    episodes: int
    kinds: list[str]
    actions: list[str]
    split_by: str
    split: str  # in a sentence
    remarks: list[str]
    recommended: str
    validation: dict[str, float]  # mean loss in nats of each observer that could be recommended
    network_weight: dict[str, dict[str, float]]  # in the mixture, for each head, by N_past
    prior: dict[str, Any]  # of the inverse planner
    training: Trained
    scores: list[Score]
    agent_scores: list[AgentScore]  # with the longest past
    advantages: list[Advantage]  # of the recommended observer
    reliability: list[Reliability]
    points: list[AgentPoint]
    seed: int
    fold: int
    environment: dict[str, Any]
    started: Started | None = None

    def score(self, observer: str, head: str, cases: str = "all", past: int | None = None) -> Score:
        """With the longest past, unless told otherwise."""
        found = [one for one in self.scores if (one.observer, one.head, one.cases) == (observer, head, cases)]
        return found[-1] if past is None else next(one for one in found if one.past == past)


def load_fit(folder: Path) -> FitResult:
    path = Path(folder) / RESULT
    try:
        return from_json(FitResult, read_json(path))
    except Misfit as why:
        raise BadFile(path, f"holds no result of a fit: {why}") from None
