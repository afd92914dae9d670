"""Table A1: what observers with and without a character net and a mental net lose, and what shuffled embeddings add.

Cuts, generalisation and the floor are read off the same losses.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...agents.population import Part
from ...episodes.targets import GAMMAS
from ...observer.config import BEHAVIOUR
from ...world.gridworld import SUBGOAL_MAZE
from .evaluation_set import EvaluationSet
from .rollout_baseline import BASELINE_ROLLOUTS, first_encounters
from .statistics import Estimate, bootstrap, by_network, mean_interval
from .three_species import PARTS

OBSERVERS = {"none": (), "char": ("character",), "mental": ("mental",), "both": ("character", "mental")}
"""By name: the embeddings that an observer has."""
SHUFFLES = (
    ("char", ("character",)),
    ("mental", ("mental",)),
    ("both", ("character",)),
    ("both", ("mental",)),
    ("both", ("character", "mental")),
)
SUMMED = {"action": 1, "consumption": SUBGOAL_MAZE.kinds, "successor": len(GAMMAS)}
"""Over how many objects or discounts a loss is summed, as in the paper's appendix on losses. The figures of its Table
A1 look like means over them."""
# Table A1 of the paper: (observer, what is shuffled) → by head, on training and on test agents.
PAPER = {
    ("none", ()): {"action": (1.14, 1.12), "consumption": (0.34, 0.36), "successor": (2.48, 2.53)},
    ("char", ()): {"action": (0.84, 0.86), "consumption": (0.19, 0.16), "successor": (2.23, 2.21)},
    ("char", ("character",)): {"action": (1.61, 1.62), "consumption": (0.83, 0.77), "successor": (3.17, 3.13)},
    ("mental", ()): {"action": (0.83, 0.98), "consumption": (0.32, 0.30), "successor": (2.36, 2.29)},
    ("mental", ("mental",)): {"action": (1.61, 1.65), "consumption": (0.43, 0.43), "successor": (2.92, 2.80)},
    ("both", ()): {"action": (0.72, 0.73), "consumption": (0.16, 0.14), "successor": (2.16, 2.04)},
    ("both", ("character",)): {"action": (1.57, 1.69), "consumption": (0.82, 0.78), "successor": (3.27, 3.19)},
    ("both", ("mental",)): {"action": (1.16, 1.20), "consumption": (0.23, 0.23), "successor": (2.45, 2.33)},
    ("both", ("character", "mental")): {"action": (1.99, 2.02), "consumption": (0.83, 0.77), "successor": (3.53, 3.31)},
}


@dataclasses.dataclass(frozen=True)
class LossRow:
    """Table A1: one observer's loss on agents of one part, with or without shuffled embeddings."""

    part: Part
    observer: str
    shuffled: tuple[str, ...]
    head: str
    loss: Estimate
    paper: float
    rise: Estimate | None  # what shuffling added

    @property
    def mean_loss(self) -> Estimate:
        """Of one object or one discount, as the paper's figures look."""
        mean, low, high = (value / SUMMED[self.head] for value in (self.loss.mean, *self.loss.interval))
        return Estimate(mean, low, high, self.loss.count)


@dataclasses.dataclass(frozen=True)
class Cut:
    """On held-out agents: the share of `none`'s loss that an observer saves, and by how many nats `both` leads it."""

    cut: Estimate
    paper: float
    lead: Estimate


@dataclasses.dataclass(frozen=True)
class Generalisation:
    """`both`'s losses on agents met in training and on held-out ones; the gap is relative to the former."""

    training: float
    held_out: float
    gap: Estimate
    beside_none: (
        Estimate  # the same of `both`'s share of what `none` loses: how much harder the held-out ones are is out
    )
    paper: float


