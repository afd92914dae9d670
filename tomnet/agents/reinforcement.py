"""Training deep RL agents: proximal policy optimisation with backpropagation through time, and UNREAL's side tasks.

`update` lets one network act in its worlds for a while and then learn from it. It is written for one network; a whole
population is trained by `vmap`. Acting and learning go through the same functions, so the first minibatch of an
update sees the policy that acted: exactly so on a CPU, in float32, but for the order of sums; on a GPU, in bf16, the
largest ratio − 1 between the two was 0.01 to 0.03 in measured runs (H200).
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..support.errors import BadSetting
from ..support.precision import usual_dtype
from ..support.trees import pick
from ..world.gridworld import ABSENT, Level, World
from .actor_critic import Memory, Network, NetworkConfig, Rewards, Senses, forget
from .experience import Moment, OngoingEpisodes, Outputs, Unroll, act, look, outputs, start_episodes

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
    gamma: float = 0.98
    blind_gamma: float = 0.99  # who must grope finds late: at 0.98 a third of the blind learned to stand still
    trace: float = 0.95  # lambda of the generalised advantage
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    belief: float = 0.2
    belief_share: float = 0.25  # of the steps: an unbiased estimate, at a quarter of the price
    reward_prediction: float = 0.0  # UNREAL's two further tasks
    value_replay: float = 0.0
    gradient_norm: float = 1.0
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

    def discount(self, senses: Senses) -> Float[Array, "*population"]:
        return jnp.where(senses.blind, self.blind_gamma, self.gamma)


class Replay(eqx.Module):
    """An earlier unroll, for value replay."""

    moment: Moment
    memory: Memory  # before its first step
    value: Float[Array, "*batch"]  # what its steps turned out to be worth


class LearningBatch(eqx.Module):
    """What there is to learn from, in some worlds."""

    unroll: Unroll
    memory: Memory  # before its first step
    advantage: Float[Array, "time world"]
    replay: Replay | None

    def of(self, worlds: Int[Array, "chosen"]) -> "LearningBatch":
        def over_time(tree):
            return jax.tree.map(lambda leaf: leaf[:, worlds], tree)

        def at_first(tree):
            return pick(tree, worlds)

        replay = self.replay
        if replay is not None:
            replay = Replay(over_time(replay.moment), at_first(replay.memory), over_time(replay.value))
        return LearningBatch(over_time(self.unroll), at_first(self.memory), over_time(self.advantage), replay)


class Learner(eqx.Module):
    """One network in training, and the worlds it lives in."""

    network: Network
    optimiser: Any
    ongoing: OngoingEpisodes
    replay: Replay | None
    healthy: Bool[Array, "*population"]  # false once a number was not finite; it is then left as it was


class UpdateReport(eqx.Module):
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
    ongoing = start_episodes(net, pick(pool, chosen))
    replay = None
    if config.value_replay:
        moments = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.unroll, *leaf.shape)), ongoing.moment)
        replay = Replay(moments, ongoing.memory, jnp.zeros((config.unroll, config.worlds)))
    return Learner(
        network=net,
        optimiser=optimiser(config).init(eqx.filter(net, eqx.is_array)),
        ongoing=ongoing,
        replay=replay,
        healthy=jnp.bool_(True),
    )


def advantages(
    unroll: Unroll, last_value: Float[Array, "world"], discount: Float[Array, ""], trace: float
) -> Float[Array, "time world"]:
    """Generalised advantages. An episode's end, a time-out included, is an end: nothing is hoped for beyond it."""

    def back(carry, now):
        advantage, next_value = carry
        value, reward, done = now
        alive = 1.0 - done
        error = reward + discount * alive * next_value - value
        advantage = error + discount * trace * alive * advantage
        return (advantage, value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    return jax.lax.scan(back, start, (unroll.value, unroll.reward, unroll.done), reverse=True)[1]


# --- Learning


def relive(
    network: Network, moments: Moment, memory: Memory, senses: Senses
) -> tuple[Outputs, Float[Array, "time world row col channel"]]:
    """The outputs for recorded moments (`time world`), from the memory before the first; and the memory's hidden maps.

    What needs no memory is computed for all moments at once; only the LSTM goes step by step.
    """
    dtype = usual_dtype()
    network = network.ready(dtype)

    def over_all(function):
        return jax.vmap(jax.vmap(function))

    def remember(looked, memory, time):
        return network.remember(looked, forget(memory, time, senses))

    def one_step(memory, now):
        looked, time = now
        memory = jax.vmap(remember)(looked, memory, time)
        return memory, memory.hidden

    own, features, looked = over_all(lambda moment: look(network, moment, senses, dtype))(moments)
    _, hidden = jax.lax.scan(one_step, memory, (looked, moments.state.time))
    return over_all(lambda *seen: outputs(network, *seen))(features, hidden, own), hidden


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
    network: Network, learning_batch: LearningBatch, senses: Senses, config: LearnerConfig, asked: Int[Array, "asked"]
) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
    """The sum of all terms, and each of them. Beliefs are asked for at the times `asked` alone."""
    unroll, advantage = learning_batch.unroll, learning_batch.advantage
    now, hidden = relive(network, unroll.moment, learning_batch.memory, senses)
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
        losses["belief"] = belief_loss(network, hidden[asked], unroll.moment.state.object_cells[asked])
        total = total + config.belief * losses["belief"]
    if config.reward_prediction:
        losses["reward"] = reward_loss(now.reward, unroll.reward)
        total = total + config.reward_prediction * losses["reward"]
    if learning_batch.replay is not None:
        again, _ = relive(network, learning_batch.replay.moment, learning_batch.replay.memory, senses)
        losses["replay"] = jnp.square(again.value - learning_batch.replay.value).mean()
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
    last_value: Float[Array, "world"],
    senses: Senses,
    config: LearnerConfig,
) -> tuple[Learner, dict[str, Float[Array, ""]]]:
    """Some steps of Adam on one unroll, `memory` being that before its first step."""
    advantage = advantages(unroll, last_value, config.discount(senses), config.trace)
    learning_batch = LearningBatch(unroll, memory, advantage, learner.replay)
    order_key, ask_key = jax.random.split(key)
    orders = [jax.random.permutation(key, config.worlds) for key in jax.random.split(order_key, config.epochs)]
    minibatches = jnp.concatenate(orders).reshape(config.epochs * config.minibatches, -1)
    times = jax.vmap(lambda key: jax.random.permutation(key, config.unroll))
    asked = times(jax.random.split(ask_key, len(minibatches)))[:, : max(1, round(config.belief_share * config.unroll))]
    weights, static = eqx.partition(learner.network, eqx.is_array)

    def one_step(carry, now):
        weights, state = carry
        worlds, asked = now
        network = eqx.combine(weights, static)
        gradients, losses = eqx.filter_grad(loss, has_aux=True)(
            network, learning_batch.of(worlds), senses, config, asked
        )
        updates, state = optimiser(config).update(gradients, state)
        return (eqx.apply_updates(weights, updates), state), losses

    (weights, state), losses = jax.lax.scan(one_step, (weights, learner.optimiser), (minibatches, asked))
    first_ratio = losses.pop("ratio")[0]  # the policy that learns is at first the one that acted
    losses = {name: value.mean() for name, value in losses.items()} | {"first_ratio": first_ratio}
    replay = learner.replay and Replay(unroll.moment, memory, unroll.value + advantage)
    return eqx.tree_at(
        lambda one: (one.network, one.optimiser, one.replay),
        learner,
        (eqx.combine(weights, static), state, replay),
        is_leaf=lambda leaf: leaf is None,
    ), losses


def update(
    key: Key[Scalar, ""],
    learner: Learner,
    senses: Senses,
    world: World,
    rewards: Rewards,
    pool: Level,
    config: LearnerConfig,
) -> tuple[Learner, UpdateReport]:
    act_key, learn_key = jax.random.split(key)
    ongoing, unroll, last_value, (earned, episodes) = act(
        act_key, learner.network, learner.ongoing, senses, world, rewards, pool, config.unroll
    )
    acted = eqx.tree_at(lambda one: one.ongoing, learner, ongoing)
    learned, losses = learn(learn_key, acted, unroll, learner.ongoing.memory, last_value, senses, config)
    finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(eqx.filter(learned.network, eqx.is_array))]
    healthy = learner.healthy & jnp.stack(finite).all()
    kept = jax.tree.map(
        lambda new, old: jnp.where(healthy, new, old), *(eqx.filter(one, eqx.is_array) for one in (learned, learner))
    )
    learner = eqx.combine(kept, eqx.filter(learned, eqx.is_array, inverse=True))
    learner = eqx.tree_at(lambda one: one.healthy, learner, healthy)
    return learner, UpdateReport(episodes, earned / jnp.maximum(episodes, 1), losses)
