"""Network and inverse planner together: a weighted mean of what they say, the weight fitted to the validation part.

    p(outcome) = weight[N_past] · network + (1 − weight[N_past]) · planner

How far to trust a network depends on how much it has seen, and a handful of agents say little about each N_past. So
what happened after other numbers of past episodes counts as well, the less the farther away. Nothing is sharpened: the
loss of a mean of probabilities is never above the mean of their losses, whoever the agents are, and so the mixture is
never worse than the worse of its two parts.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..recordings.recording import UNKNOWN
from .dataset import Dataset
from .observer_protocol import Asked, Observer

CHOICES = np.linspace(0, 1, 21)
DOUBLED = 0.25  # how much a row counts for twice as many past episodes, or half as many
PARTS = 10  # that agents are left out in, to see how the mixture does with others
LEAST = 1e-9

Weights = dict[int, float]
"""The network's, by the fewest past episodes that each is for."""


def fit_weights(
    one: Float[np.ndarray, "asked outcome"],
    other: Float[np.ndarray, "asked outcome"],
    happened: Int[np.ndarray, "asked"],
    past: Int[np.ndarray, "asked"],
) -> Weights:
    """Those with the lowest loss, for each number of past episodes that was asked after; halves where none was."""
    each = np.arange(len(happened)), happened
    likely = CHOICES[:, None] * one[each] + (1 - CHOICES[:, None]) * other[each]
    nats = -np.log(np.maximum(likely, LEAST))
    levels = np.unique(past)
    doublings = np.abs(np.log2((1 + past) / (1 + levels[:, None])))
    best = (nats @ (DOUBLED**doublings).T).argmin(0)
    return dict(zip(levels.tolist(), CHOICES[best].tolist())) or {0: 0.5}


def mixed(
    weights: Weights,
    one: Float[np.ndarray, "asked outcome"],
    other: Float[np.ndarray, "asked outcome"],
    past: Int[np.ndarray, "asked"],
) -> Float[np.ndarray, "asked outcome"]:
    """Each row by the weight for as much past as it has, or the next lower; below all of them, by the lowest."""
    levels = sorted(weights)
    place = np.maximum(np.searchsorted(levels, past, side="right") - 1, 0)
    weight = np.array([weights[level] for level in levels])[place, None]
    return weight * one + (1 - weight) * other


def mixed_without(
    group: Int[np.ndarray, "asked"],
    one: Float[np.ndarray, "asked outcome"],
    other: Float[np.ndarray, "asked outcome"],
    happened: Int[np.ndarray, "asked"],
    past: Int[np.ndarray, "asked"],
) -> Float[np.ndarray, "asked outcome"]:
    """What the mixture says of each group, such as an agent, by weights that are fitted without it."""
    part = np.unique(group, return_inverse=True)[1] % PARTS
    said = np.empty_like(one)
    for number in np.unique(part):
        rows, rest = part == number, part != number
        weights = fit_weights(one[rest], other[rest], happened[rest], past[rest])
        said[rows] = mixed(weights, one[rows], other[rows], past[rows])
    return said


@dataclass(frozen=True)
class Mixture:
    network: Observer
    planner: Observer
    outcome_weights: Weights
    action_weights: Weights

    @staticmethod
    def fitted(network: Observer, planner: Observer, data: Dataset, starts: Asked, steps: Asked) -> "Mixture":
        """By what is taken in episodes that start, and by the next action at any time."""
        both = network.outcomes(data, starts), planner.outcomes(data, starts)
        outcome = fit_weights(*both, data.outcome[starts.place], starts.count)
        steps = steps.part(np.flatnonzero(data.actions[steps.place] != UNKNOWN))
        if not len(steps.episode):
            return Mixture(network, planner, outcome, {0: 0.5})
        both = network.actions(data, steps), planner.actions(data, steps)
        return Mixture(network, planner, outcome, fit_weights(*both, data.actions[steps.place], steps.count))

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        both = self.network.outcomes(data, asked), self.planner.outcomes(data, asked)
        return mixed(self.outcome_weights, *both, asked.count)

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        both = self.network.actions(data, asked), self.planner.actions(data, asked)
        return mixed(self.action_weights, *both, asked.count)
