"""What is reported of each observer: losses and accuracies against N_past with intervals, and calibration."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from ..experiments.analysis import calibration
from ..experiments.analysis.statistics import Estimate, mean_interval
from ..recordings.recording import UNKNOWN
from .dataset import QUERIES, Dataset
from .observer_protocol import Asked, Observer, ask_all

LEVELS = (0, 1, 2, 5, 10, 20, 50)  # of N_past
MOST_ASKED = 2000
FEWEST_AGENTS = 3  # with fewer, intervals are over episodes
LEAST = 1e-9  # probability: what was thought impossible costs 21 nats
TIED = 1e-6  # probability: closer than what single precision tells apart

Head = Literal["outcome", "action", "successor"]
Cases = Literal["all", "nearest not taken"]


@dataclass(frozen=True)
class Score:
    observer: str
    head: Head
    cases: Cases
    past: int
    queries: int
    nats: Estimate  # of the loss
    accuracy: Estimate | None  # of the likeliest, of several drawn by lot; none for maps


@dataclass(frozen=True)
class AgentScore:
    """What came out for one agent, on average over its episodes."""

    agent: str
    observer: str
    cases: Cases
    queries: int
    nats: float
    accuracy: float


@dataclass(frozen=True)
class Advantage:
    """How much better one observer is than another, agent by agent, where the nearest object was not taken."""

    observer: str
    over: str
    nats: Estimate
    accuracy: Estimate


@dataclass(frozen=True)
class Bin:
    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True)
class Reliability:
    """Of the likeliest outcome: how likely it was said to be, and how often it came true."""

    observer: str
    error: float  # expected calibration error
    bins: list[Bin]


@dataclass(frozen=True)
class Said:
    """What was said of one part, for one N_past."""

    past: int
    asked: Asked
    outcomes: dict[str, Float[np.ndarray, "asked outcome"]]


def levels_for(data: Dataset, wanted: Bool[np.ndarray, "episode"]) -> tuple[int, ...]:
    """Up to half of what the median agent has: the same episodes are then asked about after every N_past."""
    counts = [len(own) for own in data.sequences if wanted[own].any()]
    most = int(np.median(counts)) // 2
    return tuple(level for level in LEVELS if level <= most)


def asked_after(
    data: Dataset, wanted: Bool[np.ndarray, "episode"], past: int, least: int, queries: Sequence[int] = (0,)
) -> Asked:
    """Not all of thousands: a part of them, the same for every N_past."""
    asked = ask_all(data, wanted, past, least=least, queries=queries)
    chosen = np.random.default_rng(0).permutation(len(asked.episode))[:MOST_ASKED]
    return asked.part(np.sort(chosen))


def say(observers: Mapping[str, Observer], data: Dataset, wanted: Bool[np.ndarray, "episode"]) -> list[Said]:
    """All observers about the start of the same episodes, after every N_past."""
    levels = levels_for(data, wanted)
    found = []
    for past in levels:
        asked = asked_after(data, wanted, past, levels[-1])
        found.append(Said(past, asked, {name: each.outcomes(data, asked) for name, each in observers.items()}))
    return found


def outcome_scores(data: Dataset, said: Sequence[Said]) -> list[Score]:
    scores = []
    for one in said:
        cases = data.nearest_not_taken[one.asked.place]
        for name, outcomes in one.outcomes.items():
            loss, hit = judged(outcomes, data.outcome[one.asked.place])
            for which, rows in _cases(cases):
                agent = data.agent[one.asked.episode[rows]]
                row = (name, "outcome", which, one.past, int(rows.sum()))
                scores.append(Score(*row, *_measured(loss[rows], hit[rows], agent)))
    return scores


def agent_scores(data: Dataset, said: Said) -> list[AgentScore]:
    """Agent by agent, of the object that is taken."""
    scores, agent = [], data.agent[said.asked.episode]
    cases = data.nearest_not_taken[said.asked.place]
    for name, outcomes in said.outcomes.items():
        loss, hit = judged(outcomes, data.outcome[said.asked.place])
        for one in np.unique(agent):
            for which, wanted in _cases(cases):
                rows = wanted & (agent == one)
                if rows.any():
                    measured = (int(rows.sum()), float(loss[rows].mean()), float(hit[rows].mean()))
                    scores.append(AgentScore(data.agents[one], name, which, *measured))
    return scores


def _cases(hard: Bool[np.ndarray, "asked"]) -> tuple[tuple[Cases, np.ndarray], ...]:
    return ("all", np.ones_like(hard)), ("nearest not taken", hard)


def action_scores(observers: Mapping[str, Observer], data: Dataset, wanted: Bool[np.ndarray, "episode"]) -> list[Score]:
    """Of the next action at any time of an episode, where it is known."""
    scores, levels = [], levels_for(data, wanted)
    for past in levels:
        asked = asked_after(data, wanted, past, levels[-1], range(QUERIES))
        asked = asked.part(np.flatnonzero(data.actions[asked.place] != UNKNOWN))
        if not len(asked.episode):
            return []
        agent = data.agent[asked.episode]
        for name, observer in observers.items():
            loss, hit = judged(observer.actions(data, asked), data.actions[asked.place])
            row = (name, "action", "all", past, len(loss))
            scores.append(Score(*row, *_measured(loss, hit, agent)))
    return scores


def successor_scores(name: str, observer, data: Dataset, wanted: Bool[np.ndarray, "episode"]) -> list[Score]:
    """Of the maps of all discounts, on average: the cross-entropy with where the agent then was."""
    scores, levels = [], levels_for(data, wanted)
    for past in levels:
        asked = asked_after(data, wanted, past, levels[-1], range(QUERIES))
        said, happened = observer.successor_maps(data, asked), data.successor_maps(*asked.place)
        loss = -(happened * np.log(np.clip(said, LEAST, 1))).sum((-1, -2)).mean(-1)  # rounded, p may be above 1
        nats = within(over_agents(loss, data.agent[asked.episode]))
        scores.append(Score(name, "successor", "all", past, len(loss), nats, None))
    return scores


def advantages(data: Dataset, said: Said, of: str) -> list[Advantage]:
    """Of one observer over each other one."""
    rows = data.nearest_not_taken[said.asked.place]
    happened, agent = data.outcome[said.asked.place][rows], data.agent[said.asked.episode[rows]]
    loss, hit = judged(said.outcomes[of][rows], happened)
    found = []
    for name in said.outcomes.keys() - {of}:
        other_loss, other_hit = judged(said.outcomes[name][rows], happened)
        found.append(Advantage(of, name, over_agents(other_loss - loss, agent), over_agents(hit - other_hit, agent)))
    return sorted(found, key=lambda one: one.over)


def reliability(data: Dataset, said: Sequence[Said], name: str) -> Reliability:
    """Over every N_past together."""
    outcomes = np.concatenate([one.outcomes[name] for one in said])
    happened = np.concatenate([data.outcome[one.asked.place] for one in said])
    rows = calibration.reliability(outcomes.max(-1), judged(outcomes, happened)[1])
    bins = [Bin(row.confidence, row.frequency, row.count) for row in rows]
    return Reliability(name, calibration.calibration_error(rows), bins)


def mean_loss(data: Dataset, said: Sequence[Said], name: str) -> float:
    """In nats, over every N_past together: what observers are chosen by, on the validation part."""
    losses = [judged(one.outcomes[name], data.outcome[one.asked.place])[0] for one in said]
    return float(np.concatenate(losses).mean())


def over_agents(values: Float[np.ndarray, "asked"], agent: Int[np.ndarray, "asked"]) -> Estimate:
    """The mean over agents of the mean of each; over what was asked where there are too few agents."""
    each = np.array([values[agent == one].mean() for one in np.unique(agent)])
    return mean_interval(each if len(each) >= FEWEST_AGENTS else values)


def within(found: Estimate, most: float = math.inf) -> Estimate:
    """Its interval without what cannot be: no loss is below 0, no share above 1."""
    return replace(found, low=max(found.low, 0.0), high=min(found.high, most)) if found.measured else found


def _measured(
    loss: Float[np.ndarray, "asked"], hit: Float[np.ndarray, "asked"], agent: Int[np.ndarray, "asked"]
) -> tuple[Estimate, Estimate]:
    return within(over_agents(loss, agent)), within(over_agents(hit, agent), 1.0)


def judged(
    said: Float[np.ndarray, "asked outcome"], happened: Int[np.ndarray, "asked"]
) -> tuple[np.ndarray, np.ndarray]:
    """The loss, and whether the likeliest happened: of n that are as likely, each is a guess with a chance of 1 / n.
    The first of them would be the first letter, which nobody who says that all are alike has foretold."""
    each = np.arange(len(happened)), happened
    likeliest = said >= said.max(-1, keepdims=True) - TIED
    return -np.log(np.clip(said[each], LEAST, 1)), likeliest[each] / likeliest.sum(-1)
