"""The rules of the gridworld: `reset_to_level` and `step`, pure functions that `jit` and `vmap`.

Rewards live with the agents, as in the paper's formalism: `step` reports what happened (an `Outcome`), and each
agent values it in its own way.
"""

from itertools import permutations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, Scalar

from ..support.errors import BadSetting

ACTIONS = ("up", "down", "left", "right", "stay")
MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1], [0, 0]], np.int32)  # action → (row, col) offset
ABSENT = -1  # the cell of an object that is not (or no longer) in the world
LARGEST_SIZE, LONGEST_EPISODE = 181, 2**15 - 1  # cells and times are stored as 16-bit numbers, and 181² fits


class World(eqx.Module):
    """The rules. Static and hashable, so a compiled function is specialised to them.

    `MAZE` holds those of sections 3.1 and 3.2 of the paper, `SUBGOAL_MAZE` those of sections 3.3 to 3.5.

    >>> tomnet.World() == tomnet.MAZE, tomnet.SUBGOAL_MAZE.kinds  # four objects and the subgoal
    (True, 5)
    >>> small = tomnet.World(size=5, objects=2, max_walls=1, step_limit=12)
    """

    size: int = eqx.field(static=True, default=11)
    objects: int = eqx.field(static=True, default=4)  # terminal ones: eating one ends the episode
    subgoal: bool = eqx.field(static=True, default=False)  # one more object, eaten without ending the episode
    max_walls: int = eqx.field(static=True, default=4)
    swap_probability: float = eqx.field(static=True, default=0.0)  # when the subgoal is eaten
    step_limit: int = eqx.field(static=True, default=31)

    def __check_init__(self):
        if not 2 <= self.size <= LARGEST_SIZE:
            raise BadSetting("World.size", self.size, f"a grid has between 2 and {LARGEST_SIZE} rows")
        if self.max_walls < 0:
            raise BadSetting("World.max_walls", self.max_walls, "cannot be negative")
        if self.objects < 1:
            raise BadSetting("World.objects", self.objects, "there must be at least one object")
        if not 0 <= self.swap_probability <= 1:
            raise BadSetting("World.swap_probability", self.swap_probability, "must lie between 0 and 1")
        if not 1 <= self.step_limit <= LONGEST_EPISODE:
            raise BadSetting("World.step_limit", self.step_limit, f"an episode has 1 to {LONGEST_EPISODE} steps")
        certain = self.cells - self.max_walls * self.size - 1  # the longest walls, and the agent's own cell
        if self.kinds > certain:
            why = f"only {max(certain, 0)} cells are surely free with {self.max_walls} walls on {self.size}×{self.size}"
            raise BadSetting("World.objects", self.objects, why)

    @property
    def cells(self) -> int:
        return self.size * self.size

    @property
    def kinds(self) -> int:
        """Objects of every kind; the subgoal, where there is one, comes last."""
        return self.objects + self.subgoal


MAZE = World()
"""Sections 3.1 and 3.2 of the paper."""
SUBGOAL_MAZE = World(subgoal=True, max_walls=6, swap_probability=0.1, step_limit=51)
"""Sections 3.3 to 3.5."""


class Level(eqx.Module):
    """One drawn maze, or with leading axes many. A cell is `row * size + col`.

    >>> level = tomnet.parse_level("@.A\\n.#.\\n...", tomnet.World(size=3, objects=1, max_walls=0))
    >>> level.walls.shape, level.object_cells.tolist(), int(level.start_cell)
    ((3, 3), [2], 0)
    """

    walls: Bool[Array, "*batch row col"]
    object_cells: Int[Array, "*batch object"]
    start_cell: Int[Array, "*batch"]


class State(eqx.Module):
    walls: Bool[Array, "*batch row col"]
    object_cells: Int[Array, "*batch object"]
    agent_cell: Int[Array, "*batch"]
    time: Int[Array, "*batch"]


