"""The network of a deep RL agent (appendix D): convolutions, a convolutional LSTM; policy, value and beliefs.

Everything here is written for one agent in one world; `vmap` makes it many. What an agent sees and whether it
remembers are data, so that one compiled program trains all conditions side by side.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..support.directions import WAYS, most_each_way
from ..support.errors import BadSetting
from ..support.precision import usual_dtype
from ..world.gridworld import ABSENT, ACTIONS, Outcome, State, World
from ..world.views import PLANES, field, observation
from .matrix_convolution import Convolution, ReadyConvolution, make_ready

DEEPEST = 999  # layers are made one by one: a file that asks for a billion would never be through
INPUT_PLANES = 16  # an observation's nine, filled up with zeros to a number that matrix units like


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    size: int = 11
    kinds: int = 5  # of objects, the subgoal included
    channels: int = 32
    memory_channels: int = 16
    depth: int = 2  # convolutions before the memory
    belief_channels: int = 32
    hidden: int = 64
    salience_channels: int = 32

    def __post_init__(self):
        for name, value in dataclasses.asdict(self).items():
            if value < 1:
                raise BadSetting(f"NetworkConfig.{name}", value, "must be above 0")
        if self.depth > DEEPEST:
            raise BadSetting("NetworkConfig.depth", self.depth, f"must be at most {DEEPEST}")
        if self.kinds + PLANES > INPUT_PLANES:
            why = f"an agent tells at most {INPUT_PLANES - PLANES} kinds of objects apart"
            raise BadSetting("NetworkConfig.kinds", self.kinds, why)


class Memory(eqx.Module):
    """The state of the convolutional LSTM: a map, so that what was seen is remembered where it was seen."""

    hidden: Float[Array, "*batch row col channel"]
    cell: Float[Array, "*batch row col channel"]


class Senses(eqx.Module):
    """What an agent is: how far it sees and whether it remembers. One species for each pair."""

    reach: Int[Array, "*population"]  # 2 for a 5×5 field of view; -1 for the blind
    remembers: Bool[Array, "*population"]

    @property
    def blind(self) -> Bool[Array, "*population"]:
        return self.reach < 0


class Rewards(eqx.Module):
    move: float = eqx.field(static=True, default=-0.005)
    wall: float = eqx.field(static=True, default=-0.05)
    time_out: float = eqx.field(static=True, default=-1.0)
    subgoal: float = eqx.field(static=True, default=1.0)
    preferred: float = eqx.field(static=True, default=1.0)

    def of(self, outcome: Outcome, world: World) -> Float[Array, ""]:
        """What an outcome is worth to a canonical agent, which is after object 0 and, before that, the subgoal."""
        return (
            self.move
            + self.wall * outcome.bumped
            + self.time_out * outcome.truncated
            + self.preferred * (outcome.consumed == 0)
            + self.subgoal * (outcome.consumed == world.objects if world.subgoal else False)
        )


class Network(eqx.Module):
    encoder: list[Convolution]
    told: eqx.nn.Linear  # previous action and reward
    look_gates: Convolution
    memory_gates: Convolution
    salience: eqx.nn.Linear  # of each cell: what the policy is to know the way to
    hidden: eqx.nn.Linear
    policy: eqx.nn.Linear
    value: eqx.nn.Linear
    reward: eqx.nn.Linear  # the class of the next reward: below, at or above the usual
    belief: list[Convolution]
    absent: eqx.nn.Linear
    config: NetworkConfig = eqx.field(static=True)

    def __init__(self, config: NetworkConfig, *, key: Key[Scalar, ""]):
        keys = iter(jax.random.split(key, config.depth + 12))
        widths = [INPUT_PLANES] + [config.channels] * config.depth
        self.encoder = [Convolution(a, b, key=next(keys)) for a, b in zip(widths, widths[1:], strict=False)]
        self.told = eqx.nn.Linear(len(ACTIONS) + 1, config.channels, key=next(keys))
        gates = 4 * config.memory_channels
        self.look_gates = Convolution(config.channels, gates, key=next(keys))
        self.memory_gates = Convolution(config.memory_channels, gates, key=next(keys))
        maps = config.channels + config.memory_channels
        read = 2 * maps + WAYS * config.salience_channels
        self.hidden = eqx.nn.Linear(read, config.hidden, key=next(keys))
        self.policy = _small(eqx.nn.Linear(config.hidden, len(ACTIONS), key=next(keys)))
        self.value = eqx.nn.Linear(config.hidden, 1, key=next(keys))
        self.reward = eqx.nn.Linear(config.hidden, 3, key=next(keys))
        widths = [config.memory_channels, config.belief_channels, config.belief_channels, config.kinds]
        self.belief = [Convolution(a, b, key=next(keys)) for a, b in zip(widths, widths[1:], strict=False)]
        self.absent = eqx.nn.Linear(config.belief_channels, config.kinds, key=next(keys))
        self.salience = eqx.nn.Linear(maps, config.salience_channels, key=next(keys))
        self.config = config

    def ready(self, dtype=jnp.float32) -> "Network":
        """For many frames at a time; in `dtype`."""
        return make_ready(self, self.config.size, dtype)

    def blank_memory(self, dtype=jnp.float32) -> Memory:
        shape = (self.config.size, self.config.size, self.config.memory_channels)
        return Memory(jnp.zeros(shape, dtype), jnp.zeros(shape, jnp.float32))

    def encode(
        self, planes: Bool[Array, "row col plane"], action: Int[Array, ""], reward: Float[Array, ""], dtype=jnp.float32
    ) -> Float[Array, "row col channel"]:
        """The features of one observation. The previous action and reward shift the first layer everywhere alike."""
        frame = jnp.pad(planes, ((0, 0), (0, 0), (0, INPUT_PLANES - planes.shape[-1]))).astype(dtype)
        told = self.told(jnp.append(jax.nn.one_hot(action, len(ACTIONS)), reward)).astype(dtype)
        features = jax.nn.relu(self.encoder[0](frame) + told)
        for layer in self.encoder[1:]:
            features = jax.nn.relu(layer(features))
        return features

    def remember(self, looked: Float[Array, "row col gate"], memory: Memory) -> Memory:
        """One step of the LSTM; `looked` is what `look_gates` makes of the features."""
        gates = (looked + self.memory_gates(memory.hidden)).astype(jnp.float32)
        write, keep, show, new = jnp.split(gates, 4, axis=-1)
        cell = jax.nn.sigmoid(keep + 1) * memory.cell + jax.nn.sigmoid(write) * jnp.tanh(new)
        return Memory((jax.nn.sigmoid(show) * jnp.tanh(cell)).astype(looked.dtype), cell)

    def read_out(
        self,
        features: Float[Array, "row col channel"],
        hidden: Float[Array, "row col memory_channel"],
        own_cell: Bool[Array, "row col"],
    ) -> Float[Array, "hidden"]:
        """Each map at the agent's own cell (zeros for the blind), its mean, and the most salient each way."""
        # each map by itself: one array of both would be written out only to be read once
        maps = [map.astype(jnp.float32) for map in (features, hidden)]
        here = [jnp.where(own_cell[..., None], map, 0).sum((0, 1)) for map in maps]
        means = [map.mean((0, 1)) for map in maps]
        most = most_each_way(self.salience_map(features, hidden), own_cell).astype(jnp.float32)
        return jax.nn.relu(self.hidden(jnp.concatenate([*here, *means, most.reshape(-1)])))

    def salience_map(
        self, features: Float[Array, "row col channel"], hidden: Float[Array, "row col memory_channel"]
    ) -> Float[Array, "row col salience"]:
        """What is seen and what is remembered in each cell, in channels of its own: in the memory's, one object may
        look much like another."""
        weight, bias = (jnp.asarray(part, features.dtype) for part in (self.salience.weight, self.salience.bias))
        of_features, of_memory = jnp.split(weight.T, [features.shape[-1]])
        return jax.nn.relu(features @ of_features + hidden @ of_memory + bias)

    def report_belief(self, hidden: Float[Array, "row col channel"]) -> Float[Array, "kind place"]:
        """Log-probabilities of where each object is: every cell, and last, that it is nowhere."""
        features = hidden
        for layer in self.belief[:-1]:
            features = jax.nn.relu(layer(features))
        absent = self.absent(features.astype(jnp.float32).mean((0, 1)))
        cells = self.belief[-1](features).astype(jnp.float32).reshape(-1, self.config.kinds)
        return jax.nn.log_softmax(jnp.concatenate([cells, absent[None]]), axis=0).T


