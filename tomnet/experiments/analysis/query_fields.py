"""One query from every cell of a level: the fields of Figs. 5c and 6."""

import jax.numpy as jnp
import numpy as np

from ...episodes.episode import QueryState
from ...world.gridworld import MOVES


def every_cell(query: QueryState) -> QueryState:
    """The same level with the agent in each cell in turn."""
    cells = query.walls.size
    return QueryState(
        walls=jnp.broadcast_to(query.walls, (cells, *query.walls.shape)),
        agent_cell=jnp.arange(cells, dtype=query.agent_cell.dtype),
        object_cells=jnp.broadcast_to(query.object_cells, (cells, *query.object_cells.shape)),
    )


def policy_arrows(policies: np.ndarray) -> np.ndarray:
    """The resultant vector of each policy, as (row, col) steps: the sum of the moves, weighted."""
    return np.asarray(policies) @ MOVES
