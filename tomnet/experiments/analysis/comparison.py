"""A trained observer beside the exact one, with the agent's past and without it: the ground of section 3.2's claims."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...episodes.encounter import Encounter
from ...episodes.predictions import Predictions
from ...ideal.inverse_planning import InversePlanner
from ...observer.losses import losses_each
from ...observer.tomnet import ToMnet, observe
from ...support.progress import stage
from .statistics import Estimate, bootstrap, captured, mean_interval, share_interval

GOALS = {"action": 0.8, "consumption": 0.9, "successor": 0.8}
"""How much of what the past can tell the learned observer should make use of."""


@dataclasses.dataclass(frozen=True)
class Observed:
    """What one observer made of some encounters: the columns have one row for each agent."""

    predictions: Predictions
    losses: dict[str, np.ndarray]
    correct: dict[str, np.ndarray]
    action_probability: np.ndarray  # given to the action that the agent then took

    @staticmethod
    def of(predictions: Predictions, encounters: Encounter) -> "Observed":
        losses = {
            name: np.asarray(loss, np.float64) for name, loss in losses_each(predictions, encounters.targets).items()
        }
        correct = {}
        if predictions.action is not None:
            correct["action"] = np.asarray(predictions.action.argmax(-1) == encounters.targets.action, float)
        if predictions.consumption is not None:
            # an agent that eats nothing has no right answer among the objects, and stays in the denominator
            eaten = encounters.targets.consumption
            hit = jnp.take_along_axis(eaten, predictions.consumption.argmax(-1)[:, None], -1)[:, 0]
            correct["consumption"] = np.asarray(hit, float)
        return Observed(predictions, losses, correct, np.exp(-losses["action"]))


def learned(observer: ToMnet, encounters: Encounter) -> tuple[np.ndarray, Observed]:
    stage(f"an observer reads {len(encounters.past_real)} encounters")
    character, predictions = observe(observer, encounters)
    return np.asarray(character), Observed.of(predictions, encounters)


def exact(ideal: InversePlanner, encounters: Encounter) -> tuple[jax.Array, Observed]:
    """The exact posterior over particles (log weights), and what follows from it."""
    stage(f"exact inference on {len(encounters.past_real)} encounters")
    weights = ideal.posterior(encounters.past, encounters.past_real)
    return weights, Observed.of(ideal.predict(weights, encounters.query), encounters)


def eats(predictions: Predictions) -> np.ndarray:
    """The predicted probability of each object being eaten."""
    assert predictions.consumption is not None
    return np.asarray(jax.nn.sigmoid(predictions.consumption))


def seen_only(encounters: Encounter, past: int) -> Encounter:
    """The same encounters with no more than the first `past` episodes seen."""
    few = jnp.arange(encounters.past_real.shape[-1]) < past
    return eqx.tree_at(lambda e: e.past_real, encounters, encounters.past_real & few)


def without_past(ideal: InversePlanner, encounters: Encounter) -> Observed:
    """What exact inference says with nothing seen: L0."""
    return exact(ideal, seen_only(encounters, 0))[1]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One prediction of ToMnet beside the exact observer's: losses in nats, and accuracies where it has any."""

    observer: Estimate
    ideal: float
    no_past: float  # of exact inference with nothing seen
    captured: Estimate  # the share of what the past can tell
    goal: float
    observer_accuracy: Estimate | None
    ideal_accuracy: Estimate | None
    no_past_accuracy: Estimate | None


def comparison_table(trained: Observed, best: Observed, no_past: Observed) -> dict[str, Comparison]:
    """By head, with intervals over agents."""
    return {head: _comparison(head, trained, best, no_past) for head in trained.losses}


def _comparison(head: str, trained: Observed, best: Observed, no_past: Observed) -> Comparison:
    def accuracy(observed: Observed) -> Estimate | None:
        return share_interval(observed.correct[head]) if head in observed.correct else None

    return Comparison(
        observer=mean_interval(trained.losses[head]),
        ideal=float(best.losses[head].mean()),
        no_past=float(no_past.losses[head].mean()),
        captured=bootstrap(captured, no_past.losses[head], trained.losses[head], best.losses[head]),
        goal=GOALS[head],
        observer_accuracy=accuracy(trained),
        ideal_accuracy=accuracy(best),
        no_past_accuracy=accuracy(no_past),
    )


def meets_goals(table: dict[str, Comparison]) -> bool:
    return all(row.captured.mean >= row.goal for row in table.values())


def weakest(table: dict[str, Comparison]) -> str:
    """The head that is furthest from its goal."""
    return min(table, key=lambda head: table[head].captured.mean - table[head].goal)
