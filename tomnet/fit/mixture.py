"""Network and inverse planner together: what they say, weighed and calibrated on the validation part."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..recordings.recording import UNKNOWN
from .dataset import Dataset
from .observers import Asked, Observer

WEIGHTS = np.linspace(0, 1, 21)
TEMPERATURES = np.geomspace(0.5, 2, 13)


@dataclass(frozen=True)
class Blend:
    """`(weight · one + (1 − weight) · other) ** (1 / temperature)`, normalised."""

    weight: float = 0.5
    temperature: float = 1.0

    def of(
        self, one: Float[np.ndarray, "asked outcome"], other: Float[np.ndarray, "asked outcome"]
    ) -> Float[np.ndarray, "asked outcome"]:
        powered = (self.weight * one + (1 - self.weight) * other) ** (1 / self.temperature)
        return powered / powered.sum(-1, keepdims=True)


def fit_blend(
    one: Float[np.ndarray, "asked outcome"],
    other: Float[np.ndarray, "asked outcome"],
    happened: Int[np.ndarray, "asked"],
) -> Blend:
    """That with the lowest loss; where nothing is known of what happened, halves."""
    if not len(happened):
        return Blend()

    def loss(blend: Blend) -> float:
        return float(-np.log(np.maximum(blend.of(one, other)[np.arange(len(happened)), happened], 1e-9)).mean())

    every = (Blend(weight, temperature) for weight in WEIGHTS.tolist() for temperature in TEMPERATURES.tolist())
    return min(every, key=loss)


Blends = dict[int, Blend]
"""By the fewest past episodes that each is for: how far to trust a network depends on how much it has seen."""


def fit_blends(
    one: Float[np.ndarray, "asked outcome"],
    other: Float[np.ndarray, "asked outcome"],
    happened: Int[np.ndarray, "asked"],
    past: Int[np.ndarray, "asked"],
) -> Blends:
    """One for each number of past episodes that was asked after."""
    return {
        level: fit_blend(one[rows], other[rows], happened[rows])
        for level, rows in ((level, past == level) for level in np.unique(past).tolist())
    } or {0: Blend()}


def blended(
    blends: Blends,
    one: Float[np.ndarray, "asked outcome"],
    other: Float[np.ndarray, "asked outcome"],
    past: Int[np.ndarray, "asked"],
) -> Float[np.ndarray, "asked outcome"]:
    """Each row by the blend for as much past as it has, or the next lower; below all of them, by the lowest."""
    levels = sorted(blends)
    place = np.maximum(np.searchsorted(levels, past, side="right") - 1, 0)
    found = np.empty_like(one)
    for number, level in enumerate(levels):
        found[place == number] = blends[level].of(one[place == number], other[place == number])
    return found


@dataclass(frozen=True)
class Mixture:
    network: Observer
    planner: Observer
    outcome_blends: Blends
    action_blends: Blends

    @staticmethod
    def fitted(network: Observer, planner: Observer, data: Dataset, starts: Asked, steps: Asked) -> "Mixture":
        """By what is taken in episodes that start, and by the next action at any time."""
        both = network.outcomes(data, starts), planner.outcomes(data, starts)
        outcome = fit_blends(*both, data.outcome[starts.place], starts.count)
        steps = steps.part(np.flatnonzero(data.actions[steps.place] != UNKNOWN))
        if not len(steps.episode):
            return Mixture(network, planner, outcome, {0: Blend()})
        both = network.actions(data, steps), planner.actions(data, steps)
        return Mixture(network, planner, outcome, fit_blends(*both, data.actions[steps.place], steps.count))

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        both = self.network.outcomes(data, asked), self.planner.outcomes(data, asked)
        return blended(self.outcome_blends, *both, asked.count)

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        both = self.network.actions(data, asked), self.planner.actions(data, asked)
        return blended(self.action_blends, *both, asked.count)
