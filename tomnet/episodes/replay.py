"""An agent replays an episode: how likely it was to act so, and what it then remembers.

An agent's memory is not recorded. But it depends on nothing beside what the agent saw and did, so that it can be
worked out again, for the agent whose episode this is and for any other in its place.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..agents.agent import Agent
from ..world.gridworld import ACTIONS, Outcome, State, World, nothing_yet
from .episode import Episode, QueryState
from .rollout import RolloutState


class Replayed(eqx.Module):
    """Where an agent is after an episode that it was led along."""

    log_likelihood: Float[Array, "*batch"]  # of all its actions, had it chosen them itself
    memory: Any  # after the look that its last action followed
    last: Outcome


def replay(agent: Agent, episode: Episode, world: World, first: State | None = None) -> Replayed:
    """One agent along one episode; `first`, where it begins, is needed only where the episode has no step.

    Under `vmap` it takes as many steps as the longest of the episodes, and not as many as one may have.
    """
    cells, objects = episode.agent_cells.astype(jnp.int32), episode.object_cells.astype(jnp.int32)
    length, no = episode.length.astype(jnp.int32), jnp.bool_(False)

    def state_at(time):
        return State(episode.walls, objects[time], cells[time], time)

    def look(now):
        time, log_likelihood, memory, last = now
        probabilities, memory = agent.policy(memory, state_at(time), last, world)
        action = episode.actions[time].astype(jnp.int32)
        # what rounds to 0 is improbable, not impossible
        chosen = jnp.log(jnp.maximum(probabilities[action], jnp.finfo(jnp.float32).tiny))
        after = jnp.where(time + 1 < length, cells[time + 1], episode.final_cell.astype(jnp.int32))
        bumped = (cells[time] == after) & (action != ACTIONS.index("stay"))
        consumed = episode.consumed[time].astype(jnp.int32)
        outcome = Outcome(action, consumed, bumped, swapped=no, terminated=no, truncated=no)
        return time + 1, log_likelihood + chosen, memory, outcome

    memory = agent.start(state_at(jnp.int32(0)) if first is None else first, world)
    start = (jnp.int32(0), jnp.float32(0), memory, nothing_yet())
    _, log_likelihood, memory, last = jax.lax.while_loop(lambda now: now[0] < length, look, start)
    return Replayed(log_likelihood, memory, last)


def stand_at_query(agent: Agent, recent: Episode, query: QueryState, world: World) -> RolloutState:
    """Where an episode stands at the query, with the memory that this agent would have come there with."""
    length, here = recent.length.astype(jnp.int32), query.agent_cell.astype(jnp.int32)
    things = query.object_cells.astype(jnp.int32)
    begun = length > 0
    first = State(
        recent.walls,
        jnp.where(begun, recent.object_cells[0].astype(jnp.int32), things),
        jnp.where(begun, recent.agent_cells[0].astype(jnp.int32), here),
        jnp.int32(0),
    )
    replayed = replay(agent, recent, world, first)
    return RolloutState(
        State(recent.walls, things, here, length), replayed.memory, replayed.last, alive=jnp.bool_(True)
    )
