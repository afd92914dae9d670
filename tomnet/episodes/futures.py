"""What an agent would do from a query on: its policy there, what it believes, and rollouts to the end."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, Scalar

from ..agents.actor_critic import DeepAgent
from ..agents.agent import Agent
from ..world.gridworld import World
from .episode import Episode, QueryState
from .replay import stand_at_query
from .rollout import RolloutState, finish_rollout
from .targets import Targets, successor_maps, targets_from

BATCH = 32  # rollouts side by side: more do not fit into a processor's caches


class Futures(eqx.Module):
    """What an agent would do next, and how several rollouts from there went on to the end of the episode."""

    policy: Float[Array, "*query action"]
    targets: Targets  # of the rollouts: *query rollout
    length: Int[Array, "*query rollout"]  # of the whole episode, what went before the query included
    belief: Float[Array, "*query kind place"] | None = None  # of agents that can say


def futures_from(
    key: Key[Scalar, ""], agent: Agent, recent: Episode, query: QueryState, world: World, rollouts: int
) -> Futures:
    """The futures of one agent from one query, in an episode that was so far as in `recent`."""
    now = stand_at_query(agent, recent, query, world)
    policy, looked = agent.policy(now.memory, now.state, now.last, world)
    belief = agent.belief(looked, world) if isinstance(agent, DeepAgent) else None

    def one(key):
        episode = finish_rollout(key, agent, now, world)
        return targets_from(episode, jnp.int32(0)), episode.length + now.state.time

    targets, length = jax.vmap(one)(jax.random.split(key, rollouts))
    return Futures(policy, targets, length, belief)


def queried_policy(
    policy: Float[np.ndarray, "*query action"],
    began: Float[np.ndarray, "*query action"],
    weight_began: Float[np.ndarray, "*query action"],
    usual: Float[np.ndarray, "*query"],
) -> Float[np.ndarray, "*query action"]:
    """The policy times how likely it is, after each action, that this very time was asked about.

    `began`: how many rollouts begin with each action; `weight_began`: the sum of their weights, each the chance of
    being asked about. One more of the `usual` weight begins with each action, because some begin none.
    """
    likely = (weight_began + usual[..., None]) / (began + 1)
    odds = policy * likely
    return odds / odds.sum(-1, keepdims=True)


@eqx.filter_jit
def imagine(
    key: Key[Scalar, ""], agent: Agent, recent: Episode, query: QueryState, world: World, rollouts: int
) -> Futures:
    """The same from each of some queries, one after the other."""
    acting = agent.ready()

    def one(now) -> Futures:
        key, recent, query = now
        return futures_from(key, acting, recent, query, world, rollouts)

    keys = jax.random.split(key, query.agent_cell.shape[0])
    return jax.lax.map(one, (keys, recent, query))


@eqx.filter_jit
def empirical_successors(
    key: Key[Scalar, ""], agent: Agent, rollout_state: RolloutState, world: World, rollouts: int
) -> Float[Array, "gamma row col"]:
    """The mean successor map over that many stochastic rollouts from where the episode stands."""
    # it stopped to be looked at, not to end
    rollout_state = eqx.tree_at(lambda now: now.alive, rollout_state, jnp.bool_(True))

    def one(key):
        return successor_maps(finish_rollout(key, agent, rollout_state, world), jnp.int32(0))

    # in parts as equal as can be, which for 50 they are: a smaller last one is compiled once more
    parts = -(-rollouts // BATCH)
    return jax.lax.map(one, jax.random.split(key, rollouts), batch_size=-(-rollouts // parts)).mean(0)
