"""The mental net: the current episode so far → a map of the agent's state of mind (appendix A).

A resnet on each frame, a convolutional LSTM over time, a convolution on its output. Of an agent that has not acted
yet the map is zero.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, Scalar

from .convolution import convolve_in_loop
from .frames import WAVE, PackedFrames
from .layers import Convolution, Normalise, ResNet

Maps = Float[Array, "agent row col channel"]


class MentalNet(eqx.Module):
    resnet: ResNet
    look: Convolution  # the LSTM's gates, of what is seen
    remember: Convolution  # the LSTM's gates, of what is remembered
    out: Convolution
    channels: int = eqx.field(static=True)

    def __init__(self, planes: int, channels: int, depth: int, kind: Normalise, outputs: int, *, key: Key[Scalar, ""]):
        resnet_key, look_key, remember_key, out_key = jax.random.split(key, 4)
        self.resnet = ResNet(planes, channels, depth, kind, key=resnet_key)
        look = Convolution(channels, 4 * channels, key=look_key)
        forget = jnp.zeros(4 * channels).at[channels : 2 * channels].set(1.0)  # remember at first
        self.look = eqx.tree_at(lambda convolution: convolution.bias, look, forget)
        self.remember = Convolution(channels, 4 * channels, key=remember_key, bias=False)
        self.out = Convolution(channels, outputs, key=out_key)
        self.channels = channels

    def __call__(
        self,
        packed: PackedFrames,
        character: Float[Array, "agent feature"],
        waves: tuple[int, ...],
        training: bool,
    ) -> tuple[Float[Array, "agent row col output"], "MentalNet"]:
        """`waves`: how many agents are still acting at the start of each stretch of `WAVE` steps, at least."""
        size = packed.planes.shape[1]
        tiled = character[packed.episode].astype(packed.planes.dtype)[:, None, None]
        tiled = jnp.broadcast_to(tiled, (*packed.planes.shape[:3], character.shape[-1]))
        frames = jnp.concatenate([packed.planes, tiled], -1)
        features, resnet = self.resnet(frames, packed.real, training)
        looked = self.look(features)  # for all frames at once; only what is remembered goes step by step
        hidden = self._remember(looked, packed, waves, size)
        maps = self.out(hidden.astype(packed.planes.dtype))
        seen = packed.step_real.any(1)[:, None, None, None]
        return jnp.where(seen, maps, 0).astype(jnp.float32), eqx.tree_at(lambda net: net.resnet, self, resnet)

    def _remember(
        self, looked: Float[Array, "frame row col gate"], packed: PackedFrames, waves: tuple[int, ...], size: int
    ) -> Maps:
        """The LSTM over time, those who acted longest first: whoever is done costs nothing in later stretches."""
        lengths = packed.step_real.sum(1)
        order = jnp.argsort(-lengths)
        hidden = jnp.zeros((lengths.shape[0], size, size, self.channels), looked.dtype)
        cell = jnp.zeros(hidden.shape, jnp.float32)
        kernel = self.remember.kernel.astype(looked.dtype)

        def step(memory, now):
            hidden, cell = memory
            slot, real = now
            gates = (looked[slot] + convolve_in_loop(hidden, kernel)).astype(jnp.float32)
            write, forget, read, value = jnp.split(gates, 4, -1)
            new_cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(write) * jnp.tanh(value)
            new_hidden = (jax.nn.sigmoid(read) * jnp.tanh(new_cell)).astype(hidden.dtype)
            real = real[:, None, None, None]
            return (jnp.where(real, new_hidden, hidden), jnp.where(real, new_cell, cell)), None

        for wave, width in enumerate(waves):
            if width == 0:
                break
            rows, times = order[:width], slice(wave * WAVE, (wave + 1) * WAVE)
            now = (packed.slot[rows, times].T, packed.step_real[rows, times].T)
            (front, front_cell), _ = jax.lax.scan(step, (hidden[:width], cell[:width]), now)
            hidden = jnp.concatenate([front, hidden[width:]])
            cell = jnp.concatenate([front_cell, cell[width:]])
        return hidden[_inverse(order)]


def _inverse(order: Int[Array, "agent"]) -> Int[Array, "agent"]:
    return jnp.zeros_like(order).at[order].set(jnp.arange(order.shape[0]))