def _small(layer: eqx.nn.Linear) -> eqx.nn.Linear:
    """A policy that begins near uniform."""
    return eqx.tree_at(lambda linear: linear.weight, layer, 0.01 * layer.weight)


def sight(state: State, senses: Senses) -> Bool[Array, "row col plane"]:
    """What an agent with these senses observes. The blind do not even see where they are."""
    return observation(state, field(state.agent_cell, senses.reach, state.walls.shape[-1]))


def own_cell(planes: Bool[Array, "row col plane"]) -> Bool[Array, "row col"]:
    """The plane of an observation that shows the agent."""
    return planes[..., -2]


def forget(memory: Memory, time: Int[Array, ""], senses: Senses) -> Memory:
    """What an agent carries into a step: nothing into the first one of an episode, and nothing ever if stateless."""
    kept = (time > 0) & senses.remembers
    return jax.tree.map(lambda leaf: jnp.where(kept, leaf, jnp.zeros_like(leaf)), memory)


def last_step(
    action: Int[Array, ""], reward: Float[Array, ""], senses: Senses
) -> tuple[Int[Array, ""], Float[Array, ""]]:
    """What an agent is told of its previous step; the stateless, nothing: that would be a memory too."""
    return jnp.where(senses.remembers, action, ABSENT), jnp.where(senses.remembers, reward, 0.0)


