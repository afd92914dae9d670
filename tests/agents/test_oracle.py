"""The oracle of the subgoal task, on levels whose best way a reader can see, and against plain dynamic programming."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DOWN, LEFT, RIGHT, STAY, UP, around, pick, sample_levels

from tomnet.agents.actor_critic import Rewards
from tomnet.agents.oracle import AFTER, BEFORE, Oracle, oracle_values
from tomnet.episodes.rollout import rollout
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import ABSENT, World, nothing_yet, reset_to_level
from tomnet.world.levels import parse_level

ROOM = World(size=5, objects=2, subgoal=True, max_walls=1, step_limit=20)
REWARDS = Rewards()

look = eqx.filter_jit(lambda agent, state, world: agent.policy(None, state, nothing_yet(), world)[0])
run = eqx.filter_jit(rollout)
values_of = eqx.filter_jit(oracle_values)


def moves(picture: str, *, preferred: int = 0, time: int = 0) -> dict[int, float]:
    """The actions that the oracle may take on a drawn level, at some time."""
    state = reset_to_level(parse_level(picture, ROOM))
    state = eqx.tree_at(lambda s: s.time, state, jnp.asarray(time, state.time.dtype))
    policy = np.asarray(look(Oracle(jnp.int32(preferred)), state, ROOM))
    return {action: float(probability) for action, probability in enumerate(policy) if probability > 0}


def test_it_goes_by_the_subgoal_to_the_preferred_object():
    assert moves("....@\n.##.#\n*.#.A\n.##.#\n.....") == {LEFT: 1.0}
    assert moves("....@\n.....\n*...A\n.....\n....B") == {DOWN: 0.5, LEFT: 0.5}  # a detour of eight steps is worth it


def test_after_the_subgoal_it_goes_straight_to_the_object():
    assert moves(".....\n.....\n.@.A.\n.....\nB....") == {RIGHT: 1.0}
    assert moves(".....\n.....\n.@.A.\n.....\n.B...", preferred=1) == {DOWN: 1.0}


def test_other_objects_are_walked_around():
    assert moves("#####\n.....\n@BA##\n#####\n#####") == {UP: 1.0}


def test_the_subgoal_is_left_out_where_it_cannot_be_had():
    assert moves("@..A.\n.....\n.....\n####.\n*###B") == {RIGHT: 1.0}


def test_with_too_little_time_for_both_the_object_comes_first():
    """Four steps there, four back and two down."""
    picture = "#####\n#####\n*...@\n####.\n####A"
    assert moves(picture, time=20 - 10) == {LEFT: 1.0}
    assert moves(picture, time=20 - 9) == {DOWN: 1.0}


def test_out_of_time_any_object_is_better_than_none():
    """With a step too few to the preferred object, the other one still saves the penalty for a time-out."""
    picture = "B.@..\n####.\n.....\n.####\n...A#"
    far = 2 + 2 + 4 + 2 + 3  # right, down, left, down, right
    assert moves(picture, time=20 - far) == {RIGHT: 1.0}
    assert LEFT in moves(picture, time=20 - far + 1)
    assert moves(picture, time=18) == {LEFT: 1.0}


def test_walled_in_it_waits_without_touching_a_wall():
    assert moves("A.#..\n.#@#.\n..#..\n.....\n*...B") == {STAY: 1.0}


def test_it_plans_anew_after_a_swap():
    state = reset_to_level(parse_level("A....\n.....\n..@..\n.....\n....B", ROOM))
    oracle = Oracle(jnp.int32(0))
    assert set(np.flatnonzero(look(oracle, state, ROOM))) == {UP, LEFT}
    swapped = eqx.tree_at(lambda s: s.object_cells, state, state.object_cells[jnp.array([1, 0, 2])])
    assert set(np.flatnonzero(look(oracle, swapped, ROOM))) == {DOWN, RIGHT}


def test_its_episode_is_the_best_there_is_on_an_open_level():
    """Four steps to the subgoal, six on to the object: a return of 2 - 10 · 0.005."""
    level = parse_level("@...*\n.....\n.....\n..B..\n..A..", ROOM)
    episode = run(jax.random.key(0), Oracle(jnp.int32(0)), level, ROOM)
    assert int(episode.length) == 4 + 6
    eaten = np.asarray(episode.consumed)
    assert eaten[3] == ROOM.objects
    assert eaten[9] == 0
    assert (np.delete(eaten, [3, 9]) == ABSENT).all()


def test_a_world_without_a_subgoal_is_refused():
    world = World(size=5, objects=2, max_walls=1)
    with pytest.raises(BadSetting, match="subgoal"):
        Oracle(jnp.int32(0)).start(reset_to_level(parse_level("@...A\n.....\n.....\n.....\n....B", world)), world)


# --- Against plain dynamic programming


def by_hand(walls: np.ndarray, object_cells: list[int], preferred: int, steps: int) -> np.ndarray:
    """`[stage, cell, action]`, one loop for each thing that the rules name."""
    size, subgoal, flat = walls.shape[0], object_cells[-1], walls.reshape(-1)
    best = np.full((2, size * size), REWARDS.time_out)
    for _ in range(steps):
        values = np.zeros((2, size * size, 5))
        for stage in (BEFORE, AFTER):
            for cell in range(size * size):
                for action, there in enumerate(around(size, cell)):
                    value, after = REWARDS.move, stage
                    if there is None or flat[there]:
                        value, there = value + REWARDS.wall, cell
                    if there in object_cells[:-1] and there != cell:
                        value += REWARDS.preferred * (there == object_cells[preferred])
                    else:
                        if there == subgoal and stage == BEFORE and there != cell:
                            value, after = value + REWARDS.subgoal, AFTER
                        value += best[after, there]
                    values[stage, cell, action] = value
        best = values.max(-1)
    return values


def test_its_values_are_those_of_plain_dynamic_programming():
    world = World(size=5, objects=3, subgoal=True, max_walls=3, step_limit=20)
    levels = sample_levels(jax.random.key(0), world, 4)
    for i, steps in enumerate((1, 3, 12, 20)):
        level = pick(levels, i)
        cells, preferred = np.asarray(level.object_cells).tolist(), i % 3
        found = np.asarray(
            values_of(level.walls, level.object_cells, jnp.int32(preferred), REWARDS, jnp.int32(steps))
        ).reshape(2, 25, 5)
        # where the agent can be before it acts: free cells without an object on them, but for the eaten subgoal's
        free = ~np.asarray(level.walls).reshape(-1)
        free[cells] = False
        expected = by_hand(np.asarray(level.walls), cells, preferred, steps)
        assert np.allclose(found[:, free], expected[:, free], atol=1e-5)
        assert np.allclose(found[AFTER, cells[-1]], expected[AFTER, cells[-1]], atol=1e-5)
