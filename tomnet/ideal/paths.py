"""What planners do on one level, in closed form: distances once per level, then any number of agents at once.

`agents.planner` sweeps over the values of every agent. But nothing moves in these levels except the agent,
and eating ends the episode: all an agent can do is go for one object by the shortest way, or for none. With
D_k(s) steps to object k, going round walls and other objects, the value over h steps is

    V_h(s) = max( max_k { r_k - c D_k(s) : D_k(s) <= h },  -c h )

and D does not depend on the agent.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..agents.planner import SAME_VALUE, Planner
from ..world.gridworld import ACTIONS, MOVES, World

MOVING = len(ACTIONS) - 1  # all actions but `stay`, which is the last


class Paths(eqx.Module):
    """A level and the shortest ways through it. Cells are flat, as in `Level`."""

    walls: Bool[Array, "*batch cell"]
    object_cells: Int[Array, "*batch object"]
    distances: Float[Array, "*batch object cell"]  # steps until it is eaten; inf if the step limit comes first


class Choices(eqx.Module):
    """What each action leads to, in some cells of one level: all that a planner weighs there."""

    steps: Float[Array, "object action cell"]  # until the object is eaten, the action itself included
    blocked: Bool[Array, "action cell"]
    eating: Bool[Array, "action cell"]  # the action itself eats, so that going on without is no option

    def at(self, cells: Int[Array, "chosen"]) -> "Choices":
        return jax.tree.map(lambda leaf: leaf[..., cells], self)


def find_paths(walls: Bool[Array, "row col"], object_cells: Int[Array, "object"], world: World) -> Paths:
    """The distances of one level, by sweeping outwards from the objects as often as an episode has steps."""
    walls = walls.reshape(-1)
    blocked = blocked_moves(walls)

    def sweep(distances, _):
        arriving = _after_entering(distances, object_cells)
        return jnp.where(blocked, jnp.inf, 1 + destinations(arriving)).min(-2), None

    unknown = jnp.full((object_cells.shape[0], walls.shape[0]), jnp.inf)
    distances, _ = jax.lax.scan(sweep, unknown, length=world.step_limit)
    return Paths(walls, object_cells, distances)


def choices(paths: Paths) -> Choices:
    """Every action in every cell of one level."""
    blocked = blocked_moves(paths.walls)
    here = paths.distances[:, None]
    moved = destinations(_after_entering(paths.distances, paths.object_cells))
    eating = ~blocked & destinations(object_at(paths).any(0))
    return Choices(
        steps=1 + jnp.concatenate([jnp.where(blocked, here, moved), here], axis=1),
        blocked=jnp.pad(blocked, ((0, 1), (0, 0))),
        eating=jnp.pad(eating, ((0, 1), (0, 0))),
    )


def action_values(choices: Choices, agent: Planner, world: World) -> Float[Array, "action cell"]:
    """The Q-values of `agents.planner.action_values`, of one agent."""
    limit = world.step_limit
    # one object after the other, so that nothing larger than the answer is ever written to memory
    values = jnp.where(choices.eating, -jnp.inf, -agent.move_cost * limit)
    for reward, steps in zip(agent.object_rewards, choices.steps):
        reached = jnp.where(steps <= limit, reward - agent.move_cost * steps, -jnp.inf)
        values = jnp.maximum(values, reached)
    return values - agent.wall_cost * choices.blocked


def best_actions(choices: Choices, agent: Planner, world: World) -> Bool[Array, "action cell"]:
    values = action_values(choices, agent, world)
    return values >= values.max(0) - SAME_VALUE


def policy(choices: Choices, agent: Planner, world: World) -> Float[Array, "action cell"]:
    """The plan of one agent: equal probability for each of the best actions, in each cell."""
    best = best_actions(choices, agent, world)
    return best / best.sum(0)


def object_at(paths: Paths) -> Bool[Array, "object cell"]:
    """Where each object lies; nowhere if it is absent."""
    cells = jnp.arange(paths.walls.shape[-1])
    return cells == paths.object_cells[:, None]  # ABSENT is no cell


def standing_cells(paths: Paths) -> Bool[Array, "cell"]:
    """Where an agent can be before the end: the free cells without an object, where levels let it start."""
    return ~paths.walls & ~object_at(paths).any(0)


def blocked_moves(walls: Bool[Array, "cell"]) -> Bool[Array, "move cell"]:
    """Which of the four moves lead into a wall or off the grid."""
    size = round(walls.shape[0] ** 0.5)
    rows, cols = jnp.divmod(jnp.arange(size * size), size)
    row, col = rows + jnp.asarray(MOVES[:MOVING, :1]), cols + jnp.asarray(MOVES[:MOVING, 1:])
    inside = (row >= 0) & (row < size) & (col >= 0) & (col < size)
    return ~inside | destinations(walls)


def destinations(grid: Array) -> Array:
    """What lies where each of the four moves leads: `[*any, cell] -> [*any, move, cell]`.

    A move off the grid comes out on the other side; every use masks it, since the edge blocks.
    """
    return jnp.stack([jnp.roll(grid, -offset, -1) for offset in offsets(grid.shape[-1])], axis=-2)


def offsets(cells: int) -> list[int]:
    """How much each of the four moves adds to a flat cell."""
    size = round(cells**0.5)
    return [int(row * size + col) for row, col in MOVES[:MOVING]]


def _after_entering(distances: Float[Array, "object cell"], object_cells: Int[Array, "object"]):
    """The steps still to go to each object once a cell is entered: eating another object ends it all."""
    here = jnp.arange(distances.shape[-1]) == object_cells[:, None]
    return jnp.where(here, 0.0, jnp.where(here.any(0), jnp.inf, distances))
