"""What can be reached at all on a level, and levels on which the subgoal can."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Key, Scalar

from ...ideal.paths import find_paths
from ...support.errors import BadSetting
from ...support.trees import pick
from ...world.gridworld import Level, World
from ...world.levels import draw_levels


class Reachable:
    """Which levels let the subgoal, and each terminal object, be reached in time: around walls and other objects."""

    def __init__(self, levels: Level, world: World):
        self.subgoal, self.objects = (np.asarray(found) for found in _reachable(levels, world))


@eqx.filter_jit
def _reachable(levels: Level, world: World) -> tuple[Bool[Array, "level"], Bool[Array, "level object"]]:
    def one(level: Level):
        everything = find_paths(level.walls, level.object_cells, world).distances[:, level.start_cell]
        # the subgoal is in nobody's way
        terminal = find_paths(level.walls, level.object_cells[: world.objects], world).distances[:, level.start_cell]
        return jnp.isfinite(everything[world.objects]), jnp.isfinite(terminal)

    return jax.vmap(one)(levels)


def levels_with_a_way(key: Key[Scalar, ""], count: int, world: World) -> Level:
    """Levels on which the subgoal can be reached: on the others there is no swap to measure."""
    drawn = 2 * count + 16  # about three in four have one
    levels = draw_levels(key, drawn, world)
    chosen = np.flatnonzero(Reachable(levels, world).subgoal)[:count]
    if len(chosen) < count:
        raise BadSetting("swap_levels", count, f"the subgoal is in reach on only {len(chosen)} of {drawn} levels drawn")
    return pick(levels, chosen)
