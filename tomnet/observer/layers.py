"""The layers of appendix A. Frames come as `frame row col channel`; computation follows the dtype of the input."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..support.directions import WAYS, most_each_way
from .convolution import convolve

Normalise = Literal["batch", "layer", "none"]
ReadOut = Literal["pool", "agent", "directions"]
Frames = Float[Array, "frame row col channel"]
Maps = Float[Array, "frame row col channel_out"]  # what a layer makes of frames, with channels of its own


class Convolution(eqx.Module):
    """A 3×3 convolution that keeps the size of the map."""

    kernel: Float[Array, "3 3 channel_in channel_out"]
    bias: Float[Array, "channel_out"] | None

    def __init__(self, channels_in: int, channels_out: int, *, key: Key[Scalar, ""], bias: bool = True):
        scale = (2 / (9 * channels_in)) ** 0.5
        self.kernel = scale * jax.random.normal(key, (3, 3, channels_in, channels_out))
        self.bias = jnp.zeros(channels_out) if bias else None

    def __call__(self, frames: Frames) -> Maps:
        maps = convolve(frames, self.kernel.astype(frames.dtype))
        return maps if self.bias is None else maps + self.bias.astype(maps.dtype)


class Dense(eqx.Module):
    weight: Float[Array, "feature_in feature_out"]
    bias: Float[Array, "feature_out"]

    def __init__(self, features_in: int, features_out: int, *, key: Key[Scalar, ""], scale: float = 1.0):
        self.weight = scale * features_in**-0.5 * jax.random.normal(key, (features_in, features_out))
        self.bias = jnp.zeros(features_out)

    def __call__(self, features: Float[Array, "*batch feature_in"]) -> Float[Array, "*batch feature_out"]:
        """In float32 whatever comes in: read-outs are cheap, and their precision shows in the predictions."""
        return features.astype(jnp.float32) @ self.weight + self.bias


class BatchNorm(eqx.Module):
    """Batch normalisation that never looks at padding.

    Called in training it also returns itself with the running moments moved on; afterwards only those are used.
    """

    scale: Float[Array, "channel"]
    shift: Float[Array, "channel"]
    running_mean: Float[Array, "channel"]
    running_variance: Float[Array, "channel"]
    updates: Float[Array, ""]
    momentum: float = eqx.field(static=True, default=0.99)

    def __init__(self, channels: int):
        self.scale, self.shift = jnp.ones(channels), jnp.zeros(channels)
        self.running_mean, self.running_variance = jnp.zeros(channels), jnp.ones(channels)
        self.updates = jnp.zeros(())

    def __call__(self, frames: Frames, real: Bool[Array, "frame"], training: bool) -> tuple[Frames, "BatchNorm"]:
        norm = self
        if training:
            mean, variance = masked_moments(frames, real, around=self.running_mean)
            norm = self._moved_on(jax.lax.stop_gradient(mean), jax.lax.stop_gradient(variance), real.any())
        else:
            mean, variance = self.running_mean, self.running_variance
        gain = self.scale * jax.lax.rsqrt(variance + 1e-5)
        offset = self.shift - mean * gain
        # in float32: a bf16 offset shifts every cell alike, and average pooling downstream keeps just that error
        return (frames * gain + offset).astype(frames.dtype), norm

    def _moved_on(
        self, mean: Float[Array, "channel"], variance: Float[Array, "channel"], seen: Bool[Array, ""]
    ) -> "BatchNorm":
        keep = jnp.minimum(self.momentum, self.updates / (self.updates + 1))  # a plain average at first
        keep = jnp.where(seen, keep, 1.0)  # where nothing was seen, there is nothing to learn about how it looks
        return eqx.tree_at(
            lambda norm: (norm.running_mean, norm.running_variance, norm.updates),
            self,
            (
                keep * self.running_mean + (1 - keep) * mean,
                keep * self.running_variance + (1 - keep) * variance,
                self.updates + seen,
            ),
        )


def masked_moments(
    frames: Frames, real: Bool[Array, "frame"], around: Float[Array, "channel"]
) -> tuple[Float[Array, "channel"], Float[Array, "channel"]]:
    """Mean and variance of each channel over the real frames, in float32 and in one pass.

    `around` is any guess of the mean: without it, a mean far from zero would drown the variance in rounding.
    """
    count = jnp.maximum(real.sum() * frames.shape[1] * frames.shape[2], 1)
    values = jnp.where(real[:, None, None, None], frames - jax.lax.stop_gradient(around), 0).astype(jnp.float32)
    mean, square = values.sum((0, 1, 2)) / count, (values * values).sum((0, 1, 2)) / count
    return mean + jax.lax.stop_gradient(around), jnp.maximum(square - mean * mean, 0)


class LayerNorm(eqx.Module):
    """Normalises each frame by itself: no batch, no running moments."""

    scale: Float[Array, "channel"]
    shift: Float[Array, "channel"]

    def __init__(self, channels: int):
        self.scale, self.shift = jnp.ones(channels), jnp.zeros(channels)

    def __call__(self, frames: Frames, real: Bool[Array, "frame"], training: bool) -> tuple[Frames, "LayerNorm"]:
        values = frames.astype(jnp.float32)
        mean = values.mean((1, 2, 3), keepdims=True)
        variance = values.var((1, 2, 3), keepdims=True)
        normal = (values - mean) * jax.lax.rsqrt(variance + 1e-5)
        return (normal * self.scale + self.shift).astype(frames.dtype), self


class NoNorm(eqx.Module):
    def __call__(self, frames: Frames, real: Bool[Array, "frame"], training: bool) -> tuple[Frames, "NoNorm"]:
        return frames, self


def normalisation(kind: Normalise, channels: int) -> BatchNorm | LayerNorm | NoNorm:
    return {"batch": BatchNorm, "layer": LayerNorm}[kind](channels) if kind != "none" else NoNorm()


class NormalisedConvolution(eqx.Module):
    convolution: Convolution
    norm: BatchNorm | LayerNorm | NoNorm

    def __init__(self, channels_in: int, channels_out: int, kind: Normalise, *, key: Key[Scalar, ""]):
        # batch-norm takes any bias out again, so there is none
        self.convolution = Convolution(channels_in, channels_out, key=key, bias=kind != "batch")
        self.norm = normalisation(kind, channels_out)

    def __call__(self, frames: Frames, real: Bool[Array, "frame"], training: bool):
        frames, norm = self.norm(self.convolution(frames), real, training)
        return frames, eqx.tree_at(lambda layer: layer.norm, self, norm)


class ResNet(eqx.Module):
    """`depth` convolutions with ReLUs: the first to `channels`, the others in residual pairs."""

    layers: list[NormalisedConvolution]

    def __init__(self, channels_in: int, channels: int, depth: int, kind: Normalise, *, key: Key[Scalar, ""]):
        widths = [channels_in] + [channels] * (depth - 1)
        keys = jax.random.split(key, depth)
        self.layers = [NormalisedConvolution(w, channels, kind, key=k) for w, k in zip(widths, keys, strict=True)]

    def __call__(self, frames: Frames, real: Bool[Array, "frame"], training: bool) -> tuple[Maps, "ResNet"]:
        layers = []

        def through(layer, frames):
            frames, layer = layer(frames, real, training)
            layers.append(layer)
            return frames

        features = jax.nn.relu(through(self.layers[0], frames))
        for first, second in zip(self.layers[1::2], self.layers[2::2], strict=True):
            inner = jax.nn.relu(through(first, features))
            features = jax.nn.relu(features + through(second, inner))
        return features, eqx.tree_at(lambda net: net.layers, self, layers)


def pooled(features: Frames, agent_cell: Int[Array, "frame"], read_out: ReadOut) -> Float[Array, "frame feature"]:
    """Average pooling over the map; with "agent", the features at the agent's own cell beside it; with "directions",
    also the most of each feature each way from there.

    Where one stands decides where one goes, and an average over the map blurs just that. One who goes to what lies far
    away, or is remembered there, goes its way from the first step: convolutions carry that only so far.
    """
    average = features.mean((1, 2)).astype(jnp.float32)
    if read_out == "pool":
        return average
    cells = features.reshape(features.shape[0], -1, features.shape[-1])
    here = jnp.take_along_axis(cells, agent_cell.astype(jnp.int32)[:, None, None], axis=1)[:, 0]
    parts = [average, here.astype(jnp.float32)]
    if read_out == "directions":
        own_cell = jnp.arange(cells.shape[1]) == agent_cell[:, None]
        each_way = jax.vmap(most_each_way)(features, own_cell.reshape(features.shape[:3]))
        parts.append(each_way.reshape(len(features), -1).astype(jnp.float32))
    return jnp.concatenate(parts, -1)


def pooled_width(channels: int, read_out: ReadOut) -> int:
    """How many features `pooled` gives."""
    return {"pool": 1, "agent": 2, "directions": 2 + WAYS}[read_out] * channels


def remembering(gates: Convolution) -> Convolution:
    """The gates of an LSTM (write, forget, read, value), biased so that it remembers at first."""
    channels = gates.kernel.shape[-1] // 4
    forget = jnp.zeros(4 * channels).at[channels : 2 * channels].set(1.0)
    return eqx.tree_at(lambda convolution: convolution.bias, gates, forget)


class ConvLSTM(eqx.Module):
    """A convolutional LSTM cell on one map."""

    gates: Convolution
    channels: int = eqx.field(static=True)

    def __init__(self, channels_in: int, channels: int, *, key: Key[Scalar, ""]):
        gates = Convolution(channels_in + channels, 4 * channels, key=key, bias=True)
        self.gates = remembering(gates)
        self.channels = channels

    def __call__(self, frames: Frames, memory: tuple[Maps, Maps]) -> tuple[Maps, Maps]:
        hidden, cell = memory
        write, forget, read, value = jnp.split(self.gates(jnp.concatenate([frames, hidden], -1)), 4, -1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(write) * jnp.tanh(value)
        return jax.nn.sigmoid(read) * jnp.tanh(cell), cell

    def blank(self, batch: int, size: int, dtype) -> tuple[Maps, Maps]:
        blank = jnp.zeros((batch, size, size, self.channels), dtype)
        return blank, blank
