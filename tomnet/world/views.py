"""What can be seen of a state: an agent's field of view."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from ..support.errors import BadSetting
from .gridworld import State

FREE, WALL, FIRST_OBJECT = 0, 1, 2  # codes of a window; object k is FIRST_OBJECT + k


def window(state: State, width: int) -> Int[Array, "{width} {width}"]:
    """The square around the agent as codes; what lies off the grid looks like a wall."""
    check_field_of_view(width, 2 * state.walls.shape[-1] + 1)
    size, reach = state.walls.shape[-1], width // 2
    steps = jnp.arange(-reach, reach + 1)
    rows, cols = state.agent_cell // size + steps, state.agent_cell % size + steps
    inside = ((rows >= 0) & (rows < size))[:, None] & ((cols >= 0) & (cols < size))
    cells = jnp.clip(rows, 0, size - 1)[:, None] * size + jnp.clip(cols, 0, size - 1)
    code = jnp.where(inside, state.walls.reshape(-1)[cells].astype(jnp.int8), WALL)
    for kind in range(state.object_cells.shape[-1]):
        code = jnp.where(inside & (cells == state.object_cells[kind]), FIRST_OBJECT + kind, code)
    return code.astype(jnp.int8)


def check_field_of_view(width: int, largest: int) -> None:
    if width % 2 == 0 or not 1 <= width <= largest:
        raise BadSetting("field of view", width, f"must be odd and between 1 and {largest}")


PLANES = 4  # of an observation, beside one for each kind of object: empty, wall, agent, unobservable


def field(agent_cell: Int[Array, ""], reach: Int[Array, ""], size: int) -> Bool[Array, "{size} {size}"]:
    """The cells within `reach` rows and cols of the agent; none where `reach` is negative.

    Compared on both sides rather than by distance: this runs on GPUs, where the greater of two distances between
    integers has come out wrong.
    """
    lines = jnp.arange(size)
    row, col = agent_cell // size, agent_cell % size
    near_row = (lines - row <= reach) & (row - lines <= reach)
    near_col = (lines - col <= reach) & (col - lines <= reach)
    return near_row[:, None] & near_col


def observation(state: State, visible: Bool[Array, "row col"]) -> Bool[Array, "row col plane"]:
    """What an agent sees: empty, wall, each kind of object, the agent itself, and where it cannot see (appendix D)."""
    size = state.walls.shape[-1]
    cells = jnp.arange(size * size).reshape(size, size, 1)
    objects = cells == state.object_cells
    agent = cells == state.agent_cell
    walls = state.walls[..., None]
    empty = ~(walls | objects.any(-1, keepdims=True) | agent)
    seen = jnp.concatenate([empty, walls, objects, agent], axis=-1) & visible[..., None]
    return jnp.concatenate([seen, ~visible[..., None]], axis=-1)
