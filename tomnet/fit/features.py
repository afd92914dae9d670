"""What the network reads: a few numbers for each kind of object, and planes of the maze seen with a goal in mind.

Everything is said of a kind in the same way, whichever kind it is. So what is learned of one holds for all of them,
and an agent that is after something that no other agent liked is understood as well.
"""

from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from ..recordings.moves import HEADING_OFFSETS, OFFSETS
from .dataset import Dataset
from .distances import UNREACHABLE
from .symmetry import turned, turned_actions, turned_cells, turned_headings

NEAR = 10.0  # steps: what numbers of steps are divided by
HEADING_PLANES = len(HEADING_OFFSETS)
PLANES = 7 + HEADING_PLANES + len(HEADING_OFFSETS)


class Table(NamedTuple):
    """Of every episode of a dataset, on the device."""

    seen: Float[Array, "episode kind feature"]  # afterwards
    episode: Float[Array, "episode feature"]  # of the whole episode
    asked: Float[Array, "episode query kind query_feature"]
    possible: Bool[Array, "episode query outcome"]
    outcome: Int[Array, "episode query"]


@lru_cache(maxsize=2)
def table_of(data: Dataset) -> Table:
    nothing = data.schema.nothing
    took = data.outcome[:, 0, None] == np.arange(nothing)
    start, reachable = data.distance[:, 0], data.distance[:, 0] != UNREACHABLE
    seen = [data.present[:, 0], reachable, took, *_near(start, data.nearest[:, 0])]
    way = np.where(took & reachable, start, 0).sum(-1)
    more = np.clip(data.lengths - way, 0, 50) / NEAR
    named = [number for number, name in enumerate(data.schema.action_names) if name not in OFFSETS]
    whole = [~took.any(-1), np.log1p(data.lengths) / 4, more, *data.action_shares[:, named].T]
    least = np.where(data.present, data.detour, 99).min(-1, initial=99, keepdims=True)
    asked = [
        data.present,
        data.distance != UNREACHABLE,
        *_near(data.distance, data.nearest),
        _steps(data.distance_before),
        np.minimum(data.detour, 20) / NEAR,
        data.detour == least,
        np.broadcast_to(np.minimum(data.walked, 50)[..., None] / NEAR, data.present.shape),
    ]
    return Table(
        seen=jnp.asarray(np.stack(seen, -1), jnp.float32),
        episode=jnp.asarray(np.stack(whole, -1), jnp.float32),
        asked=jnp.asarray(np.stack(asked, -1), jnp.float32),
        possible=jnp.asarray(data.possible),
        outcome=jnp.asarray(data.outcome),
    )


def equally_far(kinds: int) -> Float[Array, "kind query_feature"]:
    """`Table.asked` where an episode begins five steps from an object of each kind."""
    far = 5 / NEAR
    return jnp.tile(jnp.array([1, 1, far, 0, 1, far, 0, 1, 0], jnp.float32), (kinds, 1))


def _steps(distance: UInt8[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
    return np.where(distance == UNREACHABLE, 0, np.minimum(distance, 50)) / NEAR


def _near(distance: UInt8[np.ndarray, "*any kind"], nearest: Bool[np.ndarray, "*any kind"]) -> list[np.ndarray]:
    """How far, how much farther than the nearest, and whether it is the nearest."""
    steps = _steps(distance)
    least = np.where(distance == UNREACHABLE, 5.0, steps).min(-1, keepdims=True, initial=5.0)
    return [steps, np.where(distance == UNREACHABLE, 0, steps - least), nearest]


class Views(eqx.Module):
    """Query states as the network sees them, and what then happened."""

    walls: Bool[Array, "*asked row col"]
    cell: Int[Array, "*asked"]
    heading: Int[Array, "*asked"]
    objects: Bool[Array, "*asked kind row col"]
    to_kind: UInt8[Array, "*asked kind row col"]
    from_agent: UInt8[Array, "*asked row col"]
    action: Int[Array, "*asked"]
    successor: Float[Array, "*asked gamma row col"]


def views_of(
    data: Dataset,
    episode: Int[np.ndarray, "asked"],
    query: Int[np.ndarray, "asked"],
    symmetry: Int[np.ndarray, "asked"] | None = None,
) -> Views:
    """As they were, or each turned over in a way of its own."""
    layout = data.layout[episode, query]
    seen = {
        "walls": data.walls[episode],
        "cell": data.cells[episode, query],
        "heading": data.headings[episode, query],
        "objects": data.objects[layout],
        "to_kind": data.to_kind[layout],
        "from_agent": data.from_agent(episode, query),
        "action": data.actions[episode, query],
        "successor": data.successor_maps(episode, query),
    }
    for each in () if symmetry is None else np.unique(symmetry):
        _turn(seen, symmetry == each, int(each), data)
    return Views(**{name: jnp.asarray(array) for name, array in seen.items()})


def _turn(seen: dict[str, np.ndarray], rows: Bool[np.ndarray, "asked"], symmetry: int, data: Dataset) -> None:
    tables = {
        "cell": turned_cells(symmetry, *data.schema.size),
        "heading": turned_headings(symmetry),
        "action": turned_actions(symmetry, data.schema.action_names, data.schema.headed),
    }
    for name, array in seen.items():
        table = tables.get(name)
        array[rows] = turned(symmetry, array[rows]) if table is None else table[array[rows]]


def planes_of(view: Views, outcomes: Float[Array, "outcome"]) -> Float[Array, "row col plane"]:
    """One state, with what the agent is thought to be after: where that is, and the ways that lead there."""
    wanted = outcomes[:-1, None, None]
    far = view.to_kind.astype(jnp.float32)
    reachable = view.to_kind != UNREACHABLE
    here = (jnp.arange(view.walls.size) == view.cell).reshape(view.walls.shape)
    from_here = view.from_agent.astype(jnp.float32)
    away = jnp.where(here, far, 0).sum((1, 2), keepdims=True)  # of each kind, from the agent
    on_the_way = jnp.where(reachable & (view.from_agent != UNREACHABLE), 0.5 ** (from_here + far - away), 0)
    beside = [_beside(far, offset) < far for offset in HEADING_OFFSETS]
    facing = [here & (view.heading == number) for number in range(HEADING_PLANES)]
    planes = [
        view.walls,
        here,
        view.objects.any(0),
        (wanted * view.objects).sum(0),
        (wanted * jnp.minimum(on_the_way, 1)).sum(0),
        jnp.exp(-from_here / 5),
        jnp.broadcast_to(outcomes[-1], view.walls.shape),
        *facing,
        *((wanted * (nearer & reachable)).sum(0) for nearer in beside),
    ]
    return jnp.stack([plane.astype(jnp.float32) for plane in planes], -1)


def _beside(far: Float[Array, "kind row col"], offset: tuple[int, int]) -> Float[Array, "kind row col"]:
    """What is in the next cell in a direction; beyond the edge it is far."""
    rows, cols = far.shape[1:]
    wide = jnp.pad(far, ((0, 0), (1, 1), (1, 1)), constant_values=UNREACHABLE)
    return wide[:, 1 + offset[0] : 1 + offset[0] + rows, 1 + offset[1] : 1 + offset[1] + cols]
