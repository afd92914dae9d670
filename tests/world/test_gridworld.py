"""The rules, on levels whose next state a reader can see."""

from itertools import permutations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DOWN, LEFT, RIGHT, STAY, UP, pick, sample_levels, step, within

from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import (
    ABSENT,
    ACTIONS,
    LARGEST_SIZE,
    MAZE,
    SUBGOAL_MAZE,
    Outcome,
    State,
    World,
    nothing_yet,
    reset_to_level,
    step_auto_reset,
)
from tomnet.world.levels import format_level, parse_level

KEY = jax.random.key(0)
MANY = 4800
ROOM = World(size=5, objects=2, max_walls=1, step_limit=4)
SUBGOAL = {
    chance: World(size=5, objects=4, subgoal=True, max_walls=0, swap_probability=chance, step_limit=9)
    for chance in (0.0, 0.1, 1.0)
}
SUBGOAL_LEVEL = """
    A...B
    .....
    .*@..
    .....
    C...D
"""


def start(picture: str, world: World = ROOM) -> State:
    return reset_to_level(parse_level(picture, world))


def walk(state: State, *actions: int, world: World = ROOM):
    for action in actions:
        state, outcome = step(KEY, state, jnp.int32(action), world)
    return state, outcome


def happened(outcome: Outcome) -> set[str]:
    return {name for name in ("bumped", "swapped", "terminated", "truncated") if bool(getattr(outcome, name))}


def drawn(picture: str) -> str:
    return "\n".join(line.strip() for line in picture.strip().splitlines())


# --- One step


@pytest.mark.parametrize(
    ("action", "after"),
    [
        (UP, (". . @ . .", ". . . . .", ". . . . .")),
        (DOWN, (". . . . .", ". . . . .", ". . @ . .")),
        (LEFT, (". . . . .", ". @ . . .", ". . . . .")),
        (RIGHT, (". . . . .", ". . . @ .", ". . . . .")),
        (STAY, (". . . . .", ". . @ . .", ". . . . .")),
    ],
    ids=ACTIONS,
)
def test_each_action_moves_the_agent_by_one_cell(action, after):
    state, outcome = walk(start(".....\n.....\n..@..\n.....\nA...B"), action)
    rows = format_level(state, ROOM).splitlines()
    assert tuple(" ".join(row) for row in rows[1:4]) == after
    assert (rows[0], rows[4]) == (".....", "A...B")
    assert int(state.time) == 1
    assert int(outcome.action) == action
    assert int(outcome.consumed) == ABSENT
    assert happened(outcome) == set()


@pytest.mark.parametrize("action", [UP, DOWN, LEFT, RIGHT])
def test_walls_block_and_are_felt(action):
    before = start("A.#..\n.#@#.\n..#..\n.....\n....B")
    state, outcome = walk(before, action)
    assert int(state.agent_cell) == int(before.agent_cell) == 1 * 5 + 2
    assert happened(outcome) == {"bumped"}
    assert happened(walk(before, STAY)[1]) == set()


@pytest.mark.parametrize(
    ("picture", "off"),
    [
        ("@....\n.....\n.....\n.....\nA...B", {UP, LEFT}),
        ("....@\n.....\n.....\n.....\nA...B", {UP, RIGHT}),
        ("A...B\n.....\n.....\n.....\n@....", {DOWN, LEFT}),
        ("A...B\n.....\n.....\n.....\n....@", {DOWN, RIGHT}),
    ],
)
def test_the_edge_of_the_grid_is_a_wall(picture, off):
    before = start(picture)
    for action in range(len(ACTIONS)):
        state, outcome = walk(before, action)
        assert bool(outcome.bumped) == (action in off)
        assert (int(state.agent_cell) == int(before.agent_cell)) == (action in off | {STAY})


def test_eating_a_terminal_object_ends_the_episode():
    state, outcome = walk(start("A....\n.....\n..@B.\n.....\n....."), RIGHT)
    assert bool(outcome.terminated)
    assert not bool(outcome.truncated)
    assert bool(outcome.done)
    assert int(outcome.consumed) == 1  # B
    assert int(state.agent_cell) == 2 * 5 + 3


def test_the_step_limit_truncates_and_does_not_terminate():
    state = start("A....\n.....\n..@..\n.....\n....B")
    flags = []
    for _ in range(ROOM.step_limit):
        state, outcome = walk(state, STAY)
        flags.append((bool(outcome.truncated), bool(outcome.terminated)))
    assert flags == [(False, False)] * 3 + [(True, False)]


def test_an_object_eaten_on_the_last_step_terminates_and_does_not_truncate():
    _, outcome = walk(start("A....\n.....\n..@B.\n.....\n....."), STAY, STAY, STAY, RIGHT)
    assert bool(outcome.terminated)
    assert not bool(outcome.truncated)


