"""Importance weights: what is rare in a world drawn more often, and queries that count for less or more in return.

A swap is what an observer of false beliefs must learn from, and most episodes have none. Where swaps are drawn more
often, a query that comes before the coin is tossed is weighted by how much more, or less, likely its outcome is in the
world as it is. A query after that is about a future that no longer depends on the coin, and counts as it is.
"""

from math import factorial

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..world.gridworld import World
from .episode import Episode


def swap_weight(episode: Episode, time: Int[Array, ""], world: World, swap_probability: float) -> Float[Array, ""]:
    """How much a query at `time` counts in an episode of this world whose swaps had another probability.

    A swap may leave every object where it was. It then looks like none, so the weight is that of what can be seen; and
    what the last action of an episode does to the objects is never seen.
    """
    visible = 1 - 1 / factorial(world.objects)  # of all swaps
    drawn, true = visible * swap_probability, visible * world.swap_probability
    cells, steps = episode.object_cells[:, : world.objects], jnp.arange(episode.actions.shape[0] - 1)
    tossed = (episode.consumed[:-1] == world.objects) & (steps + 1 < episode.length)
    moved = (cells[1:] != cells[:-1]).any(-1)
    ratio = jnp.where(moved, true / drawn if drawn else 1.0, (1 - true) / (1 - drawn))
    return jnp.where(tossed & (steps >= time), ratio, 1.0).prod()  # the subgoal is eaten once at most
