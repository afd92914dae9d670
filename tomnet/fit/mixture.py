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


@dataclass(frozen=True)
class Mixture:
    network: Observer
    planner: Observer
    outcome_blend: Blend
    action_blend: Blend

    @staticmethod
    def fitted(network: Observer, planner: Observer, data: Dataset, starts: Asked, steps: Asked) -> "Mixture":
        """By what is taken in episodes that start, and by the next action at any time."""
        outcome = fit_blend(network.outcomes(data, starts), planner.outcomes(data, starts), data.outcome[starts.place])
        steps = steps.part(np.flatnonzero(data.actions[steps.place] != UNKNOWN))
        if not len(steps.episode):
            return Mixture(network, planner, outcome, Blend())
        action = fit_blend(network.actions(data, steps), planner.actions(data, steps), data.actions[steps.place])
        return Mixture(network, planner, outcome, action)

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        return self.outcome_blend.of(self.network.outcomes(data, asked), self.planner.outcomes(data, asked))

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        return self.action_blend.of(self.network.actions(data, asked), self.planner.actions(data, asked))