# --- The subgoal and the swap


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_the_subgoal_is_eaten_without_ending_the_episode_and_is_gone(probability):
    world = SUBGOAL[probability]
    state, outcome = walk(start(SUBGOAL_LEVEL, world), LEFT, world=world)
    assert int(outcome.consumed) == 4
    assert not bool(outcome.done)
    assert int(state.object_cells[4]) == ABSENT
    _, again = walk(state, STAY, world=world)
    assert int(again.consumed) == ABSENT


def test_without_a_swap_only_the_subgoal_disappears():
    world = SUBGOAL[0.0]
    state, outcome = walk(start(SUBGOAL_LEVEL, world), LEFT, world=world)
    assert not bool(outcome.swapped)
    assert format_level(state, world) == drawn(SUBGOAL_LEVEL.replace("*@", "@."))


def test_a_certain_swap_draws_all_24_orders_of_the_terminal_objects_and_nothing_else():
    world, level = SUBGOAL[1.0], parse_level(SUBGOAL_LEVEL, SUBGOAL[1.0])
    states, outcomes = many_steps(world, LEFT, MANY)
    assert np.asarray(outcomes.swapped).all()
    orders, counts = np.unique(np.asarray(states.object_cells), axis=0, return_counts=True)
    terminal = np.asarray(level.object_cells)[:4].tolist()
    assert {tuple(row) for row in orders.tolist()} == {(*order, ABSENT) for order in permutations(terminal)}
    assert all(within(count / MANY, 1 / 24, 1 / 24, MANY) for count in counts)
    assert np.array_equal(np.asarray(states.walls), np.broadcast_to(level.walls, (MANY, 5, 5)))


@pytest.mark.parametrize("action", [UP, DOWN, RIGHT, STAY])
def test_nothing_is_swapped_unless_the_subgoal_is_eaten(action):
    states, outcomes = many_steps(SUBGOAL[1.0], action, MANY)
    assert not np.asarray(outcomes.swapped).any()
    assert (np.asarray(states.object_cells) == [0, 4, 20, 24, 11]).all()


def test_swaps_come_as_often_as_the_world_says():
    _, outcomes = many_steps(SUBGOAL[0.1], LEFT, MANY)
    assert within(np.asarray(outcomes.swapped).mean(), 0.1, 0.1 * 0.9, MANY)


def test_no_swap_leaves_the_terminal_objects_in_place():
    states, outcomes = many_steps(SUBGOAL[0.1], LEFT, MANY)
    still = np.asarray(states.object_cells)[~np.asarray(outcomes.swapped)]
    assert (still == [0, 4, 20, 24, ABSENT]).all()


@eqx.filter_jit
def _many_steps(keys, state, action, world):
    return jax.vmap(step, in_axes=(0, None, None, None))(keys, state, action, world)


def many_steps(world: World, action: int, count: int):
    """The same step from SUBGOAL_LEVEL with many keys."""
    return _many_steps(jax.random.split(KEY, count), start(SUBGOAL_LEVEL, world), jnp.int32(action), world)


# --- Other sizes and numbers of objects


@pytest.mark.parametrize(("size", "objects"), [(2, 3), (7, 1), (13, 6)])
def test_grids_of_other_sizes_with_other_numbers_of_objects(size, objects):
    world = World(size=size, objects=objects, max_walls=0, step_limit=3)
    bottom = "@" + "ABCDEF"[:objects] + "." * (size - 1 - objects) if size > objects else "@A"
    top = "BC" if size == 2 else "." * size
    state = start("\n".join([top] + ["." * size] * (size - 2) + [bottom]), world)
    state, outcome = walk(state, LEFT, world=world)
    assert bool(outcome.bumped)
    state, outcome = walk(state, RIGHT, world=world)
    assert int(outcome.consumed) == 0
    assert bool(outcome.terminated)
    assert int(state.agent_cell) == (size - 1) * size + 1


def test_a_swap_of_six_objects_is_a_permutation_of_them():
    """More than five objects are shuffled in another way than by a table of all orders."""
    world = World(size=13, objects=6, subgoal=True, max_walls=0, swap_probability=1.0)
    picture = ["." * 13] * 12 + ["@*ABCDEF....."]
    state = start("\n".join(picture), world)
    states, _ = _many_steps(jax.random.split(KEY, 50), state, jnp.int32(RIGHT), world)
    cells = np.asarray(states.object_cells)
    assert (np.sort(cells[:, :6], 1) == np.arange(12 * 13 + 2, 12 * 13 + 8)).all()
    assert (cells[:, 6] == ABSENT).all()
    assert len(np.unique(cells, axis=0)) > 40


