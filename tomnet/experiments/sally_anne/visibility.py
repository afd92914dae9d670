"""What an agent has had in view, from its episodes alone: plain arrays, any batch axes in front."""

import numpy as np

from ...episodes.episode import NONE, Episode

UNSEEN, SEEN, MOVED, EATEN = range(4)
STATUSES = ("unseen", "seen", "moved", "eaten")
NEVER, BEFORE, NOW = range(3)


def distance(cells: np.ndarray, others: np.ndarray, size: int) -> np.ndarray:
    """Chebyshev distance, since fields of view are squares; an absent object is further than any other."""
    cells, others = np.asarray(cells, int), np.asarray(others, int)
    apart = np.maximum(abs(cells // size - others // size), abs(cells % size - others % size))
    return np.where((cells == NONE) | (others == NONE), size, apart)


def objects_in_view(episode: Episode, reach: int) -> np.ndarray:
    """`[*batch, time, kind]`: which objects the agent sees at each time step. The blind have a reach below 0."""
    return distance(np.asarray(episode.agent_cells)[..., None], np.asarray(episode.object_cells), episode.size) <= reach


def statuses(episode: Episode, reach: int) -> np.ndarray:
    """`[*batch, time, kind]`: what the agent has seen of each object so far, the present look included.

    SEEN: it has been in view in the cell where it is now. MOVED: it has been in view, but only in a cell that a swap
    has since taken it from. EATEN: it is gone, and only the agent itself can have taken it.
    """
    cells = np.asarray(episode.object_cells)
    viewed = objects_in_view(episode, reach)
    ever = np.logical_or.accumulate(viewed, axis=-2)
    same_place = cells[..., :, None, :] == cells[..., None, :, :]  # [*batch, now, then, kind]
    past = np.tri(cells.shape[-2], dtype=bool)[:, :, None]
    here = (viewed[..., None, :, :] & same_place & past).any(-2)
    return np.where(cells == NONE, EATEN, np.where(here, SEEN, np.where(ever, MOVED, UNSEEN)))


def visibility_map(agent_cells: np.ndarray, reach: int, size: int) -> np.ndarray:
    """`[row, col]`: which cells one agent has never had in view, had before, and has now, in the last of its cells."""
    near = distance(np.asarray(agent_cells)[:, None], np.arange(size * size), size) <= reach
    return np.where(near[-1], NOW, np.where(near.any(0), BEFORE, NEVER)).reshape(size, size)