class DeepAgent(eqx.Module):
    """One trained network, its senses, and the object it is after.

    Networks are trained to prefer object 0. The others' agents see the world with two objects exchanged: the same
    weights, another preference.
    """

    network: Network
    senses: Senses
    preferred: Int[Array, "*population"]
    rewards: Rewards = Rewards()

    def ready(self) -> "DeepAgent":
        """The same agent, for many steps: its convolutions are made ready once, in this device's fast precision."""
        return eqx.tree_at(lambda agent: agent.network, self, self.network.ready(usual_dtype()))

    def start(self, state: State, world: World) -> Memory:
        check_world(world, self.network.config)
        return self.network.blank_memory(_dtype(self.network))

    def policy(
        self, memory: Memory, state: State, last: Outcome, world: World
    ) -> tuple[Float[Array, "action"], Memory]:
        order = self._order(world)
        planes = sight(exchange(state, order), self.senses)
        consumed = jnp.where(last.consumed == ABSENT, ABSENT, order[last.consumed])
        last = eqx.tree_at(lambda outcome: outcome.consumed, last, consumed)
        reward = jnp.where(state.time > 0, self.rewards.of(last, world), 0.0)
        network = self.network.ready()
        features = network.encode(planes, *last_step(last.action, reward, self.senses), _dtype(network))
        memory = network.remember(network.look_gates(features), forget(memory, state.time, self.senses))
        logits = network.policy(network.read_out(features, memory.hidden, own_cell(planes)))
        return jax.nn.softmax(logits), memory

    def belief(self, memory: Memory, world: World) -> Float[Array, "kind place"]:
        """Where the agent believes each object to be, after the look that left this memory."""
        return jnp.exp(self.network.ready().report_belief(memory.hidden))[self._order(world)]

    def _order(self, world: World) -> Int[Array, "kind"]:
        """Object 0 and the preferred one change places; its own inverse."""
        kinds = jnp.arange(world.kinds)
        return jnp.where(kinds == 0, self.preferred, jnp.where(kinds == self.preferred, 0, kinds))


def _dtype(network: Network):
    gates = network.look_gates
    return gates.matrix.dtype if isinstance(gates, ReadyConvolution) else jnp.float32


def exchange(state: State, order: Int[Array, "kind"]) -> State:
    return eqx.tree_at(lambda s: s.object_cells, state, state.object_cells[order])


def check_world(world: World, config: NetworkConfig) -> None:
    if world.size != config.size:
        raise BadSetting("size", world.size, f"these agents were trained on grids of {config.size}")
    if world.kinds != config.kinds:
        raise BadSetting("objects", world.kinds, f"these agents know {config.kinds} kinds, the subgoal included")
    if not world.subgoal:
        raise BadSetting("subgoal", world.subgoal, "these agents were trained where there is one")
