"""Networks of a population side by side, each with draws of its own: born, brought on by one update, and measured."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, Scalar

from ..support.mesh import spread
from ..support.streams import BIRTH, TRAINING, WEIGHTS, agent_stream
from ..world.gridworld import Level
from ..world.levels import draw_levels
from .actor_critic import Network, Rewards, Senses
from .experience import act, start_episodes
from .population_config import PopulationTraining
from .reinforcement import Learner, new_learner, update


def update_key(seed: int, number: int) -> Key[Scalar, ""]:
    """That of one update, the same for every chunk."""
    return jax.random.fold_in(agent_stream(seed, TRAINING), number)


def own_keys(key: Key[Scalar, ""], indices: Int[Array, "network"]) -> Key[Array, "network"]:
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, indices)


def first_learners(seed: int, indices: Int[Array, "network"], training: PopulationTraining) -> Learner:
    """Networks as they are born; each depends on its own index alone."""
    return _first_learners(agent_stream(seed, WEIGHTS), agent_stream(seed, BIRTH), indices, training)


@eqx.filter_jit
def _first_learners(weight_key, pool_key, indices, training: PopulationTraining) -> Learner:
    pool = draw_levels(pool_key, training.learner.pool, training.world)

    def one(key):
        return new_learner(key, training.network, training.learner, pool)

    return spread(eqx.filter_vmap(one)(own_keys(weight_key, indices)))


def update_pool(key: Key[Scalar, ""], training: PopulationTraining) -> tuple[Level, Key[Scalar, ""]]:
    """The fresh levels of an update, and the key that its networks' own come from."""
    level_key, act_key = jax.random.split(key)
    return draw_levels(level_key, training.learner.pool, training.world), act_key


@eqx.filter_jit(donate="all-except-first")
def update_all(
    kept: tuple[Key[Scalar, ""], Int[Array, "network"], Senses], learners: Learner, training: PopulationTraining
):
    """One update of every network of a chunk, on fresh levels. All but `kept` gives its memory to the result."""
    key, indices, senses = kept
    pool, act_key = update_pool(key, training)

    def one(key, learner, senses):
        return update(key, learner, senses, training.world, Rewards(), pool, training.learner)

    return eqx.filter_vmap(one)(own_keys(act_key, indices), learners, senses)


@eqx.filter_jit
def returns_on(
    keys: Key[Array, "network"], networks: Network, senses: Senses, levels: Level, training: PopulationTraining
) -> Float[Array, "network"]:
    """Mean return of each network over one episode on each level."""

    def one(key, network, senses):
        ongoing = start_episodes(network, levels, jnp.float32)
        limit = training.world.step_limit
        _, happened, _, _ = act(key, network, ongoing, senses, training.world, Rewards(), levels, limit, jnp.float32)
        ended_before = jnp.cumsum(happened.done, axis=0) - happened.done
        return jnp.where(ended_before == 0, happened.reward, 0.0).sum(0).mean()

    return eqx.filter_vmap(one)(keys, networks, senses)
