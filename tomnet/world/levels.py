"""Levels: drawn at random as in the paper, and to and from ASCII.

#  wall     .  free     @  agent     A, B, C …  terminal objects     *  subgoal
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, Scalar

from ..support.errors import BadSetting
from ..support.trees import on_device
from .gridworld import ABSENT, Level, State, World, reset_to_level

WALL, FREE, AGENT, SUBGOAL = "#", ".", "@", "*"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def sample_level(key: Key[Scalar, ""], world: World) -> Level:
    """Random walls, then every object and the agent on free cells of their own. Walls may trap the agent."""
    wall_key, place_key = jax.random.split(key)
    walls = sample_walls(wall_key, world)
    lot = jnp.where(walls.reshape(-1), -1.0, jax.random.uniform(place_key, (world.cells,)))
    cells = jax.lax.top_k(lot, world.kinds + 1)[1].astype(jnp.int16)
    return Level(walls, object_cells=cells[:-1], start_cell=cells[-1])


@eqx.filter_jit
def draw_levels(key: Key[Scalar, ""], count: int, world: World) -> Level:
    """Many of them, stacked."""
    return jax.vmap(sample_level, in_axes=(0, None))(jax.random.split(key, count), world)


def reset(key: Key[Scalar, ""], world: World) -> State:
    """The start of an episode on a random level."""
    return reset_to_level(sample_level(key, world))


def sample_walls(key: Key[Scalar, ""], world: World) -> Bool[Array, "row col"]:
    """Between 0 and `max_walls` straight lines between two random end points, diagonals included."""
    count_key, end_key = jax.random.split(key)
    count = jax.random.randint(count_key, (), 0, world.max_walls + 1)
    ends = jax.random.randint(end_key, (world.max_walls, 2, 2), 0, world.size)
    cells = jax.vmap(line, in_axes=(0, None))(ends, world.size)
    asked_for = (jnp.arange(world.max_walls) < count)[:, None]
    cells = jnp.where(asked_for, cells, ABSENT).reshape(-1, 1)
    return (cells == jnp.arange(world.cells)).any(0).reshape(world.size, world.size)


def line(ends: Int[Array, "2 2"], size: int) -> Int[Array, "step"]:
    """The cells of a line between two cells: no gap that an agent, who cannot move diagonally, could slip through."""
    # In floating point: with integers, XLA's GPU backend takes the lesser of the two differences for the greater, and
    # the walls come out with gaps (jaxlib 0.11.2). Halves are exact, so nothing is lost to rounding.
    start, difference = ends[0].astype(jnp.float32), (ends[1] - ends[0]).astype(jnp.float32)
    length = jnp.maximum(jnp.abs(difference).max(), 1.0)
    along = jnp.minimum(jnp.arange(size, dtype=jnp.float32), length)[:, None]
    points = jnp.floor(start + along * difference / length + 0.5).astype(jnp.int32)
    return points[:, 0] * size + points[:, 1]


def symbols(world: World) -> str:
    """What each object is drawn as, in the order of `object_cells`."""
    if world.objects > len(LETTERS):
        raise BadSetting("World.objects", world.objects, f"there are letters for {len(LETTERS)} objects")
    return LETTERS[: world.objects] + (SUBGOAL if world.subgoal else "")


def parse_level(text: str, world: World) -> Level:
    """A level from its picture: `#` wall, `.` free, `@` agent, `A`, `B` … objects, `*` subgoal.

    Objects that are not drawn are absent, their cell -1.

    >>> level = tomnet.parse_level("@.A\\n.#.\\n...", tomnet.World(size=3, objects=2, max_walls=0))
    >>> level.object_cells.tolist()
    [2, -1]
    """
    rows = [line.strip() for line in text.strip().splitlines()]
    widths = sorted({len(row) for row in rows})
    if len(rows) != world.size or widths != [world.size]:
        shape = f"{len(rows)} rows of {' or '.join(map(str, widths))}"
        raise BadSetting("level", shape, f"this world has {world.size} rows of {world.size}")
    grid = np.array([list(row) for row in rows])
    alphabet = symbols(world)
    for row, col in np.argwhere(~np.isin(grid, list(alphabet + WALL + FREE + AGENT))):
        allowed = f"expected one of {WALL} {FREE} {AGENT} {' '.join(alphabet)}"
        raise BadSetting("level", repr(str(grid[row, col])), f"in row {row}, col {col}; {allowed}")
    cells = {symbol: np.flatnonzero(grid.reshape(-1) == symbol) for symbol in alphabet + AGENT}
    for symbol, found in cells.items():
        if len(found) > 1 or (symbol == AGENT and len(found) == 0):
            raise BadSetting("level", repr(symbol), f"drawn {len(found)} times; once is right")
    objects = [cells[symbol][0] if len(cells[symbol]) else ABSENT for symbol in alphabet]
    return Level(*on_device((grid == WALL, np.array(objects, np.int16), np.int16(cells[AGENT][0]))))


def format_level(level: Level | State, world: World) -> str:
    """The picture of one level, or of one state with the agent where it now stands.

    >>> world = tomnet.World(size=3, objects=1, max_walls=0)
    >>> print(tomnet.format_level(tomnet.parse_level("@.A\\n.#.\\n...", world), world))
    @.A
    .#.
    ...
    """
    agent = level.start_cell if isinstance(level, Level) else level.agent_cell
    grid = np.where(np.asarray(level.walls).reshape(-1), WALL, FREE)
    alphabet = symbols(world)
    for symbol, cell in zip(alphabet, np.asarray(level.object_cells), strict=True):
        if cell != ABSENT:
            grid[cell] = symbol
    grid[int(agent)] = AGENT
    return "\n".join("".join(row) for row in grid.reshape(world.size, world.size))
