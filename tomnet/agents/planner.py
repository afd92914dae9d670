"""Goal-driven agents (section 3.2): each values the objects in its own way and plans by value iteration."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..support.errors import BadSetting
from ..support.words import counted
from ..world.gridworld import ABSENT, Outcome, State, World
from .species import Species

SAME_VALUE = 1e-4
"""Actions whose values are nearer than this are equally good, and the agent chooses among them at random."""


class Planner(eqx.Module):
    object_rewards: Float[Array, "*population object"]
    move_cost: Float[Array, "*population"]
    wall_cost: Float[Array, "*population"]

    @property
    def preferred(self) -> Int[Array, "*population"]:
        """The object it values most."""
        return self.object_rewards.argmax(-1)

    def ready(self) -> "Planner":
        return self

    def start(self, state: State, world: World) -> Float[Array, "cell action"]:
        """The whole plan: nothing changes in these worlds but the agent's own cell."""
        if world.subgoal:
            raise BadSetting("World.subgoal", True, "planners take eating for the end of the episode")
        values = action_values(state.walls, state.object_cells, self, world.step_limit)
        return best_actions(values).reshape(world.cells, -1)

    def policy(
        self, memory: Float[Array, "cell action"], state: State, last: Outcome, world: World
    ) -> tuple[Float[Array, "action"], Float[Array, "cell action"]]:
        return memory[state.agent_cell], memory


def neighbours(grid: Array, outside) -> Array:
    """What lies above, below, left and right of each cell: `[4, row, col]`, in the order of ACTIONS."""
    size = grid.shape[0]
    padded = jnp.pad(grid, 1, constant_values=outside)
    return jnp.stack([padded[:size, 1:-1], padded[2:, 1:-1], padded[1:-1, :size], padded[1:-1, 2:]])


def object_layer(object_cells: Int[Array, "object"], size: int) -> Int[Array, "row col"]:
    """Which object is where; ABSENT where there is none."""
    here = object_cells[:, None] == jnp.arange(size * size)
    layer = jnp.where(here.any(0), here.argmax(0), ABSENT)
    return layer.reshape(size, size)


def action_values(
    walls: Bool[Array, "row col"], object_cells: Int[Array, "object"], agent: Planner, step_limit: int
) -> Float[Array, "row col action"]:
    """Q-values by value iteration with discount 1, over as many sweeps as an episode has steps.

    With discount 1 and nothing in reach, the values would fall for ever; over the step limit they stay finite.
    Every step costs the move penalty, `stay` included, so a trapped agent eats what it can reach and is done.
    """
    if agent.object_rewards.shape[-1] != object_cells.shape[-1]:  # else JAX clips the index and says nothing
        why = f"the world has {counted(object_cells.shape[-1], 'object')}"
        raise BadSetting("object_rewards", f"{agent.object_rewards.shape[-1]} values", why)
    objects = object_layer(object_cells, walls.shape[0])
    reward = agent.object_rewards[jnp.clip(objects, 0)]
    blocked = neighbours(walls, True)

    def sweep(values, _):
        return look_ahead(values).max(-1), None

    def look_ahead(values):
        entered = jnp.where(objects == ABSENT, values, reward)  # eating ends the episode: nothing comes after
        moved = jnp.where(blocked, values - agent.wall_cost, neighbours(entered, 0.0))
        return jnp.moveaxis(jnp.concatenate([moved, values[None]]), 0, -1) - agent.move_cost

    values, _ = jax.lax.scan(sweep, jnp.zeros(walls.shape), length=step_limit - 1)
    return look_ahead(values)


def best_actions(values: Float[Array, "*any action"]) -> Float[Array, "*any action"]:
    """Equal probability for each of the best actions."""
    best = values >= values.max(-1, keepdims=True) - SAME_VALUE
    return best / best.sum(-1, keepdims=True)


class PlannerSpecies(Species):
    """Goal-driven agents with rewards from Dir(alpha); a share of them greedy, with a very high cost of moving.

    >>> agents = tomnet.PlannerSpecies(objects=4).sample(jax.random.key(0), 4)  # one stacked PyTree
    >>> agents.object_rewards.shape, agents.move_cost.shape
    ((4, 4), (4,))
    """

    kind: ClassVar[str] = "planners"
    objects: int = 4
    alpha: float = 0.01
    move_cost: float = 0.01
    wall_cost: float = 0.05
    greedy_share: float = 0.0
    greedy_move_cost: float = 0.5

    def __check_init__(self):
        if self.objects < 1:
            raise BadSetting("objects", self.objects, "an agent values at least one object")
        if not 0 < self.alpha < float("inf"):
            raise BadSetting("alpha", self.alpha, "a Dirichlet's concentration must be above 0")
        if not 0 <= self.greedy_share <= 1:
            raise BadSetting("greedy_share", self.greedy_share, "must lie between 0 and 1")
        for name in ("move_cost", "wall_cost", "greedy_move_cost"):
            if not getattr(self, name) >= 0:
                raise BadSetting(name, getattr(self, name), "a penalty cannot be negative")

    def words(self) -> str:
        greedy = f", {self.greedy_share:.0%} of them greedy" if self.greedy_share else ""
        return f"goal-driven agents, their rewards drawn from Dir({self.alpha:g}){greedy}"

    def sample(self, key: Key[Scalar, ""], count: int) -> Planner:
        reward_key, greedy_key = jax.random.split(key)
        rewards = jax.random.dirichlet(reward_key, jnp.full(self.objects, self.alpha), (count,))
        greedy = jax.random.bernoulli(greedy_key, self.greedy_share, (count,))
        move_cost = jnp.where(greedy, self.greedy_move_cost, self.move_cost)
        return Planner(rewards, move_cost, jnp.full(count, self.wall_cost))


def is_greedy(agents: Planner, species: PlannerSpecies) -> Bool[Array, "*population"]:
    """Which agents of a species belong to its greedy share."""
    return agents.move_cost > (species.move_cost + species.greedy_move_cost) / 2
