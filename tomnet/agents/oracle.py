"""A full-information oracle of the subgoal task: what the deep RL agents could earn if they saw the whole map.

It knows the rules, the rewards and the true state, and plans anew at every step, so a swap costs it nothing but the
detour. It does not hedge against swaps to come: with a swap probability of 0, no agent earns more on average.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..support.errors import BadSetting
from ..world.gridworld import ABSENT, Outcome, State, World
from .actor_critic import Rewards
from .planner import best_actions, neighbours, object_layer

BEFORE, AFTER = 0, 1  # the subgoal is eaten


class Oracle(eqx.Module):
    preferred: Int[Array, "*population"]
    rewards: Rewards = Rewards()

    def ready(self) -> "Oracle":
        return self

    def start(self, state: State, world: World) -> None:
        if not world.subgoal:
            raise BadSetting("World.subgoal", False, "this oracle's task has one")

    def policy(self, memory: None, state: State, last: Outcome, world: World) -> tuple[Float[Array, "action"], None]:
        left = jnp.maximum(world.step_limit - state.time, 1)
        values = oracle_values(state.walls, state.object_cells, self.preferred, self.rewards, left)
        stage = jnp.where(state.object_cells[world.objects] == ABSENT, AFTER, BEFORE)
        return best_actions(values[stage].reshape(world.cells, -1)[state.agent_cell]), None


def oracle_values(
    walls: Bool[Array, "row col"],
    object_cells: Int[Array, "kind"],
    preferred: Int[Array, ""],
    rewards: Rewards,
    steps_left: Int[Array, ""],
) -> Float[Array, "stage row col action"]:
    """Q-values with `steps_left` steps to go (at least 1), before and after the subgoal is eaten.

    Finite horizon and discount 1: whoever has eaten nothing terminal when time is up pays for it, so that near the
    end any object is better than none.
    """
    size, subgoal = walls.shape[0], object_cells.shape[0] - 1
    objects = object_layer(object_cells[:subgoal], size)
    eaten = jnp.where(objects == preferred, rewards.preferred, 0.0)  # and the episode is over
    at_subgoal = jnp.arange(size * size).reshape(size, size) == object_cells[subgoal]
    blocked = neighbours(walls, True)

    def look_ahead(values: Float[Array, "stage row col"]) -> Float[Array, "stage row col action"]:
        before, after = values
        before = jnp.where(at_subgoal, rewards.subgoal + after, before)
        return jnp.stack([acting(values[BEFORE], before), acting(values[AFTER], after)])

    def acting(here: Float[Array, "row col"], entered: Float[Array, "row col"]) -> Float[Array, "row col action"]:
        entered = jnp.where(objects == ABSENT, entered, eaten)
        moved = jnp.where(blocked, here + rewards.wall, neighbours(entered, 0.0))
        return jnp.moveaxis(jnp.concatenate([moved, here[None]]), 0, -1) + rewards.move

    out_of_time = jnp.full((2, size, size), rewards.time_out)
    values = jax.lax.fori_loop(0, steps_left - 1, lambda _, values: look_ahead(values).max(-1), out_of_time)
    return look_ahead(values)
