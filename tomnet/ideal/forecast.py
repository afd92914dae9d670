"""What becomes of a query when it is not known whose it is: policies, beliefs and rollouts of several agents, mixed."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, Scalar

from ..agents.actor_critic import DeepAgent
from ..episodes.episode import NONE, Episode, QueryState
from ..episodes.futures import futures_from, queried_policy
from ..episodes.predictions import Predictions
from ..episodes.replay import stand_at_query
from ..support.progress import reached
from ..support.trees import on_device, on_host, pick
from ..world.gridworld import ACTIONS, World
from .batching import in_chunks, side_by_side

LEAST = 1e-12  # a probability whose logarithm is asked for


class Rolled(eqx.Module):
    """The mean over rollouts, each with its weight."""

    began: Float[Array | np.ndarray, "*query action"]  # the share that begins with each action, without weights
    weight_began: Float[Array | np.ndarray, "*query action"]
    eaten: Float[Array | np.ndarray, "*query kind"]
    maps: Float[Array | np.ndarray, "*query gamma row col"]


class Forecast(eqx.Module):
    """What one agent would do from a query on, or the mean of several agents."""

    policy: Float[Array | np.ndarray, "*query action"]
    weight: Float[Array | np.ndarray, "*query"]  # the mean over rollouts; 1 without any
    belief: Float[Array | np.ndarray, "*query kind place"]  # times the weight of its agent's rollouts
    rolled: Rolled | None


def forecast_mixture(
    key: Key[Scalar, ""],
    agents: DeepAgent,
    weights: Float[np.ndarray, "query agent"],
    asked: tuple[Episode, QueryState],
    world: World,
    rollouts: int,
    any_time: bool,
) -> Forecast:
    """The weighted mean of the forecasts of all agents with any weight, in NumPy. `asked`: the current episode so far,
    and the query. A rollout weighs 1 over the length of its episode where queries come at `any_time`, else 1."""
    size, mixture = side_by_side(cpu=4, gpu=64), None
    agents = on_host(agents)
    possible = np.flatnonzero(weights.any(0)).tolist()
    for done, number in enumerate(possible):
        reached(done, len(possible))
        mine = np.flatnonzero(weights[:, number])
        forecasts = in_chunks(
            partial(_forecasts, jax.random.fold_in(key, number)),
            size,
            (mine, *pick(asked, mine)),
            on_device(pick(agents, number)),
            world,
            rollouts,
            any_time,
        )
        if mixture is None:
            mixture = jax.tree.map(lambda leaf: np.zeros((len(weights), *leaf.shape[1:])), forecasts)
        _add(mixture, forecasts, mine, weights[mine, number])
    assert mixture is not None
    return mixture


def mixed_predictions(mixture: Forecast, query: QueryState, rollouts: int, any_time: bool) -> Predictions:
    """A mixture as an observer would have said it; of what is eaten and where they go, nothing without rollouts."""
    policy, weight = np.asarray(mixture.policy), np.asarray(mixture.weight)
    belief = _logs(np.asarray(mixture.belief) / weight[:, None, None])
    if mixture.rolled is None:
        return Predictions(_logs(policy), None, None, belief)
    rolled = jax.tree.map(np.asarray, mixture.rolled)
    if any_time:
        policy = queried_policy(policy, rollouts * rolled.began, rollouts * rolled.weight_began, weight)
    eaten, maps = _with_one_more(rolled, weight, query, rollouts)
    return Predictions(
        action=_logs(policy),
        consumption=_logs(eaten) - _logs(1 - eaten),
        successor=_logs(maps),
        belief=belief,
    )


def not_begun(query: QueryState) -> Episode:
    """The current episode before its first step, which `query` shows."""
    batch, kinds = query.agent_cell.shape, query.object_cells.shape[-1]
    return Episode(
        walls=jnp.asarray(query.walls),
        agent_cells=jnp.full((*batch, 1), NONE, jnp.int16),
        object_cells=jnp.full((*batch, 1, kinds), NONE, jnp.int16),
        actions=jnp.full((*batch, 1), NONE, jnp.int8),
        consumed=jnp.full((*batch, 1), NONE, jnp.int8),
        final_cell=jnp.asarray(query.agent_cell, jnp.int16),
        length=jnp.zeros(batch, jnp.int16),
    )


# --- One agent


@eqx.filter_jit
def _forecasts(
    key: Key[Scalar, ""],
    number: Int[Array | np.ndarray, "query"],
    recent: Episode,
    query: QueryState,
    agent: DeepAgent,
    world: World,
    rollouts: int,
    any_time: bool,
) -> Forecast:
    """Of each query; their numbers give each rollouts of its own, whichever others are asked beside it."""
    acting = agent.ready()

    def one(number: Int[Array, ""], recent: Episode, query: QueryState) -> Forecast:
        if rollouts:
            return _rolled_out(jax.random.fold_in(key, number), acting, recent, query, world, rollouts, any_time)
        now = stand_at_query(acting, recent, query, world)
        policy, looked = acting.policy(now.memory, now.state, now.last, world)
        return Forecast(policy, jnp.ones(()), acting.belief(looked, world), None)

    return jax.vmap(one)(jnp.asarray(number), recent, query)


def _rolled_out(
    key: Key[Scalar, ""],
    agent: DeepAgent,
    recent: Episode,
    query: QueryState,
    world: World,
    rollouts: int,
    any_time: bool,
) -> Forecast:
    futures = futures_from(key, agent, recent, query, world, rollouts)
    assert futures.belief is not None
    length = futures.length.astype(jnp.float32)
    weight = 1 / length if any_time else jnp.ones_like(length)
    began = jax.nn.one_hot(futures.targets.action, len(ACTIONS))

    def weighted(values: Float[Array, "rollout *rest"]) -> Float[Array, "*rest"]:
        return (weight.reshape(-1, *[1] * (values.ndim - 1)) * values).mean(0)

    rolled = Rolled(
        began.mean(0), weighted(began), weighted(futures.targets.consumption), weighted(futures.targets.successor)
    )
    return Forecast(futures.policy, weight.mean(), futures.belief * weight.mean(), rolled)


# --- Several


def _add(
    mixture: Forecast, forecasts: Forecast, rows: Int[np.ndarray, "part"], weights: Float[np.ndarray, "part"]
) -> None:
    """Into the rows of a mixture, which is NumPy's and changed in place."""

    def add(total: np.ndarray, leaf: np.ndarray) -> None:
        total[rows] += leaf * weights.reshape(-1, *[1] * (leaf.ndim - 1))

    jax.tree.map(add, mixture, forecasts)


def _with_one_more(
    rolled: Rolled, weight: np.ndarray, query: QueryState, rollouts: int
) -> tuple[np.ndarray, np.ndarray]:
    """What is eaten and where they go, after one more rollout that knows nothing: however many there are, some outcomes
    are in none. It eats each object that is still there or does not, and spends its time on all free cells alike."""
    there = 0.5 * (np.asarray(query.object_cells) != NONE)
    free = ~np.asarray(query.walls)
    anywhere = free / free.sum((1, 2), keepdims=True)
    eaten = (rollouts * rolled.eaten / weight[:, None] + there) / (rollouts + 1)
    maps = (rollouts * rolled.maps / weight[:, None, None, None] + anywhere[:, None]) / (rollouts + 1)
    return eaten, maps


def _logs(probabilities: np.ndarray) -> Float[Array, "..."]:
    return jnp.asarray(np.log(np.maximum(probabilities, LEAST)), jnp.float32)
