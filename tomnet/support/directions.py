"""What lies which way from a cell: pooling that keeps directions."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

LEAST = -1.0  # below all that such a map holds, which is not negative
WAYS = 8  # four sides, and four beams


def most_each_way(
    map: Float[Array, "row col channel"], own_cell: Bool[Array, "row col"]
) -> Float[Array, "way channel"]:
    """The most of each channel above, below, left and right of the agent: on all that side, and in a beam of three.

    What is remembered lies in one cell of many: a mean over them would all but hide it, and without directions it
    would not tell which way to go. Where a side has no cells, and for the blind, who do not know where they are, LEAST.
    """
    lines, somewhere = jnp.arange(own_cell.shape[0]), own_cell.any()
    row, col = jnp.argmax(own_cell.any(1)), jnp.argmax(own_cell.any(0))

    def near(line: Int[Array, ""]) -> Bool[Array, "line"]:
        return (lines - line <= 1) & (line - lines <= 1)

    of_rows = (map.max(1), jnp.where(near(col)[:, None], map, LEAST).max(1))
    of_cols = (map.max(0), jnp.where(near(row)[:, None, None], map, LEAST).max(0))
    sides = ((lines < row, of_rows), (lines > row, of_rows), (lines < col, of_cols), (lines > col, of_cols))
    return jnp.stack(
        [jnp.where((side & somewhere)[:, None], most, LEAST).max(0) for side, mosts in sides for most in mosts]
    )
