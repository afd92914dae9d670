"""Experience: a network acts in its worlds, and what happens is written down for it to learn from."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..support.precision import usual_dtype
from ..world.gridworld import ABSENT, Level, State, World, nothing_yet, reset_to_level, step_auto_reset
from .actor_critic import Memory, Network, Rewards, Senses, forget, last_step, own_cell, sight


class Moment(eqx.Module):
    """What one network was faced with and told: all that its outputs depend on, beside its memory."""

    state: State
    action: Int[Array, "*batch"]  # the previous one
    reward: Float[Array, "*batch"]  # the previous one


class Unroll(eqx.Module):
    """What happened while a network acted: a step of one world, or `time world` of them."""

    moment: Moment
    action: Int[Array, "*batch"]
    log_probability: Float[Array, "*batch"]
    value: Float[Array, "*batch"]
    reward: Float[Array, "*batch"]
    done: Bool[Array, "*batch"]


class Outputs(eqx.Module):
    log_policy: Float[Array, "*batch action"]
    value: Float[Array, "*batch"]
    reward: Float[Array, "*batch 3"]


class OngoingEpisodes(eqx.Module):
    """The episodes that a network has under way, one in each of its worlds."""

    moment: Moment
    memory: Memory
    earned: Float[Array, "*population world"]  # so far


def start_episodes(network: Network, levels: Level, dtype=None) -> OngoingEpisodes:
    """An episode at its start on each level."""
    worlds = levels.start_cell.shape[0]
    blank = network.blank_memory(dtype or usual_dtype())
    memory = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (worlds, *leaf.shape)), blank)
    moment = Moment(reset_to_level(levels), jnp.full(worlds, ABSENT, jnp.int32), jnp.zeros(worlds))
    return OngoingEpisodes(moment, memory, jnp.zeros(worlds))


def look(network: Network, moment: Moment, senses: Senses, dtype):
    """Everything that does not depend on the memory: what is seen, its features, what they say to the memory."""
    planes = sight(moment.state, senses)
    features = network.encode(planes, *last_step(moment.action, moment.reward, senses), dtype)
    return own_cell(planes), features, network.look_gates(features)


def outputs(
    network: Network,
    features: Float[Array, "row col channel"],
    hidden: Float[Array, "row col memory_channel"],
    own: Bool[Array, "row col"],
) -> Outputs:
    read = network.read_out(features, hidden, own)
    return Outputs(jax.nn.log_softmax(network.policy(read)), network.value(read)[0], network.reward(read))


def act(
    key: Key[Scalar, ""],
    network: Network,
    ongoing: OngoingEpisodes,
    senses: Senses,
    world: World,
    rewards: Rewards,
    pool: Level,
    unroll: int,
    dtype=None,
) -> tuple[OngoingEpisodes, Unroll, Float[Array, "world"], Float[Array, "2"]]:
    """The network acts in all its worlds. Also: the value of where they end, and returns earned (sum, episodes)."""
    dtype = dtype or usual_dtype()
    network = network.ready(dtype)
    worlds = ongoing.earned.shape[0]

    def judge(moment: Moment, memory: Memory):
        own, features, looked = look(network, moment, senses, dtype)
        memory = network.remember(looked, forget(memory, moment.state.time, senses))
        return outputs(network, features, memory.hidden, own), memory

    def one_world(key, moment: Moment, memory: Memory, earned):
        judged, memory = judge(moment, memory)
        action_key, world_key = jax.random.split(key)
        action = jax.random.categorical(action_key, judged.log_policy).astype(jnp.int32)
        state, outcome = step_auto_reset(world_key, moment.state, action, world, pool)
        reward = rewards.of(outcome, world)
        done = outcome.done
        earned = earned + reward
        happened = Unroll(moment, action, judged.log_policy[action], judged.value, reward, done)
        fresh = nothing_yet().action
        moment = Moment(state, jnp.where(done, fresh, action), jnp.where(done, 0.0, reward))
        finished = jnp.stack([jnp.where(done, earned, 0.0), done.astype(jnp.float32)])
        return moment, memory, jnp.where(done, 0.0, earned), happened, finished

    def one_step(carry, key):
        moment, memory, earned, finished = carry
        keys = jax.random.split(key, worlds)
        moment, memory, earned, happened, ended = jax.vmap(one_world)(keys, moment, memory, earned)
        return (moment, memory, earned, finished + ended.sum(0)), happened

    carry = (ongoing.moment, ongoing.memory, ongoing.earned, jnp.zeros(2))
    (moment, memory, earned, finished), happened = jax.lax.scan(one_step, carry, jax.random.split(key, unroll))
    last, _ = jax.vmap(judge)(moment, memory)
    return OngoingEpisodes(moment, memory, earned), happened, last.value, finished