@dataclasses.dataclass(frozen=True)
class HeadFloor:
    """The floor of one prediction, beside what observers lose in the very same encounters."""

    floor: Estimate
    excess: Estimate  # of `both`
    none: float
    both: float

    @property
    def saves(self) -> float:
        """Of `none`'s loss, if one had the agent itself at hand."""
        return 1 - self.floor.mean / self.none


@dataclasses.dataclass(frozen=True)
class Floor:
    encounters: int
    rollouts: int
    heads: dict[str, HeadFloor]
    policy: Estimate  # what the agent's own policy loses on the next action


Losses = dict[tuple[Any, ...], dict[str, np.ndarray]]
"""(part, observer, what is shuffled) → the loss of each head, for each encounter or each network."""


def loss_rows(means: Losses) -> list[LossRow]:
    """One row for each part, observer, shuffle and head: means over networks."""
    rows = []
    for (part, observer, shuffled), by_head in means.items():
        for head, loss in by_head.items():
            rise = mean_interval(loss - means[part, observer, ()][head]) if shuffled else None
            paper = PAPER[observer, shuffled][head][PARTS.index(part)]
            rows.append(LossRow(part, observer, shuffled, head, mean_interval(loss), paper, rise))
    return rows


def cut_table(means: Losses) -> dict[str, dict[str, Cut]]:
    def cut(head: str, name: str) -> Cut:
        mine, none, both = (means["held out", who, ()][head] for who in (name, "none", "both"))
        saved = bootstrap(lambda none, mine: 1 - mine.mean() / none.mean(), none, mine)
        theirs, baseline = PAPER[name, ()][head][1], PAPER["none", ()][head][1]
        return Cut(saved, 1 - theirs / baseline, mean_interval(mine - both))

    return {head: {name: cut(head, name) for name in OBSERVERS} for head in BEHAVIOUR}


def generalisation_table(means: Losses) -> dict[str, Generalisation]:
    table = {}
    for head in BEHAVIOUR:
        both, none = ({part: means[part, name, ()][head] for part in PARTS} for name in ("both", "none"))
        nothing = {part: np.ones_like(loss) for part, loss in both.items()}
        training, held_out = (float(both[part].mean()) for part in ("training", "held out"))
        training_paper, test_paper = PAPER["both", ()][head]
        paper = test_paper / training_paper - 1
        table[head] = Generalisation(training, held_out, _gap(both, nothing), _gap(both, none), paper)
    return table


def _gap(losses: Mapping[str, np.ndarray], beside: Mapping[str, np.ndarray]) -> Estimate:
    """How far the ratio of two losses on held-out networks lies above that on training networks, by the delta method:
    the two groups are independent, the losses of one network are not."""
    ratio = {part: losses[part].mean() / beside[part].mean() for part in PARTS}
    gap = float(ratio["held out"] / ratio["training"] - 1)
    each = [losses[part] / losses[part].mean() - beside[part] / beside[part].mean() for part in PARTS]
    errors = [off.std(ddof=1) / np.sqrt(len(off)) for off in each if len(off) > 1]
    error = float(1.96 * (1 + gap) * np.sqrt(np.square(errors).sum()) if len(errors) == len(PARTS) else np.nan)
    return Estimate(gap, gap - error, gap + error, sum(map(len, each)))


def floor_table(met: EvaluationSet, losses: Losses, floor: dict[str, np.ndarray], each: int) -> Floor:
    """`each`: of every agent's encounters, how many the floor was measured in."""

    def over_networks(agents: np.ndarray) -> Estimate:
        return mean_interval(by_network(agents, met.network))

    def head_floor(head: str) -> HeadFloor:
        none, both = (first_encounters(met, losses["held out", name, ()][head], each) for name in ("none", "both"))
        excess = over_networks(both - floor[head])
        return HeadFloor(over_networks(floor[head]), excess, float(none.mean()), float(both.mean()))

    heads = {head: head_floor(head) for head in BEHAVIOUR}
    return Floor(each * met.count, BASELINE_ROLLOUTS, heads, over_networks(floor["policy"]))
