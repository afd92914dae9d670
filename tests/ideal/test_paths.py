"""Closed-form plans against breadth-first search and against the planner's own value iteration."""

from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.agents import planner
from tomnet.agents.planner import PlannerSpecies
from tomnet.ideal.distinct_plans import find_all_paths
from tomnet.ideal.paths import action_values, choices, find_paths, policy
from tomnet.world.gridworld import MAZE, MOVES, World
from tomnet.world.levels import parse_level, sample_level

SHORT = World(size=7, objects=3, max_walls=3, step_limit=9)  # so short that some objects are out of reach
LEVELS, AGENTS = 40, 25


def levels(world):
    keys = jax.random.split(jax.random.key(0), LEVELS)
    return jax.jit(jax.vmap(lambda key: sample_level(key, world)))(keys)


def search(walls: np.ndarray, object_cells: np.ndarray, target: int) -> np.ndarray:
    """Steps to the target object from every cell, by breadth-first search backwards from it."""
    size = walls.shape[0]
    steps = np.full((size, size), np.inf)
    others = {divmod(int(cell), size) for k, cell in enumerate(object_cells) if k != target}
    goal = divmod(int(object_cells[target]), size)
    queue, seen = deque([(goal, 0)]), {goal}
    while queue:
        (row, col), distance = queue.popleft()
        for row_move, col_move in MOVES[:4]:
            cell = (row + int(row_move), col + int(col_move))
            if not (0 <= cell[0] < size and 0 <= cell[1] < size) or walls[cell] or cell in seen:
                continue
            seen.add(cell)
            steps[cell] = distance + 1
            if cell not in others:
                queue.append((cell, distance + 1))
    return steps


@pytest.mark.parametrize("world", [SHORT, MAZE], ids=["short", "maze"])
def test_distances_are_those_of_a_search(world):
    drawn = levels(world)
    paths = find_all_paths(np.asarray(drawn.walls), np.asarray(drawn.object_cells), world)
    for walls, object_cells, distances in zip(np.asarray(drawn.walls), paths.object_cells, paths.distances):
        for k in range(world.objects):
            expected = search(walls, object_cells, k).reshape(-1)
            expected[expected > world.step_limit] = np.inf
            free = ~walls.reshape(-1) & (np.arange(world.cells) != object_cells[k])
            np.testing.assert_array_equal(distances[k][free], expected[free])


@pytest.mark.parametrize("world", [SHORT, MAZE], ids=["short", "maze"])
def test_plans_are_those_of_value_iteration(world):
    sparse, even = (PlannerSpecies(world.objects, alpha, greedy_share=0.4) for alpha in (0.01, 1.0))
    agents = jax.tree.map(
        lambda *leaves: jnp.concatenate(leaves),
        *(species.sample(jax.random.key(1), AGENTS) for species in (sparse, even)),
    )

    def both(walls, object_cells, agent):
        ahead = choices(find_paths(walls, object_cells, world))
        swept = planner.action_values(walls, object_cells, agent, world.step_limit)
        by_cell = [grid.reshape(world.cells, -1).T for grid in (swept, planner.best_actions(swept))]
        return action_values(ahead, agent, world), policy(ahead, agent, world), *by_cell

    drawn = levels(world)
    all_pairs = jax.vmap(jax.vmap(both, in_axes=(None, None, 0)), in_axes=(0, 0, None))
    values, policies, swept, best = jax.jit(all_pairs)(drawn.walls, drawn.object_cells, agents)
    np.testing.assert_allclose(values, swept, atol=2e-5)  # in every cell, those of walls and objects too
    # rounding may tip a tie that is as wide as SAME_VALUE, but hardly ever
    assert (policies != best).any((-2, -1)).mean() < 0.002


def test_absent_objects_are_out_of_reach():
    world = World(size=3, objects=2, max_walls=0, step_limit=5)
    level = parse_level("@..\n...\n..B", world)
    paths = find_paths(level.walls, level.object_cells, world)
    assert jnp.isinf(paths.distances[0]).all()
    assert paths.distances[1, 0] == 4