def test_the_papers_worlds():
    """Appendix C: 11×11, up to 4 walls and 31 steps; with a subgoal, up to 6 walls and 51 steps."""
    assert (MAZE.size, MAZE.objects, MAZE.max_walls, MAZE.step_limit, MAZE.kinds) == (11, 4, 4, 31, 4)
    assert (SUBGOAL_MAZE.size, SUBGOAL_MAZE.objects, SUBGOAL_MAZE.max_walls) == (11, 4, 6)
    assert (SUBGOAL_MAZE.step_limit, SUBGOAL_MAZE.kinds, SUBGOAL_MAZE.swap_probability) == (51, 5, 0.1)
    assert ACTIONS == ("up", "down", "left", "right", "stay")


# --- Reset


def test_nothing_has_happened_before_the_first_action():
    outcome = nothing_yet()
    assert int(outcome.action) == int(outcome.consumed) == ABSENT
    assert happened(outcome) == set()


POOL = (
    "@....\n.....\n.....\n.....\nA...B",
    "A....\n..#..\n.....\n.@...\n....B",
    "A...B\n.....\n.....\n.....\n###@#",
)


@pytest.fixture(scope="module")
def auto_reset_states():
    """One step with auto-reset under 600 keys: one that ends the episode, one that does not; and the pool."""
    pool = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[parse_level(picture, ROOM) for picture in POOL])
    auto = eqx.filter_jit(jax.vmap(step_auto_reset, in_axes=(0, None, None, None, None)))
    state, keys = start("A....\n.....\n..@B.\n.....\n....."), jax.random.split(KEY, 600)
    ended, went_on = (auto(keys, state, jnp.int32(action), ROOM, pool) for action in (RIGHT, LEFT))
    return ended, went_on, pool


def test_auto_reset_starts_a_level_of_the_pool_drawn_at_random(auto_reset_states):
    (states, outcomes), _, pool = auto_reset_states
    assert np.asarray(outcomes.terminated).all()
    assert (np.asarray(outcomes.consumed) == 1).all()  # the outcome is still that of the step
    assert (np.asarray(states.time) == 0).all()
    chosen = (np.asarray(states.agent_cell)[:, None] == np.asarray(pool.start_cell)).argmax(1)
    for field in ("walls", "object_cells"):
        assert np.array_equal(np.asarray(getattr(states, field)), np.asarray(getattr(pool, field))[chosen])
    assert np.array_equal(np.asarray(states.agent_cell), np.asarray(pool.start_cell)[chosen])
    assert all(within((chosen == i).mean(), 1 / 3, 2 / 9, 600) for i in range(3))


def test_auto_reset_leaves_an_unfinished_episode_alone(auto_reset_states):
    _, (states, outcomes), _ = auto_reset_states
    assert not np.asarray(outcomes.done).any()
    assert (np.asarray(states.agent_cell) == 2 * 5 + 1).all()
    assert (np.asarray(states.time) == 1).all()


def test_a_batch_of_worlds_steps_as_each_does_alone():
    levels = sample_levels(KEY, ROOM, 8)
    states = jax.vmap(reset_to_level)(levels)
    actions, keys = jnp.arange(8) % 5, jax.random.split(KEY, 8)
    together = eqx.filter_jit(jax.vmap(step, in_axes=(0, 0, 0, None)))(keys, states, actions, ROOM)
    for i in range(8):
        alone = step(keys[i], pick(states, i), actions[i], ROOM)
        for batched, single in zip(jax.tree.leaves(pick(together, i)), jax.tree.leaves(alone), strict=True):
            assert np.array_equal(batched, single)


# --- Bad settings


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ({"size": 1}, "World.size"),
        ({"size": LARGEST_SIZE + 1}, "World.size"),
        ({"max_walls": -1}, "World.max_walls"),
        ({"objects": 0}, "World.objects"),
        ({"objects": 77}, "World.objects"),
        ({"objects": 76, "subgoal": True}, "World.objects"),
        ({"max_walls": 11}, "World.objects"),
        ({"swap_probability": -0.1}, "World.swap_probability"),
        ({"swap_probability": 1.1}, "World.swap_probability"),
        ({"swap_probability": float("nan")}, "World.swap_probability"),
        ({"step_limit": 0}, "World.step_limit"),
        ({"step_limit": 2**15}, "World.step_limit"),  # times and lengths are stored as 16-bit numbers
    ],
)
def test_rules_that_cannot_work_are_refused_by_name(setting, field):
    with pytest.raises(BadSetting) as refused:
        World(**setting)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field} = ")


def test_the_largest_number_of_objects_that_surely_fit_is_allowed():
    assert World(objects=76).kinds == 76  # 121 cells − 4 walls of 11 − the agent
    assert World(objects=75, subgoal=True).kinds == 76