class Outcome(eqx.Module):
    """What one step did, for agents to value and episodes to record."""

    action: Int[Array, "*batch"]
    consumed: Int[Array, "*batch"]  # the object eaten, ABSENT if none
    bumped: Bool[Array, "*batch"]  # walked into a wall or off the grid
    swapped: Bool[Array, "*batch"]
    terminated: Bool[Array, "*batch"]  # a terminal object was eaten
    truncated: Bool[Array, "*batch"]  # the step limit came first

    @property
    def done(self) -> Bool[Array, "*batch"]:
        return self.terminated | self.truncated


def nothing_yet() -> Outcome:
    """What an agent is told before its first action."""
    none, no = jnp.int32(ABSENT), jnp.bool_(False)
    return Outcome(action=none, consumed=none, bumped=no, swapped=no, terminated=no, truncated=no)


def reset_to_level(level: Level) -> State:
    return State(level.walls, level.object_cells, level.start_cell, jnp.zeros_like(level.start_cell))


def destination(
    walls: Bool[Array, "row col"], cell: Int[Array, ""], action: Int[Array, ""]
) -> tuple[Int[Array, ""], Bool[Array, ""]]:
    """The cell an action leads to, and whether something was in the way. The edge of the grid is a wall."""
    size = walls.shape[-1]
    row, col = cell // size + jnp.asarray(MOVES)[action, 0], cell % size + jnp.asarray(MOVES)[action, 1]
    inside = (row >= 0) & (row < size) & (col >= 0) & (col < size)
    target = jnp.where(inside, row * size + col, cell)
    blocked = ~inside | walls.reshape(-1)[target]
    return jnp.where(blocked, cell, target).astype(cell.dtype), blocked


def step(key: Key[Scalar, ""], state: State, action: Int[Array, ""], world: World) -> tuple[State, Outcome]:
    """One step of one world. `terminated` and `truncated` are never both true."""
    agent_cell, bumped = destination(state.walls, state.agent_cell, action)
    here = state.object_cells == agent_cell
    consumed = jnp.where(here.any(), jnp.argmax(here), ABSENT)
    terminated = here[: world.objects].any()
    object_cells, swapped = state.object_cells, jnp.bool_(False)
    if world.subgoal:
        reached = here[world.objects]
        object_cells = object_cells.at[world.objects].set(jnp.where(reached, ABSENT, object_cells[-1]))
        if world.swap_probability > 0:
            swap_key, order_key = jax.random.split(key)
            swapped = reached & jax.random.bernoulli(swap_key, world.swap_probability)
            shuffled = swap_objects(order_key, object_cells, world)
            object_cells = jnp.where(swapped, shuffled, object_cells)
    time = state.time + 1
    truncated = ~terminated & (time >= world.step_limit)
    outcome = Outcome(action, consumed, bumped, swapped, terminated, truncated)
    return State(state.walls, object_cells, agent_cell, time), outcome


def swap_objects(key: Key[Scalar, ""], object_cells: Int[Array, "object"], world: World) -> Int[Array, "object"]:
    """The terminal objects in a random order; the subgoal, being eaten, stays out of it."""
    if world.objects <= 5:  # one draw from a small table is much cheaper than a shuffle
        orders = jnp.asarray(list(permutations(range(world.objects))))
        order = orders[jax.random.randint(key, (), 0, len(orders))]
    else:
        order = jax.random.permutation(key, world.objects)
    return object_cells.at[: world.objects].set(object_cells[order])


def step_auto_reset(
    key: Key[Scalar, ""], state: State, action: Int[Array, ""], world: World, pool: Level
) -> tuple[State, Outcome]:
    """`step`, and where the episode ends, the start of a level drawn from `pool` (levels with a leading axis).

    Drawing from a pool costs a gather; sampling a level at every step would cost more than the step itself.
    """
    step_key, pool_key = jax.random.split(key)
    state, outcome = step(step_key, state, action, world)
    chosen = jax.random.randint(pool_key, (), 0, pool.start_cell.shape[0])
    fresh = reset_to_level(jax.tree.map(lambda levels: levels[chosen], pool))
    state = jax.tree.map(lambda new, old: jnp.where(outcome.done, new, old), fresh, state)
    return state, outcome
