"""What watching found: tables, enough to draw every figure and to print every number again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from ..experiments.analysis.statistics import Estimate

Shares = dict[str, float]
"""Probabilities by name."""


@dataclass(frozen=True)
class Step:
    """What was expected before a step, and what was done."""

    time: int
    action: Shares
    taken: Shares  # none, where the observer does not say
    done: str | None  # None: unknown
    nats: float | None  # -log p of what was done


@dataclass(frozen=True)
class WatchedEpisode:
    episode: str
    past: int  # episodes that it was foretold from
    counted: bool  # False: the observer met no agent with so little a past in training
    took: list[str]
    steps: list[Step]
    nats: float | None  # the mean of its steps


@dataclass(frozen=True)
class WatchedAgent:
    agent: str
    nats: Estimate  # a step, over episodes that count
    unknown: int  # actions, which are skipped
    character: list[float]  # after all episodes
    deviation: list[float] | None
    place: list[float]  # on the map
    cluster: int | None  # counted from 1
    nearest: list[str]  # other agents, the most alike first
    beyond: list[str]  # what is unlike anything that the observer met in training
    episodes: list[WatchedEpisode]


@dataclass(frozen=True)
class Resemblance:
    """Whether agents fall into clusters, by the space of characters."""

    axes: list[str]  # of the map
    clusters: int  # 0: none that are apart
    silhouette: float | None  # of the best split into clusters
    told: str


@dataclass(frozen=True)
class Moment:
    """A violation of expectation: the maze at that time, the way there, and what was done instead."""

    agent: str
    episode: str
    step: Step
    walls: Bool[np.ndarray, "row col"]
    path: list[int]  # cells, up to where the agent is
    objects: list[tuple[str, int]]  # letter and cell


@dataclass(frozen=True)
class Watched:
    observer: str
    chosen: str  # why this one, in a sentence
    kinds: list[str]  # of objects that were seen
    actions: list[str]
    episodes: int
    nats: Estimate  # a step, over agents
    by_past: dict[str, Estimate]  # the same, by the number of past episodes that were seen
    agents: list[WatchedAgent]
    resemblance: Resemblance
    moments: list[Moment]  # the most surprising first
    remarks: list[str]
    environment: dict[str, Any]
