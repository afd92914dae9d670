"""World + agent → episode."""

import jax
import jax.numpy as jnp
from jaxtyping import Key, Scalar

from ..agents.agent import Agent
from ..world.gridworld import Level, World, nothing_yet, reset_to_level, step
from ..world.levels import sample_level
from .episode import NONE, Episode


def rollout(key: Key[Scalar, ""], agent: Agent, level: Level, world: World, steps: int | None = None) -> Episode:
    """One agent acting on one level until it is done, or for `steps` steps. `vmap` for more."""
    start = reset_to_level(level)

    def act(carry, key):
        state, memory, last, alive = carry
        policy_key, world_key = jax.random.split(key)
        probabilities, memory = agent.policy(memory, state, last, world)
        action = jax.random.categorical(policy_key, jnp.log(probabilities)).astype(jnp.int32)
        next_state, outcome = step(world_key, state, action, world)
        frame = (state.agent_cell, state.object_cells, action, outcome.consumed, alive)
        # what happens after the end is padding: the state stands still
        next_state = jax.tree.map(lambda new, old: jnp.where(alive, new, old), next_state, state)
        return (next_state, memory, outcome, alive & ~outcome.done), frame

    carry = (start, agent.start(start, world), nothing_yet(), jnp.bool_(True))
    keys = jax.random.split(key, steps or world.step_limit)
    (end, *_), (agent_cells, object_cells, actions, consumed, alive) = jax.lax.scan(act, carry, keys)
    return Episode(
        walls=level.walls,
        agent_cells=agent_cells.astype(jnp.int16),
        object_cells=object_cells.astype(jnp.int16),
        actions=jnp.where(alive, actions, NONE).astype(jnp.int8),
        consumed=jnp.where(alive, consumed, NONE).astype(jnp.int8),
        final_cell=end.agent_cell.astype(jnp.int16),
        length=alive.sum().astype(jnp.int16),
    )


def play(world: World, steps: int | None = None):
    """`play(world)(key, agent, count)`: that many episodes of one agent, each on a fresh level."""

    def episodes(key: Key[Scalar, ""], agent: Agent, count: int) -> Episode:
        def one(key):
            level_key, act_key = jax.random.split(key)
            return rollout(act_key, agent, sample_level(level_key, world), world, steps)

        return jax.vmap(one)(jax.random.split(key, count))

    return episodes
