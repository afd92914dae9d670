"""The rollout baseline: what an observer would still lose if it had the agent itself at hand.

For the action that is the agent's own policy. For the future it is a predictor made of rollouts of the agent from the
very state and memory of the query (`episodes.futures`).

A query's time is drawn from the whole of its episode, so a future that makes the episode T steps long is asked about
with probability 1 / T at this very time: short futures are overrepresented, and an observer learns that. Rollouts
are therefore weighted by 1 / T, and the policy by how long the episodes become after each action; the bare policy is
reported beside it.

However many rollouts there are, some outcomes are in none of them. The observer's own prediction counts as one more
rollout, so that none is called impossible. What this predictor loses is an upper bound of the floor.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, Scalar

from ...episodes.futures import Futures, imagine, queried_policy
from ...episodes.predictions import Predictions
from ...support.progress import stage
from ...support.trees import pick
from ...world.gridworld import World
from .evaluation_set import EvaluationSet, losses_of

BASELINE_ROLLOUTS = 32


def predictor(futures: Futures, own: Predictions) -> Predictions:
    """What the futures tell, in the shape of an observer's predictions; `own` counts as one rollout."""
    weight = 1 / np.asarray(futures.length, np.float64)
    rollouts = weight.shape[-1]
    share = weight / weight.sum(-1, keepdims=True) * rollouts / (rollouts + 1)
    assert own.consumption is not None
    assert own.successor is not None
    eaten = np.einsum("qr,qro->qo", share, np.asarray(futures.targets.consumption, np.float64))
    eaten = np.clip(eaten + _sigmoid(np.asarray(own.consumption, np.float64)) / (rollouts + 1), 1e-12, 1 - 1e-12)
    maps = np.einsum("qr,qrgij->qgij", share, np.asarray(futures.targets.successor, np.float64))
    maps = maps + np.exp(np.asarray(own.successor, np.float64)) / (rollouts + 1)
    return Predictions(
        action=_float32(np.log(_queried_policy(futures, weight))),
        consumption=_float32(np.log(eaten) - np.log1p(-eaten)),
        successor=_float32(np.log(maps)),
    )


def _queried_policy(futures: Futures, weight: np.ndarray) -> np.ndarray:
    policy = np.clip(np.asarray(futures.policy, np.float64), 1e-12, None)
    began = (np.asarray(futures.targets.action)[..., None] == np.arange(policy.shape[-1])).astype(np.float64)
    return queried_policy(policy, began.sum(-2), (weight[..., None] * began).sum(-2), weight.mean(-1))


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))


def _float32(values: np.ndarray) -> Float[Array, "*batch"]:
    return jnp.asarray(values, jnp.float32)


def baseline_losses(
    key: Key[Scalar, ""],
    met: EvaluationSet,
    own: Predictions,
    world: World,
    *,
    each: int,
    rollouts: int = BASELINE_ROLLOUTS,
) -> dict[str, np.ndarray]:
    """Losses in each agent's first `each` encounters, `[agent]`: the floor by head, and the bare "policy"'s.

    `own`: the observer's predictions in all encounters.
    """
    stage(f"what {met.count} agents do themselves, in {rollouts} rollouts each")
    losses: dict[str, list[np.ndarray]] = {}
    for agent, one in enumerate(jax.random.split(key, met.count)):
        index = np.flatnonzero(met.who == agent)[:each]
        recent, query, targets = pick((met.encounters.recent, met.encounters.query, met.encounters.targets), index)
        futures = imagine(one, pick(met.agents, agent), recent, query, world, rollouts)
        floor = losses_of(predictor(futures, pick(own, index)), targets)
        chosen = np.asarray(futures.policy)[np.arange(len(index)), np.asarray(targets.action)]
        for name, loss in {**floor, "policy": -np.log(np.clip(chosen, 1e-12, None))}.items():
            losses.setdefault(name, []).append(loss.mean())
    return {name: np.array(values) for name, values in losses.items()}


def first_encounters(met: EvaluationSet, values: Any, each: int) -> np.ndarray:
    """Means over the very encounters that the floor is measured in."""
    return met.by_agent(values)[:, :each].mean(1)
