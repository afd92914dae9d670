"""The mental net: the current episode so far → a map of the agent's state of mind (appendix A).

A resnet on each frame, a convolutional LSTM over time, a convolution on its output. Of an agent that has not acted
yet the map is zero. One pass over an episode gives the maps at all times that are asked about.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, Scalar

from ..support.mesh import spread
from .config import ObserverConfig
from .frames import WAVE, PackedFrames, spatialise
from .layers import Convolution, ResNet, remembering
from .recurrence import Memory, rearranged, step, steps

Maps = Float[Array, "agent*query row col channel"]


class MentalNet(eqx.Module):
    resnet: ResNet
    look: Convolution  # the LSTM's gates, of what is seen
    remember: Convolution  # the LSTM's gates, of what is remembered
    out: Convolution
    channels: int = eqx.field(static=True)

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        resnet_key, look_key, remember_key, out_key = jax.random.split(key, 4)
        planes, channels = config.frame_planes + config.character_size, config.mental_channels
        self.resnet = ResNet(planes, channels, config.mental_depth, config.normalise, key=resnet_key)
        self.look = remembering(Convolution(channels, 4 * channels, key=look_key))
        self.remember = Convolution(channels, 4 * channels, key=remember_key, bias=False)
        self.out = Convolution(channels, config.moments * channels, key=out_key)
        self.channels = channels

    def __call__(
        self,
        packed: PackedFrames,
        character: Float[Array, "agent feature"],
        query_times: Int[Array, "agent query"],
        waves: tuple[int, ...],
        training: bool,
    ) -> tuple[Maps, "MentalNet"]:
        """A map for each query, which knows what came before its time.

        `waves`: how many agents are still acting at the start of each stretch of `WAVE` steps, at least.
        """
        frames = jax.vmap(spatialise)(packed.planes, character[packed.episode])
        features, resnet = self.resnet(frames, packed.real, training)
        looked = self.look(features)  # for all frames at once; only what is remembered goes step by step
        hidden = self._remember(looked, packed, query_times, waves)
        maps = self.out(hidden.astype(packed.planes.dtype))
        seen = (query_times > 0).reshape(-1, 1, 1, 1)
        return jnp.where(seen, maps, 0).astype(jnp.float32), eqx.tree_at(lambda net: net.resnet, self, resnet)

    def step(self, frames: Float[Array, "agent row col plane"], memory: Memory | None) -> Memory:
        """The memory after one more frame of each agent; without one, after the first."""
        real = jnp.ones(len(frames), bool)
        looked = self.look(self.resnet(frames, real, False)[0])
        if memory is None:
            nothing = jnp.zeros((*looked.shape[:3], self.channels))
            memory = Memory(nothing.astype(looked.dtype), nothing)
        return step(memory, looked, self.remember.kernel.astype(looked.dtype))

    def read(self, memory: Memory) -> Float[Array, "agent row col output"]:
        """The map that it gives; with a bottleneck, twice as many channels."""
        return self.out(memory.hidden).astype(jnp.float32)

    def _remember(
        self,
        looked: Float[Array, "frame row col gate"],
        packed: PackedFrames,
        query_times: Int[Array, "agent query"],
        waves: tuple[int, ...],
    ) -> Maps:
        """The LSTM over time, those who acted longest first: whoever is done costs nothing in later stretches."""
        order = jnp.argsort(-packed.step_real.sum(1))
        rank = _inverse(order)[:, None]
        waves = tuple(max(waves[wave:]) for wave in range(len(waves)) if waves[wave])  # nobody comes back who was done
        times = [slice(wave * WAVE, (wave + 1) * WAVE) for wave in range(len(waves))]
        slots, real = (
            [each[order[:width], during].T for width, during in zip(waves, times)]
            for each in (packed.slot, packed.step_real)
        )
        kernel = self.remember.kernel.astype(looked.dtype)
        blank = jnp.zeros((len(order), *looked.shape[1:3], self.channels), looked.dtype)
        memory = Memory(blank, blank.astype(jnp.float32))
        # what was remembered after every step: training keeps it for the gradient anyway, and to look up a few of
        # these maps costs less than to choose among them at every step
        remembered = [blank[:1]]  # nothing, before the first
        if waves:
            looked = rearranged(
                looked, jnp.concatenate([slot.reshape(-1) for slot in slots]), _back(packed, rank, waves)
            )
        for slot, is_real in zip(slots, real):
            now, looked = jnp.split(looked, [slot.size])
            memory = Memory(*(each[: slot.shape[1]] for each in memory))
            now = spread(now.reshape(*slot.shape, *now.shape[1:]), axis=1)
            after, memory = steps(kernel, now, is_real, memory)
            remembered.append(after.reshape(-1, *after.shape[2:]))
        return jnp.concatenate(remembered)[_place(rank, query_times, waves).reshape(-1)]


def _place(
    rank: Int[Array, "agent 1"], time: Int[Array, "agent query"], waves: tuple[int, ...]
) -> Int[Array, "agent query"]:
    """Where, among all that was remembered, stands what an agent remembers at a time: wave by wave, step by step."""
    width = np.array([*waves, 0])  # there may be no wave at all
    start = 1 + WAVE * (np.cumsum(width) - width)
    wave, step = jnp.divmod(time - 1, WAVE)
    return jnp.where(time > 0, jnp.asarray(start)[wave] + step * jnp.asarray(width)[wave] + rank, 0)


def _back(packed: PackedFrames, rank: Int[Array, "agent 1"], waves: tuple[int, ...]) -> Int[Array, "frame"]:
    """Where, among all that is looked at, each frame stands; -1: nowhere, it is none."""
    times = jnp.broadcast_to(1 + jnp.arange(packed.slot.shape[1]), packed.slot.shape)
    none = len(packed.real)
    slot = jnp.where(packed.step_real, packed.slot, none)
    return jnp.full(none, -1).at[slot].set(_place(rank, times, waves) - 1, mode="drop")


def _inverse(order: Int[Array, "agent"]) -> Int[Array, "agent"]:
    return jnp.zeros_like(order).at[order].set(jnp.arange(order.shape[0]))
