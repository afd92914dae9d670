"""Training deep RL agents: proximal policy optimisation with backpropagation through time, and UNREAL's side tasks.

`update` lets one network act in its worlds for a while and then learn from it. It is written for one network; a whole
population is trained by `vmap`. Acting and learning go through the same functions, so the first minibatch of an
update sees exactly the policy that acted.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..errors import BadSetting
from ..world.gridworld import ABSENT, Level, State, World, nothing_yet, reset_to_level, step_auto_reset
from .actor_critic import Eyes, Memory, Network, NetworkConfig, Rewards, forget, own_cell, sight
from .matrix_convolution import usual_dtype

USUAL_REWARD = 0.1  # a reward beyond this, either way, is an event worth predicting


@dataclasses.dataclass(frozen=True)
class LearnerConfig:
    steps: int  # of each network
    worlds: int = 64  # of each network
    unroll: int = 32
    epochs: int = 1
    minibatches: int = 4
    learning_rate: float = 3e-3
    last_rate: float = 0.05  # the share of the learning rate that is left at the end
    gamma: float = 0.99
    trace: float = 0.95  # lambda of the generalised advantage
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    belief: float = 0.5
    belief_share: float = 0.25  # of the steps: an unbiased estimate, at a quarter of the price
    reward_prediction: float = 0.0  # UNREAL's two further tasks
    value_replay: float = 0.0
    gradient_norm: float = 0.5
    pool: int = 4096  # levels that an update's new episodes are drawn from

    def __post_init__(self):
        for name in ("steps", "worlds", "unroll", "epochs", "minibatches", "learning_rate", "pool"):
            if not getattr(self, name) > 0:
                raise BadSetting(f"LearnerConfig.{name}", getattr(self, name), "must be above 0")
        if self.worlds % self.minibatches:
            raise BadSetting("LearnerConfig.minibatches", self.minibatches, f"does not divide {self.worlds} worlds")
        if not 0 < self.belief_share <= 1:
            raise BadSetting("LearnerConfig.belief_share", self.belief_share, "a share is above 0 and at most 1")

    @property
    def updates(self) -> int:
        return -(-self.steps // (self.worlds * self.unroll))


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


class Learner(eqx.Module):
    """One network in training, and the worlds it lives in."""

    network: Network
    optimiser: Any
    moment: Moment  # of each world
    memory: Memory  # of each world
    earned: Float[Array, "*population world"]  # in the episode under way
    replay: tuple[Moment, Memory, Array] | None  # an earlier unroll, for value replay
    healthy: Bool[Array, "*population"]  # false once a number was not finite; it is then left as it was


class Progress(eqx.Module):
    """What an update tells about one network."""

    episodes: Float[Array, "*population"]
    returns: Float[Array, "*population"]  # mean over the episodes that ended
    losses: dict[str, Float[Array, "*population"]]


def optimiser(config: LearnerConfig) -> optax.GradientTransformation:
    learned = config.updates * config.epochs * config.minibatches
    schedule = optax.linear_schedule(config.learning_rate, config.last_rate * config.learning_rate, learned)
    return optax.chain(optax.clip_by_global_norm(config.gradient_norm), optax.adam(schedule, eps=1e-5))


def new_learner(key: Key[Scalar, ""], network: NetworkConfig, config: LearnerConfig, pool: Level) -> Learner:
    net_key, level_key = jax.random.split(key)
    net = Network(network, key=net_key)
    chosen = jax.random.randint(level_key, (config.worlds,), 0, pool.start_cell.shape[0])
    state = reset_to_level(jax.tree.map(lambda leaf: leaf[chosen], pool))
    nothing = jnp.full(config.worlds, ABSENT, jnp.int32), jnp.zeros(config.worlds)
    blank = net.blank_memory(usual_dtype())
    memory = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.worlds, *leaf.shape)), blank)
    moment = Moment(state, *nothing)
    replay = None
    if config.value_replay:
        moments = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.unroll, *leaf.shape)), moment)
        replay = (moments, memory, jnp.zeros((config.unroll, config.worlds)))
    return Learner(
        network=net,
        optimiser=optimiser(config).init(eqx.filter(net, eqx.is_array)),
        moment=moment,
        memory=memory,
        earned=jnp.zeros(config.worlds),
        replay=replay,
        healthy=jnp.bool_(True),
    )


# --- One network, one world


def look(network: Network, moment: Moment, eyes: Eyes, dtype):
    """Everything that does not depend on the memory: what is seen, its features, what they say to the memory."""
    planes = sight(moment.state, eyes)
    features = network.encode(planes, moment.action, moment.reward, dtype)
    return own_cell(planes), features, network.look_gates(features)


def outputs(network: Network, features: Array, memory: Memory, own: Array) -> Outputs:
    read = network.read_out(features, memory.hidden, own)
    return Outputs(jax.nn.log_softmax(network.policy(read)), network.value(read)[0], network.reward(read))


# --- Acting


def act(
    key: Key[Scalar, ""],
    learner: Learner,
    eyes: Eyes,
    world: World,
    rewards: Rewards,
    pool: Level,
    unroll: int,
    dtype=None,
) -> tuple[Learner, Unroll, Float[Array, "world"], Float[Array, "2"]]:
    """The network acts in all its worlds. Also: the value of where they end, and returns earned (sum, episodes)."""
    dtype = dtype or usual_dtype()
    network = learner.network.ready(dtype)
    worlds = learner.earned.shape[0]

    def judge(moment: Moment, memory: Memory):
        own, features, looked = look(network, moment, eyes, dtype)
        memory = network.remember(looked, forget(memory, moment.state.time, eyes))
        return outputs(network, features, memory, own), memory

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

    carry = (learner.moment, learner.memory, learner.earned, jnp.zeros(2))
    (moment, memory, earned, finished), happened = jax.lax.scan(one_step, carry, jax.random.split(key, unroll))
    last, _ = jax.vmap(judge)(moment, memory)
    learner = eqx.tree_at(lambda one: (one.moment, one.memory, one.earned), learner, (moment, memory, earned))
    return learner, happened, last.value, finished


def advantages(unroll: Unroll, last_value: Float[Array, "world"], config: LearnerConfig) -> Float[Array, "time world"]:
    """Generalised advantages. An episode's end, a time-out included, is an end: nothing is hoped for beyond it."""

    def back(carry, now):
        advantage, next_value = carry
        value, reward, done = now
        alive = 1.0 - done
        error = reward + config.gamma * alive * next_value - value
        advantage = error + config.gamma * config.trace * alive * advantage
        return (advantage, value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    return jax.lax.scan(back, start, (unroll.value, unroll.reward, unroll.done), reverse=True)[1]


# --- Learning


def relive(
    network: Network, moments: Moment, memory: Memory, eyes: Eyes
) -> tuple[Outputs, Float[Array, "time world row col channel"]]:
    """The outputs for recorded moments (`time world`), from the memory before the first; and the memory's hidden maps.

    What needs no memory is computed for all moments at once; only the LSTM goes step by step.
    """
    dtype = usual_dtype()
    network = network.ready(dtype)
    over_all = lambda function: jax.vmap(jax.vmap(function))  # noqa: E731
    own, features, looked = over_all(lambda moment: look(network, moment, eyes, dtype))(moments)

    def one_step(memory, now):
        looked, time = now
        one = lambda looked, memory, time: network.remember(looked, forget(memory, time, eyes))  # noqa: E731
        memory = jax.vmap(one)(looked, memory, time)
        return memory, memory.hidden

    _, hidden = jax.lax.scan(one_step, memory, (looked, moments.state.time))
    read = over_all(lambda features, hidden, own: outputs(network, features, Memory(hidden, hidden), own))
    return read(features, hidden, own), hidden


def belief_loss(network: Network, hidden: Array, object_cells: Int[Array, "time world kind"]) -> Float[Array, ""]:
    """Cross-entropy between where the agent believes the objects to be and where they are."""
    network = network.ready(hidden.dtype)
    nowhere = network.config.size**2
    places = jnp.where(object_cells == ABSENT, nowhere, object_cells)

    def one(hidden, places):
        log_belief = network.report_belief(hidden)
        return -jnp.take_along_axis(log_belief, places[:, None].astype(jnp.int32), axis=-1).mean()

    return jax.vmap(jax.vmap(one))(hidden, places).mean()


def loss(
    network: Network,
    unroll: Unroll,
    memory: Memory,
    advantage: Float[Array, "time world"],
    replay: tuple[Moment, Memory, Array] | None,
    eyes: Eyes,
    config: LearnerConfig,
    key: Key[Scalar, ""],
) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
    now, hidden = relive(network, unroll.moment, memory, eyes)
    log_probability = jnp.take_along_axis(now.log_policy, unroll.action[..., None], axis=-1)[..., 0]
    ratio = jnp.exp(log_probability - unroll.log_probability)
    gain = (advantage - advantage.mean()) / (advantage.std() + 1e-4)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    entropy = -(jnp.exp(now.log_policy) * now.log_policy).sum(-1).mean()
    losses = {
        "policy": -jnp.minimum(ratio * gain, clipped * gain).mean(),
        "value": jnp.square(now.value - (unroll.value + advantage)).mean(),
        "entropy": entropy,
    }
    total = losses["policy"] + config.value * losses["value"] - config.entropy * entropy
    if config.belief:
        times = jax.random.permutation(key, config.unroll)[: max(1, round(config.belief_share * config.unroll))]
        losses["belief"] = belief_loss(network, hidden[times], unroll.moment.state.object_cells[times])
        total = total + config.belief * losses["belief"]
    if config.reward_prediction:
        losses["reward"] = reward_loss(now.reward, unroll.reward)
        total = total + config.reward_prediction * losses["reward"]
    if config.value_replay and replay is not None:
        moments, earlier, target = replay
        losses["replay"] = jnp.square(relive(network, moments, earlier, eyes)[0].value - target).mean()
        total = total + config.value_replay * losses["replay"]
    return total, losses | {"ratio": jnp.abs(ratio - 1).max()}


def reward_loss(predicted: Float[Array, "*batch 3"], reward: Float[Array, "*batch"]) -> Float[Array, ""]:
    """Cross-entropy of the reward's class, events weighing as much in all as the many steps without."""
    kind = jnp.where(reward > USUAL_REWARD, 2, jnp.where(reward < -USUAL_REWARD, 0, 1))
    event = kind != 1
    weight = jnp.where(event, 0.5 / jnp.maximum(event.mean(), 1e-3), 0.5 / jnp.maximum((~event).mean(), 1e-3))
    missed = -jnp.take_along_axis(jax.nn.log_softmax(predicted), kind[..., None], axis=-1)[..., 0]
    return (weight * missed).mean()


def learn(
    key: Key[Scalar, ""],
    learner: Learner,
    unroll: Unroll,
    memory: Memory,
    last_value: Array,
    eyes: Eyes,
    config: LearnerConfig,
) -> tuple[Learner, dict[str, Float[Array, ""]]]:
    """Some steps of Adam on one unroll, `memory` being that before its first step."""
    advantage = advantages(unroll, last_value, config)
    per = config.worlds // config.minibatches

    def one_minibatch(carry, now):
        network, state = carry
        key, worlds = now
        part = lambda tree, axis: jax.tree.map(lambda leaf: jnp.take(leaf, worlds, axis=axis), tree)  # noqa: E731
        replay = learner.replay and (part(learner.replay[0], 1), part(learner.replay[1], 0), part(learner.replay[2], 1))
        gradients, losses = eqx.filter_grad(loss, has_aux=True)(
            network, part(unroll, 1), part(memory, 0), part(advantage, 1), replay, eyes, config, key
        )
        updates, state = optimiser(config).update(gradients, state)
        return (eqx.apply_updates(network, updates), state), losses

    order_key, belief_key = jax.random.split(key)
    orders = jax.vmap(lambda key: jax.random.permutation(key, config.worlds))(
        jax.random.split(order_key, config.epochs)
    ).reshape(-1, per)
    arrays, static = eqx.partition(learner.network, eqx.is_array)
    keys = jax.random.split(belief_key, len(orders))

    def scanned(carry, now):
        arrays, state = carry
        (network, state), losses = one_minibatch((eqx.combine(arrays, static), state), now)
        return (eqx.filter(network, eqx.is_array), state), losses

    (arrays, state), losses = jax.lax.scan(scanned, (arrays, learner.optimiser), (keys, orders))
    first_ratio = losses.pop("ratio")[0]
    losses = {name: value.mean() for name, value in losses.items()} | {"first_ratio": first_ratio}
    replay = learner.replay and (unroll.moment, memory, unroll.value + advantage)
    return eqx.tree_at(
        lambda one: (one.network, one.optimiser, one.replay),
        learner,
        (eqx.combine(arrays, static), state, replay),
        is_leaf=lambda leaf: leaf is None,
    ), losses


def update(
    key: Key[Scalar, ""],
    learner: Learner,
    eyes: Eyes,
    world: World,
    rewards: Rewards,
    pool: Level,
    config: LearnerConfig,
) -> tuple[Learner, Progress]:
    act_key, learn_key = jax.random.split(key)
    before = learner.memory
    acted, unroll, last_value, (earned, episodes) = act(act_key, learner, eyes, world, rewards, pool, config.unroll)
    learned, losses = learn(learn_key, acted, unroll, before, last_value, eyes, config)
    finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(eqx.filter(learned.network, eqx.is_array))]
    healthy = learner.healthy & jnp.stack(finite).all()
    kept = jax.tree.map(
        lambda new, old: jnp.where(healthy, new, old), *(eqx.filter(one, eqx.is_array) for one in (learned, learner))
    )
    learner = eqx.combine(kept, eqx.filter(learned, eqx.is_array, inverse=True))
    learner = eqx.tree_at(lambda one: one.healthy, learner, healthy)
    return learner, Progress(episodes, earned / jnp.maximum(episodes, 1), losses)
