"""Levels: random ones keep their promises, drawn ones mean what they show."""

from contextlib import suppress

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import distances_to, sample_level, sample_levels, step, within
from hypothesis import given, settings
from hypothesis import strategies as st

from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import ABSENT, MAZE, Level, World, reset_to_level
from tomnet.world.levels import format_level, line, parse_level, reset

WORLDS = [
    MAZE,
    World(size=5, objects=2, max_walls=1, step_limit=4),
    World(size=7, objects=4, subgoal=True, max_walls=6, swap_probability=0.1),
    World(size=2, objects=3, max_walls=0),  # every cell is taken
]
SEEDS = st.integers(0, 2**31 - 1)
SMALL = World(size=5, objects=2, max_walls=1)
WITH_SUBGOAL = World(size=5, objects=2, subgoal=True, max_walls=1)

lines = eqx.filter_jit(line)


# --- Random levels


def test_reset_starts_a_sampled_level_at_time_zero():
    state = eqx.filter_jit(reset)(jax.random.key(0), SMALL)
    assert int(state.time) == 0
    assert not bool(state.walls.reshape(-1)[state.agent_cell])
    assert len({int(state.agent_cell), *map(int, state.object_cells)}) == 3


@given(SEEDS, st.sampled_from(WORLDS))
def test_objects_and_start_are_on_distinct_free_cells(seed, world):
    level = sample_level(jax.random.key(seed), world)
    taken = [*np.asarray(level.object_cells).tolist(), int(level.start_cell)]
    assert len(taken) == len(set(taken)) == world.kinds + 1
    assert all(0 <= cell < world.cells for cell in taken)
    assert not np.asarray(level.walls).reshape(-1)[taken].any()


@given(SEEDS, st.sampled_from(WORLDS))
def test_there_are_no_more_wall_cells_than_the_longest_walls_have(seed, world):
    walls = np.asarray(sample_level(jax.random.key(seed), world).walls)
    assert walls.shape == (world.size, world.size)
    assert walls.sum() <= world.max_walls * world.size


@given(SEEDS, st.sampled_from(WORLDS))
def test_a_level_survives_being_drawn_and_read(seed, world):
    level = sample_level(jax.random.key(seed), world)
    again = parse_level(format_level(level, world), world)
    for field in ("walls", "object_cells", "start_cell"):
        assert np.array_equal(np.asarray(getattr(level, field)), np.asarray(getattr(again, field)))


@pytest.fixture(scope="module")
def many_levels():
    return sample_levels(jax.random.key(3), MAZE, 4000)


def test_every_number_of_walls_from_none_to_the_most_is_equally_likely(many_levels):
    """Checked against a plain sampler: the share of empty levels, and how many cells are walls."""
    random, cells = np.random.default_rng(0), []
    for _ in range(4000):
        walls = np.zeros((11, 11), bool)
        for _ in range(random.integers(0, MAZE.max_walls, endpoint=True)):
            (row, col), (last_row, last_col) = random.integers(0, 11, (2, 2))
            steps = max(abs(last_row - row), abs(last_col - col)) + 1
            along = np.linspace([row, col], [last_row, last_col], steps).round().astype(int)
            walls[along[:, 0], along[:, 1]] = True
        cells.append(walls.sum())
    sampled = np.asarray(many_levels.walls).sum((1, 2))
    assert within((sampled == 0).mean(), 1 / 5, 4 / 25, 4000)
    assert within(sampled.mean(), np.mean(cells), np.var(cells), 2000)
    assert within((sampled > 20).mean(), np.mean(np.array(cells) > 20), 0.25, 2000)


def test_objects_and_agent_are_equally_likely_in_every_cell_of_an_empty_level(many_levels):
    empty = np.asarray(~many_levels.walls.any((1, 2)))
    placed = np.column_stack([many_levels.object_cells, many_levels.start_cell])[empty]
    rows, cols = placed // 11, placed % 11
    for each in (*rows.T, *cols.T):
        assert within(each.mean(), 5.0, 10.0, len(each))  # uniform on 0…10
    assert len(np.unique(placed)) == 121


def test_walls_may_trap_the_agent(many_levels):
    """As in the paper: some levels leave nothing in reach, and some leave only a part of the objects."""
    in_reach = []
    for i in range(400):
        found = distances_to(int(many_levels.start_cell[i]), np.asarray(many_levels.walls[i]))
        in_reach.append(sum(int(cell) in found for cell in many_levels.object_cells[i]))
    assert set(in_reach) == {0, 1, 2, 3, 4}


# --- Walls are lines


