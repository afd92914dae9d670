"""The character net: an agent's past episodes → its character embedding (appendix A).

Three kinds, one contract: packed frames of all agents' episodes in, one embedding for each agent out. An agent of
whom nothing was seen has the embedding zero.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key, Scalar

from .config import ObserverConfig
from .frames import PackedFrames
from .layers import ConvLSTM, Convolution, Dense, ReadOut, ResNet, pooled, pooled_width

Embedding = Float[Array, "query feature"]


def summed(each: Float[Array, "episode feature"], past_real: Bool[Array, "query past"]) -> Embedding:
    """The sum over the episodes that each query comes after; several queries may share an agent's episodes."""
    past = past_real.shape[1]
    each = each.reshape(-1, 1, past, each.shape[-1])
    real = past_real.reshape(each.shape[0], -1, past, 1)
    return jnp.where(real, each, 0).sum(2).reshape(past_real.shape[0], -1)


def _resnet(key: Key[Scalar, ""], config: ObserverConfig) -> ResNet:
    """The resnet on each frame of a past episode."""
    return ResNet(config.frame_planes, config.character_channels, config.character_depth, config.normalise, key=key)


class EpisodeNet(eqx.Module):
    """Whole episodes: a resnet on each frame, average pooling, an LSTM over time; summed over episodes."""

    resnet: ResNet
    lstm: eqx.nn.LSTMCell
    dense: Dense
    read_out: ReadOut = eqx.field(static=True)

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        resnet_key, lstm_key, out_key = jax.random.split(key, 3)
        channels, read_out = config.character_channels, config.character_read_out
        self.resnet = _resnet(resnet_key, config)
        self.lstm = eqx.nn.LSTMCell(pooled_width(channels, read_out), 2 * channels, key=lstm_key)
        self.dense = Dense(2 * channels, config.moments * config.embedding, key=out_key)
        self.read_out = read_out

    def __call__(
        self, packed: PackedFrames, past_real: Bool[Array, "query past"], training: bool
    ) -> tuple[Embedding, "EpisodeNet"]:
        features, resnet = self.resnet(packed.planes, packed.real, training)
        steps = packed.unpack(pooled(features, packed.agent_cell, self.read_out))
        blank = jnp.zeros((steps.shape[0], self.lstm.hidden_size))

        def look(memory, now):
            step, real = now
            looked = jax.vmap(self.lstm)(step, memory)
            return jax.tree.map(lambda new, old: jnp.where(real[:, None], new, old), looked, memory), None

        (hidden, _), _ = jax.lax.scan(look, (blank, blank), (steps.swapaxes(0, 1), packed.step_real.T))
        return summed(self.dense(hidden), past_real), eqx.tree_at(lambda net: net.resnet, self, resnet)


class SnapshotNet(eqx.Module):
    """Single state/action pairs: no LSTM, a dense read-out of each; summed over episodes."""

    resnet: ResNet
    dense: Dense
    read_out: ReadOut = eqx.field(static=True)

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        resnet_key, out_key = jax.random.split(key)
        self.resnet = _resnet(resnet_key, config)
        self.read_out = config.character_read_out
        width = pooled_width(config.character_channels, self.read_out)
        self.dense = Dense(width, config.moments * config.embedding, key=out_key)

    def __call__(
        self, packed: PackedFrames, past_real: Bool[Array, "query past"], training: bool
    ) -> tuple[Embedding, "SnapshotNet"]:
        features, resnet = self.resnet(packed.planes, packed.real, training)
        each = self.dense(pooled(features, packed.agent_cell, self.read_out))
        return summed(packed.unpack(each)[:, 0], past_real), eqx.tree_at(lambda net: net.resnet, self, resnet)


class SequenceNet(eqx.Module):
    """Random agents: one convolution on each pair, then a convolutional LSTM over the past episodes."""

    convolution: Convolution
    lstm: ConvLSTM
    dense: Dense

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        conv_key, lstm_key, out_key = jax.random.split(key, 3)
        channels = config.character_channels
        self.convolution = Convolution(config.frame_planes, channels, key=conv_key)
        self.lstm = ConvLSTM(channels, channels, key=lstm_key)
        self.dense = Dense(channels, config.moments * config.embedding, key=out_key)

    def __call__(
        self, packed: PackedFrames, past_real: Bool[Array, "query past"], training: bool
    ) -> tuple[Embedding, "SequenceNet"]:
        maps = packed.unpack(jax.nn.relu(self.convolution(packed.planes)))[:, 0]
        maps = maps.reshape(*past_real.shape, *maps.shape[1:])
        agents, size = past_real.shape[0], maps.shape[2]

        def look(memory, now):
            frame, real = now
            looked = self.lstm(frame, memory)
            return jax.tree.map(lambda new, old: jnp.where(real[:, None, None, None], new, old), looked, memory), None

        blank = self.lstm.blank(agents, size, maps.dtype)
        # unrolled, because XLA's CPU backend computes a convolution inside a loop with one slow thread
        (hidden, _), _ = jax.lax.scan(look, blank, (maps.swapaxes(0, 1), past_real.T), unroll=True)
        embedding = self.dense(hidden.mean((1, 2)))
        return jnp.where(past_real.any(1)[:, None], embedding, 0), self


CharacterNet = EpisodeNet | SnapshotNet | SequenceNet
CHARACTER_NETS: dict[str, type[CharacterNet]] = {
    "episodes": EpisodeNet,
    "snapshots": SnapshotNet,
    "sequence": SequenceNet,
}
