"""Walking distances in many mazes at once: breadth-first, all frontiers one step further at a time."""

import numpy as np
from jaxtyping import Bool, UInt8

UNREACHABLE = 255
FARTHEST = 254  # longer ways are all as long; in 32×32 only a labyrinth has them
AT_A_TIME = 4096  # grids


def walking_distances(
    walls: Bool[np.ndarray, "grid row col"],
    goals: Bool[np.ndarray, "grid row col"],
    closed: Bool[np.ndarray, "grid row col"],
) -> UInt8[np.ndarray, "grid row col"]:
    """Steps from every cell to the nearest goal. `closed` cells are arrived at and not walked through."""
    parts = range(0, len(walls), AT_A_TIME)
    found = [_distances(*(each[part : part + AT_A_TIME] for each in (walls, goals, closed))) for part in parts]
    return np.concatenate(found) if found else np.zeros(walls.shape, np.uint8)


def _distances(walls: np.ndarray, goals: np.ndarray, closed: np.ndarray) -> np.ndarray:
    found = np.where(goals & ~walls, 0, UNREACHABLE).astype(np.uint8)
    unseen, frontier = ~(goals | walls), goals & ~walls
    steps = 0
    while frontier.any():
        steps = min(steps + 1, FARTHEST)
        frontier = _neighbours(frontier) & unseen
        found[frontier] = steps
        unseen &= ~frontier
        frontier &= ~closed
    return found


def _neighbours(cells: np.ndarray) -> np.ndarray:
    beside = np.zeros_like(cells)
    beside[:, 1:] |= cells[:, :-1]
    beside[:, :-1] |= cells[:, 1:]
    beside[..., 1:] |= cells[..., :-1]
    beside[..., :-1] |= cells[..., 1:]
    return beside