@given(st.tuples(*[st.integers(0, 8)] * 4))
def test_a_wall_runs_straight_from_end_to_end_without_a_break(ends):
    cells = np.asarray(lines(jnp.array(ends).reshape(2, 2), 9))
    points = np.column_stack([cells // 9, cells % 9])
    first, last = np.array(ends[:2]), np.array(ends[2:])
    assert np.array_equal(points[0], first)
    assert np.array_equal(points[-1], last)
    assert (np.abs(np.diff(points, axis=0)).max(1) <= 1).all()
    length = max(np.abs(last - first).max(), 1)
    along = np.minimum(np.arange(9), length)[:, None] / length
    assert (np.abs(points - (first + along * (last - first))).max(1) <= 0.5).all()


@given(st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_no_one_slips_through_a_wall_that_spans_the_grid(one_end, other_end, upright):
    """From top to bottom, or from left to right, at any slant: the two sides stay apart."""
    ends = jnp.array([[0, one_end], [8, other_end]])
    cells = np.asarray(lines(ends if upright else ends[:, ::-1], 9))
    walls = np.zeros((9, 9), bool)
    walls.reshape(-1)[cells] = True
    sides = walls if upright else walls.T
    before = [divmod(cell, 9) for cell in distances_to_all(sides)]
    for row, col in before:
        assert col < np.flatnonzero(sides[row]).min()


def distances_to_all(walls: np.ndarray) -> set[int]:
    """Every cell in reach of the left edge."""
    found: set[int] = set()
    for row in np.flatnonzero(~walls[:, 0]):
        found |= distances_to(int(row) * 9, walls).keys()
    return found


def test_an_agent_cannot_step_between_the_cells_of_a_diagonal_wall():
    world = World(size=5, objects=1, max_walls=1, step_limit=99)
    state = reset_to_level(parse_level("@...#\n...#.\n..#..\n.#...\n#...A", world))
    random = np.random.default_rng(0)
    for action in random.integers(0, 5, 99):
        state, outcome = step(jax.random.key(0), state, jnp.int32(action), world)
        row, col = divmod(int(state.agent_cell), 5)
        assert row + col < 4
        assert not bool(outcome.terminated)


# --- Drawn levels


def test_a_drawn_level_is_read_as_it_looks():
    """Rows and cols are told apart: the level is not symmetric."""
    level = parse_level(
        """
        #..*.
        .@...
        ....B
        .#...
        A....
        """,
        WITH_SUBGOAL,
    )
    assert np.argwhere(np.asarray(level.walls)).tolist() == [[0, 0], [3, 1]]
    assert np.asarray(level.object_cells).tolist() == [4 * 5 + 0, 2 * 5 + 4, 0 * 5 + 3]
    assert int(level.start_cell) == 1 * 5 + 1


def test_an_object_that_is_not_drawn_is_absent():
    level = parse_level("@....\n.....\n.....\n.....\n....B", SMALL)
    assert np.asarray(level.object_cells).tolist() == [ABSENT, 24]


def test_a_picture_of_a_state_shows_the_agent_where_it_stands_and_leaves_out_what_was_eaten():
    level = parse_level(".*@..\n.....\n.....\n.....\nA...B", WITH_SUBGOAL)
    state, _ = step(jax.random.key(0), reset_to_level(level), jnp.int32(2), WITH_SUBGOAL)
    assert format_level(state, WITH_SUBGOAL) == ".@...\n.....\n.....\n.....\nA...B"


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        ("@..\n...\nA.B", "level = 3 rows of 3: this world has 5 rows of 5"),
        ("@....\n.....\n....\n.....\nA...B", "level = 5 rows of 4 or 5: this world has 5 rows of 5"),
        ("@....\n.....\n.....\n.....\nA...B\n.....", "level = 6 rows of 5: this world has 5 rows of 5"),
        ("@....\n.....\n..?..\n.....\nA...B", "level = '?': in row 2, col 2; expected one of # . @ A B"),
        ("@....\n.....\n.....\n....C\nA...B", "level = 'C': in row 3, col 4; expected one of # . @ A B"),
        ("@....\n*....\n.....\n.....\nA...B", "level = '*': in row 1, col 0; expected one of # . @ A B"),
        ("@....\n.....\n..a..\n.....\nA...B", "level = 'a': in row 2, col 2; expected one of # . @ A B"),
        ("@....\n.....\n.....\n.....\nA...@", "level = '@': drawn 2 times; once is right"),
        (".....\n.....\n.....\n.....\nA...B", "level = '@': drawn 0 times; once is right"),
        ("@....\n.....\n.....\nA....\nA...B", "level = 'A': drawn 2 times; once is right"),
    ],
)
def test_a_bad_drawing_is_refused_with_the_place_and_the_reason(picture, message):
    with pytest.raises(BadSetting) as refused:
        parse_level(picture, SMALL)
    assert str(refused.value) == message


def test_an_empty_drawing_is_refused():
    with pytest.raises(BadSetting, match="this world has 5 rows of 5"):
        parse_level("", SMALL)


@settings(max_examples=200)
@given(
    st.text(alphabet="#.@AB*\n x?é\x00", max_size=40)
    | st.lists(st.text(alphabet="#.@AB?", min_size=5, max_size=5), min_size=5, max_size=5).map("\n".join)
)
def test_any_text_is_a_level_or_is_refused(text):
    """Never another error than ours. Rows of the right shape come up often enough to reach every check."""
    with suppress(BadSetting):
        assert parse_level(text, SMALL).walls.shape == (5, 5)


def test_more_objects_than_letters_cannot_be_drawn():
    world = World(objects=27)
    level = Level(jnp.zeros((11, 11), bool), jnp.arange(27, dtype=jnp.int16), jnp.int16(120))
    with pytest.raises(BadSetting, match="26"):
        format_level(level, world)
    with pytest.raises(BadSetting, match="26"):
        parse_level("\n".join(["." * 11] * 10 + ["@" + "." * 10]), world)
