"""World + agent → episode."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..agents.actor_critic import DeepAgent, Memory
from ..agents.agent import Agent
from ..world.gridworld import Level, Outcome, State, World, nothing_yet, reset_to_level, step
from ..world.levels import sample_level
from .episode import NONE, Episode, EpisodeWithBeliefs

Record = Callable[[Any, Any, State], Any]
"""`(agent, memory after having looked, state) -> arrays` to keep at every step, such as the agent's beliefs."""
Stop = Callable[[Outcome, World], Bool[Array, ""]]


class RolloutState(eqx.Module):
    """Where an episode stands: all that its future depends on, beside chance."""

    state: State
    memory: Any  # before the agent looks at the state
    last: Outcome
    alive: Bool[Array, "*batch"]


class PartialRollout(eqx.Module):
    """A part of an episode, what was recorded on the way (padded as the episode is), and where it led."""

    episode: Episode
    recorded: Any
    end: RolloutState


def at_the_end(outcome: Outcome, world: World) -> Bool[Array, ""]:
    return outcome.done


def at_the_subgoal(outcome: Outcome, world: World) -> Bool[Array, ""]:
    """When the subgoal is eaten, or else at the end."""
    return outcome.done | (outcome.consumed == world.objects)


def start_rollout(agent: Agent, level: Level, world: World) -> RolloutState:
    state = reset_to_level(level)
    return RolloutState(state, agent.start(state, world), nothing_yet(), jnp.bool_(True))


def continue_rollout(
    key: Key[Scalar, ""],
    agent: Agent,
    rollout_state: RolloutState,
    world: World,
    steps: int | None = None,
    *,
    stop: Stop = at_the_end,
    record: Record | None = None,
) -> PartialRollout:
    """One agent acting from where an episode stands until `stop`, or for `steps` steps."""
    keys = jax.random.split(key, steps or world.step_limit)
    end, frames = jax.lax.scan(_act(agent, world, stop, record), rollout_state, keys)
    return PartialRollout(_episode(rollout_state, end, frames), frames.recorded, end)


def finish_rollout(key: Key[Scalar, ""], agent: Agent, rollout_state: RolloutState, world: World) -> Episode:
    """The same episode as `continue_rollout` has, for many at a time: under `vmap` it takes as many steps as the
    longest of them, and not as many as an episode may have. There, too, whoever is done stands still."""
    act, keys = _act(agent, world, at_the_end, None), jax.random.split(key, world.step_limit)
    times = jnp.arange(world.step_limit)

    def go(way):
        now, time, frames = way
        after, frame = act(now, keys[time])
        return after, time + 1, jax.tree.map(lambda all, one: all.at[time].set(one), frames, frame)

    _, frame = jax.eval_shape(act, rollout_state, keys[0])
    blank = jax.tree.map(lambda leaf: jnp.zeros((len(times), *leaf.shape), leaf.dtype), frame)
    end, length, frames = jax.lax.while_loop(
        lambda way: way[0].alive & (way[1] < len(times)), go, (rollout_state, jnp.int32(0), blank)
    )
    return _episode(rollout_state, end, _standing_still(frames, end, length))


