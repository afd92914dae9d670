"""The transition function, in numpy: the world's own is JAX, and would be compiled for a look at a few numbers."""

import numpy as np
from jaxtyping import Bool, Int

from ..world.gridworld import MOVES


def next_cells(
    walls: Bool[np.ndarray, "episode row col"],
    cells: Int[np.ndarray, "episode time"],
    actions: Int[np.ndarray, "episode time"],
) -> Int[np.ndarray, "episode time"]:
    size, cells = walls.shape[-1], cells.astype(int)
    row, col = np.moveaxis(np.stack([cells // size, cells % size], -1) + MOVES[actions], -1, 0)
    inside = (row >= 0) & (row < size) & (col >= 0) & (col < size)
    target = np.where(inside, row * size + col, cells)
    blocked = np.take_along_axis(walls.reshape(len(cells), -1), target, axis=1)
    return np.where(blocked, cells, target)
