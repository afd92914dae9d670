"""Two rules that need no theory of mind: the nearest object, and what this agent took most often so far."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .dataset import Dataset
from .distances import UNREACHABLE
from .observer_protocol import Asked
from .steps import StepModel

LAPSES = np.array([0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
PSEUDO_COUNTS = np.array([0.03, 0.1, 0.3, 1.0, 3.0, 10.0])


def possible(data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
    """All that may happen, equally likely: the objects that can be reached, and that none of them is taken."""
    reachable = data.distance[asked.place] != UNREACHABLE
    there = np.concatenate([reachable, np.ones((len(reachable), 1), bool)], -1)
    return there / there.sum(-1, keepdims=True)


@dataclass(frozen=True)
class Nearest:
    """The nearest object by walking distance, and with probability `lapse` anything."""

    lapse: float
    steps: StepModel

    @staticmethod
    def fitted(data: Dataset, asked: Asked, steps: StepModel) -> "Nearest":
        return min((Nearest(lapse, steps) for lapse in LAPSES.tolist()), key=lambda one: _loss(one, data, asked))

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        nearest = data.nearest[asked.place]
        chosen = np.concatenate([nearest, ~nearest.any(-1, keepdims=True)], -1)  # where nothing can be reached, nothing
        chosen = chosen / chosen.sum(-1, keepdims=True)
        return (1 - self.lapse) * chosen + self.lapse * possible(data, asked)

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        return self.steps.given_outcomes(data, asked, self.outcomes(data, asked))


@dataclass(frozen=True)
class Favourite:
    """How often this agent took each kind of those that it could have taken, `pseudo_count` of each added."""

    pseudo_count: float
    lapse: float
    steps: StepModel

    @staticmethod
    def fitted(data: Dataset, asked: Asked, steps: StepModel) -> "Favourite":
        every = (Favourite(count, lapse, steps) for count in PSEUDO_COUNTS.tolist() for lapse in LAPSES.tolist())
        return min(every, key=lambda one: _loss(one, data, asked))

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        seen = asked.past >= 0
        outcomes = len(data.schema.outcomes)
        took = (np.eye(outcomes)[data.outcome[asked.past, 0]] * seen[..., None]).sum(1)
        offered = data.distance[asked.past, 0] != UNREACHABLE
        offered = np.concatenate([offered, np.ones((*seen.shape, 1), bool)], -1)
        shares = (took + self.pseudo_count) / ((offered * seen[..., None]).sum(1) + self.pseudo_count * outcomes)
        even = possible(data, asked)
        chosen = shares * (even > 0)
        return (1 - self.lapse) * chosen / chosen.sum(-1, keepdims=True) + self.lapse * even

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        return self.steps.given_outcomes(data, asked, self.outcomes(data, asked))


def _loss(observer: Nearest | Favourite, data: Dataset, asked: Asked) -> float:
    said = observer.outcomes(data, asked)[np.arange(len(asked.episode)), data.outcome[asked.place]]
    return float(-np.log(np.maximum(said, 1e-6)).mean())
