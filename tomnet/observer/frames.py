"""Feature planes, made on the device at the moment they are needed; and real frames packed side by side."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..episodes.episode import ACTION_COUNT, Episode, QueryState, Snapshot
from ..episodes.history import History
from ..support.mesh import spread
from ..support.trees import pick


def channels(objects: int) -> int:
    """Planes of a state: the walls, one for each object, the agent."""
    return objects + 2


def state_planes(state: QueryState, dtype=jnp.float32) -> Float[Array, "row col plane"]:
    size = state.walls.shape[-1]
    cells = jnp.append(state.object_cells, state.agent_cell)
    where = jnp.arange(size * size)[:, None] == cells  # an absent object's cell is nowhere
    planes = jnp.concatenate([state.walls.reshape(-1, 1), where], -1)
    return planes.reshape(size, size, -1).astype(dtype)


def spatialise(planes: Float[Array, "row col plane"], vector: Float[Array, "feature"]) -> Float[Array, "row col all"]:
    """The paper's spatialisation-concatenation: the vector tiled over the map, beside the planes."""
    tiled = jnp.broadcast_to(vector.astype(planes.dtype), (*planes.shape[:2], vector.shape[0]))
    return jnp.concatenate([planes, tiled], -1)


def pair_planes(pair: Snapshot, dtype=jnp.float32) -> Float[Array, "row col plane"]:
    """A state and the action taken in it."""
    return spatialise(state_planes(pair.state, dtype), jax.nn.one_hot(pair.action, ACTION_COUNT))


class PackedFrames(eqx.Module):
    """The real frames of many episodes, one after the other, so that no convolution is spent on padding."""

    planes: Float[Array, "frame row col plane"]
    agent_cell: Int[Array, "frame"]
    real: Bool[Array, "frame"]  # the few slots left over at the end are not
    episode: Int[Array, "frame"]
    slot: Int[Array, "episode time"]  # where each step of each episode was put
    step_real: Bool[Array, "episode time"]

    def unpack(self, features: Float[Array, "frame *feature"]) -> Float[Array, "episode time *feature"]:
        return spread(features[self.slot])


def pack(seen: Episode | Snapshot, real: Bool[Array, "episode"], capacity: int, dtype=jnp.float32) -> PackedFrames:
    """The frames of whole episodes, or of the one step of each that is seen.

    `capacity` is static; it must be at least the number of real frames (see `frame_count`).
    """
    step_real = real[:, None] if isinstance(seen, Snapshot) else seen.real & real[:, None]
    time = step_real.shape[1]
    flat = step_real.reshape(-1)
    index = jnp.nonzero(flat, size=capacity, fill_value=0)[0]
    episode, moment = index // time, index % time
    pair = pick(seen, episode) if isinstance(seen, Snapshot) else seen.pairs(episode, moment)
    planes = spread(jax.vmap(pair_planes, in_axes=(0, None))(pair, dtype))
    slot = jnp.clip(jnp.cumsum(flat) - 1, 0, capacity - 1).reshape(step_real.shape)
    filled = jnp.arange(capacity) < flat.sum()
    # padding may hold any number, a missed step has no cell, and looking up one that is not there gives NaN, which no
    # mask takes back
    agent_cell = jnp.where(filled, pair.agent_cell, 0).clip(0)
    return PackedFrames(planes, agent_cell, filled, episode, slot, step_real)


WAVE = 8  # steps between two looks at who is still acting


class Capacity(NamedTuple):
    """How many frames and episodes a compiled program has space for; static, so each is a program of its own."""

    past: int  # frames
    recent: int = 0  # frames
    waves: tuple[int, ...] = ()  # current episodes of more than 0, WAVE, 2·WAVE … steps


def frame_count(past: Episode | Snapshot, real: Bool[Array, "*batch episode"]) -> Int[Array, "*batch"]:
    """Real past frames in each batch of episodes."""
    length = 1 if isinstance(past, Snapshot) else past.length.astype(jnp.int32)
    return jnp.where(real, length, 0).sum(-1)


def frames_of(history: History) -> Int[Array, "*batch"]:
    """Real frames of each history: of the past, and of the current episodes so far."""
    count = frame_count(history.past, history.shown)
    if history.recent is None:
        return count
    length = history.recent.length.astype(jnp.int32)
    return count + length.reshape(*count.shape, -1).sum(-1)


def usual_capacity(history: History, batch: int) -> Capacity:
    """What a batch of this many queries will need nearly always, judged by some histories: a few deviations above
    the mean."""

    def needed(each: Array, batch: int = batch) -> int:
        each = each.astype(jnp.float32)
        return int(batch * each.mean() + 4 * batch**0.5 * each.std())

    count = frame_count(history.past, history.shown)
    agents = batch * len(count) // len(history.past_real)
    if history.recent is None:
        return Capacity(
            int(1.1 * agents * float(count.mean()))
        )  # batches are dealt out evenly, so there is little spread
    length = history.recent.length
    waves = tuple(min(batch, needed(length > start)) for start in range(0, history.recent.actions.shape[-1], WAVE))
    return Capacity(needed(count, agents), needed(length), waves)


def recent_waves(recent: Episode) -> Int[Array, "*batch wave"]:
    """How many of the current episodes (the axis before time) have more than 0, WAVE, 2·WAVE … steps so far."""
    starts = jnp.arange(0, recent.actions.shape[-1], WAVE)
    return (recent.length.astype(jnp.int32)[..., None] > starts).sum(-2)


def capacity_for(history: History, usual: Capacity | None = None) -> Capacity:
    """A capacity that suffices for every batch (all leading axes but the last are batches); at least the `usual`."""
    past, recent, waves = _most_needed(history)
    needed = Capacity(int(past), int(recent), tuple(np.asarray(waves).tolist()))
    if usual is not None:
        waves = (
            tuple(max(pair) for pair in zip(needed.waves, usual.waves, strict=True)) if usual.waves else needed.waves
        )
        needed = Capacity(max(needed.past, usual.past), max(needed.recent, usual.recent), waves)
    waves = tuple(min(history.past_real.shape[-2], rounded_up(w)) if w else 0 for w in needed.waves)
    return Capacity(rounded_up(needed.past), rounded_up(needed.recent) if needed.recent else 0, waves)


@jax.jit
def _most_needed(history: History) -> tuple[Int[Array, ""], Int[Array, ""], Int[Array, "wave"]]:
    """As `Capacity` has it, by any batch; compiled as a whole, rather than step by step."""
    past = frame_count(history.past, history.shown).sum(-1).max()
    if history.recent is None:
        return past, jnp.int32(0), jnp.zeros(0, jnp.int32)
    waves = recent_waves(history.recent)
    count = history.recent.length.astype(jnp.int32).sum(-1).max()
    return past, count, waves.reshape(-1, waves.shape[-1]).max(0)


def rounded_up(count: int) -> int:
    """The smallest of a few sizes, 6% apart, that holds `count` frames: each size is one compiled program."""
    capacity = 16
    while capacity < count:
        capacity = max(capacity + 8, int(capacity * 1.06) // 8 * 8)
    return capacity


def deal(counts: Int[Array, "encounter"], batches: int) -> Int[Array, "{batches} batch"]:
    """Encounters dealt out so that every batch has about the same number of frames.

    Sorted by size, then to and fro over the batches, as one deals out strong and weak players to teams. One size of
    program then fits all batches, with little room left over.
    """
    order = jnp.argsort(counts).reshape(-1, batches)
    to_and_fro = order.at[1::2].set(order[1::2, ::-1])
    return to_and_fro.T