def rollouts_in_turn(
    keys: Key[Array, "level"], agent: Agent, levels: Level, world: World, *, at_once: int, stop: Stop = at_the_end
) -> PartialRollout:
    """As `continue_rollout` from the start of each level, so many of them `at_once`: who is done makes room for the
    next level, so that no step is spent on what is over. Where most episodes are short, that is most steps."""
    count, limit = keys.shape[0], world.step_limit
    act, step_keys = jax.vmap(_act(agent, world, stop, None)), jax.vmap(lambda key: jax.random.split(key, limit))(keys)

    def start(number: Int[Array, "place"]) -> RolloutState:
        chosen = jax.tree.map(lambda leaf: leaf[jnp.minimum(number, count - 1)], levels)
        return jax.vmap(lambda level: start_rollout(agent, level, world))(chosen)

    def go(way):
        now, number, time, waiting, frames, ends = way
        after, frame = act(now, step_keys[jnp.minimum(number, count - 1), time])
        frames = jax.tree.map(lambda all, one: all.at[number, time].set(one, mode="drop"), frames, frame)
        done = ~after.alive
        left = jnp.where(done, number, count)
        ends = jax.tree.map(lambda all, one: all.at[left].set(one, mode="drop"), ends, after)
        number = jnp.where(done, waiting + jnp.cumsum(done) - done, number)

        def renewed(new, old):
            return jnp.where(done.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        now = jax.tree.map(renewed, start(number), after)
        return now, number, jnp.where(done, 0, time + 1), waiting + done.sum(), frames, ends

    first = jnp.arange(at_once)  # the numbers of levels; beyond the last, nobody looks
    now = start(first)
    _, frame = jax.eval_shape(act, now, step_keys[jnp.zeros(at_once, int), 0])
    blank = jax.tree.map(lambda leaf: jnp.zeros((count, limit, *leaf.shape[1:]), leaf.dtype), frame)
    nowhere = jax.tree.map(lambda leaf: jnp.zeros((count, *leaf.shape[1:]), leaf.dtype), now)
    way = (now, first, jnp.zeros(at_once, int), jnp.int32(at_once), blank, nowhere)
    *_, frames, ends = jax.lax.while_loop(lambda way: (way[1] < count).any(), go, way)
    still = jax.vmap(lambda frames, end: _standing_still(frames, end, frames.alive.sum()))(frames, ends)
    return PartialRollout(jax.vmap(_episode)(ends, ends, still), None, ends)


def _standing_still(frames: "Frame", end: RolloutState, length: Int[Array, ""]) -> "Frame":
    """After the end, everything stays where it then was."""
    done = jnp.arange(frames.alive.shape[0]) >= length
    still = (
        jnp.where(done, end.state.agent_cell, frames.agent_cell),
        jnp.where(done[:, None], end.state.object_cells, frames.object_cells),
    )
    return eqx.tree_at(lambda frames: (frames.agent_cell, frames.object_cells), frames, still)


class Frame(eqx.Module):
    """One step, or many with time as the first axis."""

    agent_cell: Int[Array, "*time"]
    object_cells: Int[Array, "*time kind"]
    action: Int[Array, "*time"]
    consumed: Int[Array, "*time"]
    alive: Bool[Array, "*time"]
    recorded: Any


def _act(agent: Agent, world: World, stop: Stop, record: Record | None):
    """One step of an agent, from where it stands to where it then stands."""

    def act(now: RolloutState, key: Key[Scalar, ""]) -> tuple[RolloutState, Frame]:
        policy_key, world_key = jax.random.split(key)
        probabilities, memory = agent.policy(now.memory, now.state, now.last, world)
        action = jax.random.categorical(policy_key, jnp.log(probabilities)).astype(jnp.int32)
        state, outcome = step(world_key, now.state, action, world)
        recorded = record(agent, memory, now.state) if record else None
        frame = Frame(now.state.agent_cell, now.state.object_cells, action, outcome.consumed, now.alive, recorded)
        # what happens after the end is padding: everything stands still
        after = RolloutState(state, memory, outcome, now.alive & ~stop(outcome, world))
        return jax.tree.map(lambda new, old: jnp.where(now.alive, new, old), after, now), frame

    return act


def _episode(rollout_state: RolloutState, end: RolloutState, frames: Frame) -> Episode:
    return Episode(
        walls=rollout_state.state.walls,
        agent_cells=frames.agent_cell.astype(jnp.int16),
        object_cells=frames.object_cells.astype(jnp.int16),
        actions=jnp.where(frames.alive, frames.action, NONE).astype(jnp.int8),
        consumed=jnp.where(frames.alive, frames.consumed, NONE).astype(jnp.int8),
        final_cell=end.state.agent_cell.astype(jnp.int16),
        length=frames.alive.sum().astype(jnp.int16),
    )


def rollout(key: Key[Scalar, ""], agent: Agent, level: Level, world: World, steps: int | None = None) -> Episode:
    """One agent acting on one level until it is done, or for `steps` steps. `vmap` for more."""
    return continue_rollout(key, agent, start_rollout(agent, level, world), world, steps).episode


def play(world: World, steps: int | None = None):
    """`play(world)(key, agent, count)`: that many episodes of one agent, each on a fresh level."""

    def episodes(key: Key[Scalar, ""], agent: Agent, count: int) -> Episode:
        acting = agent.ready()

        def one(key):
            level_key, act_key = jax.random.split(key)
            return rollout(act_key, acting, sample_level(level_key, world), world, steps)

        return jax.vmap(one)(jax.random.split(key, count))

    return episodes


def play_with_beliefs(world: World):
    """As `play`, for agents that can say what they believe: each episode with their beliefs at every step."""

    def believed(agent: DeepAgent, memory: Memory, state: State) -> Float[Array, "kind place"]:
        return agent.belief(memory, world).astype(jnp.float16)  # of many episodes, most of which is padding

    def episodes(key: Key[Scalar, ""], agent: DeepAgent, count: int) -> EpisodeWithBeliefs:
        acting = agent.ready()

        def one(key):
            level_key, act_key = jax.random.split(key)
            start = start_rollout(acting, sample_level(level_key, world), world)
            partial_rollout = continue_rollout(act_key, acting, start, world, record=believed)
            return EpisodeWithBeliefs(partial_rollout.episode, partial_rollout.recorded)

        return jax.vmap(one)(jax.random.split(key, count))

    return episodes
