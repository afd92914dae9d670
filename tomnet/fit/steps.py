"""The next step of an agent whose goal is known: along a shortest way, more often than not.

    p(action | goal) ∝ exp(usual[action] + haste · (steps that the action brings it nearer))

Where actions are not moves by direction nobody knows where they lead, and all that is left is how usual each is.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import log_softmax

from ..recordings.moves import IN_PLACE, OFFSETS
from ..recordings.recording import UNKNOWN
from .dataset import Dataset, Schema
from .distances import UNREACHABLE
from .observer_protocol import Asked

FARTHER = -2  # what stands between an agent and its goal is no way there


def moves_by_direction(schema: Schema) -> bool:
    """Whether every action says by its name which cell it leads to."""
    return not schema.headed and all(name in OFFSETS or name in IN_PLACE for name in schema.action_names)


@dataclass(frozen=True)
class StepModel:
    usual: Float[np.ndarray, "action"]
    haste: float

    def given_goal(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome action"]:
        return np.exp(log_softmax(self.usual + self.haste * nearer(data, asked), axis=-1))

    def given_outcomes(
        self, data: Dataset, asked: Asked, outcomes: Float[np.ndarray, "asked outcome"]
    ) -> Float[np.ndarray, "asked action"]:
        """Of an agent whose goal is guessed."""
        return np.einsum("no,noa->na", outcomes, self.given_goal(data, asked))


def fit_steps(data: Dataset, asked: Asked) -> StepModel:
    """By maximum likelihood, given what was taken in the end."""
    taken = data.actions[asked.place]
    known = np.flatnonzero(taken != UNKNOWN)
    actions = len(data.schema.action_names)
    if not len(known):
        return StepModel(np.zeros(actions), 0.0)
    asked, taken = asked.part(known), taken[known]
    ahead = nearer(data, asked)[np.arange(len(known)), data.outcome[asked.place]]
    done = np.eye(actions)[taken]

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        usual, haste = parameters[:-1], parameters[-1]
        logs = log_softmax(usual + haste * ahead, axis=-1)
        wrong = np.exp(logs) - done
        # a prior worth a handful of steps: an action that was never seen is rare and not impossible
        cost = -(logs * done).sum() + 0.05 * (parameters**2).sum()
        return cost, np.append(wrong.sum(0), (wrong * ahead).sum()) + 0.1 * parameters

    best = minimize(loss, np.zeros(actions + 1), jac=True, method="L-BFGS-B").x
    return StepModel(best[:-1], float(best[-1]))


def nearer(data: Dataset, asked: Asked) -> Int[np.ndarray, "asked outcome action"]:
    """How many steps nearer to each kind an action brings the agent: 1, 0 or less. To nothing, none does."""
    schema = data.schema
    kinds, cells = len(schema.kinds), schema.rows * schema.cols
    ahead = np.zeros((len(asked.episode), kinds + 1, len(schema.action_names)), int)
    if not moves_by_direction(schema):
        return ahead
    layout, here = data.layout[asked.place], data.cells[asked.place]
    distance = data.to_kind[layout].reshape(len(here), kinds, cells).astype(int)
    closed = data.objects[layout] & ~np.array(schema.walked_over, bool)[:, None, None]
    # whoever steps onto another object is not on the way to this one
    closed = closed.reshape(len(here), kinds, cells)
    others = closed.any(1, keepdims=True) & ~closed
    walls = data.walls[asked.episode].reshape(-1, cells)
    each = np.arange(len(here))
    now = distance[each, :, here]
    for number, name in enumerate(schema.action_names):
        there = _led(here, OFFSETS.get(name, (0, 0)), schema)
        there = np.where(walls[each, there], here, there)
        then = distance[each, :, there]
        known = (now != UNREACHABLE) & (then != UNREACHABLE)
        blocked = others[each, :, there] & (there != here)[:, None]
        ahead[:, :kinds, number] = np.where(blocked, FARTHER, np.where(known, np.clip(now - then, -1, 1), 0))
    return ahead


def _led(cells: np.ndarray, offset: tuple[int, int], schema: Schema) -> np.ndarray:
    row, col = np.divmod(cells, schema.cols)
    new_row, new_col = row + offset[0], col + offset[1]
    inside = (new_row >= 0) & (new_row < schema.rows) & (new_col >= 0) & (new_col < schema.cols)
    return np.where(inside, new_row * schema.cols + new_col, cells)
