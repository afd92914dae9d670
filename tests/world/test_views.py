"""What an agent sees, against a plain double loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import sample_levels

from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import World, reset_to_level
from tomnet.world.levels import parse_level
from tomnet.world.views import FIRST_OBJECT, FREE, PLANES, WALL, field, observation, window

WORLD = World(size=5, objects=2, max_walls=1)

see = eqx.filter_jit(window)


def seen_from(walls, agent_cell: int, object_cells, width: int) -> np.ndarray:
    """The window, cell by cell."""
    row, col = divmod(agent_cell, 5)
    codes = np.full((width, width), WALL)
    for i in range(width):
        for j in range(width):
            r, c = row + i - width // 2, col + j - width // 2
            if 0 <= r < 5 and 0 <= c < 5:
                here = [FIRST_OBJECT + k for k, cell in enumerate(object_cells) if cell == r * 5 + c]
                codes[i, j] = here[0] if here else WALL if walls[r, c] else FREE
    return codes


@pytest.mark.parametrize("width", [1, 3, 11])
def test_the_window_holds_what_lies_around_the_agent(width):
    states = jax.vmap(reset_to_level)(sample_levels(jax.random.key(1), WORLD, 40))
    windows = np.asarray(eqx.filter_jit(jax.vmap(window, in_axes=(0, None)))(states, width))
    walls, agents, objects = map(np.asarray, (states.walls, states.agent_cell, states.object_cells))
    for i in range(40):
        assert np.array_equal(windows[i], seen_from(walls[i], int(agents[i]), objects[i], width))


def test_a_window_at_the_edge_sees_walls_outside_and_keeps_rows_and_cols_apart():
    state = reset_to_level(parse_level(".@A..\n#....\n..B..\n.....\n.....", WORLD))
    a, b = FIRST_OBJECT, FIRST_OBJECT + 1
    expected = [
        [WALL, WALL, WALL, WALL, WALL],
        [WALL, WALL, WALL, WALL, WALL],
        [WALL, FREE, FREE, a, FREE],
        [WALL, WALL, FREE, FREE, FREE],
        [WALL, FREE, FREE, b, FREE],
    ]
    assert np.asarray(see(state, 5)).tolist() == expected


def test_an_absent_object_is_seen_nowhere():
    state = reset_to_level(parse_level("@....\n.....\n.....\n.....\n....A", WORLD))
    assert FIRST_OBJECT + 1 not in np.asarray(see(state, 11))


@pytest.mark.parametrize("width", [0, 2, 4, -1, 13])
def test_an_even_or_oversized_field_of_view_is_refused(width):
    state = reset_to_level(parse_level("@....\n.....\n.....\n.....\n....A", WORLD))
    with pytest.raises(BadSetting, match=f"field of view = {width}: must be odd and between 1 and 11"):
        window(state, width)


# --- As planes over the whole map, for agents with networks


@pytest.mark.parametrize("reach", [0, 1, 4])
def test_a_field_holds_the_cells_within_reach_on_both_axes(reach):
    look = jax.jit(jax.vmap(lambda cell, reach: field(cell, reach, 5), in_axes=(0, None)))
    seen = np.asarray(look(jnp.arange(25), jnp.int32(reach)))
    for cell in range(25):
        for other in range(25):
            rows, cols = abs(cell // 5 - other // 5), abs(cell % 5 - other % 5)
            assert seen[cell, other // 5, other % 5] == (max(rows, cols) <= reach)


def test_the_blind_have_no_field():
    assert not np.asarray(jax.vmap(lambda cell: field(cell, jnp.int32(-1), 5))(jnp.arange(25, dtype=jnp.int16))).any()


@pytest.mark.parametrize("reach", [-1, 1, 9])
def test_an_observation_holds_each_cell_in_one_plane(reach):
    """Against a loop over cells: empty, wall, object, agent, or not to be seen."""
    states = jax.vmap(reset_to_level)(sample_levels(jax.random.key(2), WORLD, 20))
    look = jax.jit(jax.vmap(lambda state: observation(state, field(state.agent_cell, jnp.int32(reach), 5))))
    planes = np.asarray(look(states))
    assert planes.shape == (20, 5, 5, WORLD.kinds + PLANES)
    assert (planes.sum(-1) == 1).all()
    walls, agents, objects = map(np.asarray, (states.walls, states.agent_cell, states.object_cells))
    empty, wall, first, agent, unseen = 0, 1, 2, WORLD.kinds + 2, WORLD.kinds + 3
    for i in range(20):
        for cell in range(25):
            row, col = divmod(cell, 5)
            far = max(abs(row - agents[i] // 5), abs(col - agents[i] % 5)) > reach
            here = [first + k for k, place in enumerate(objects[i]) if place == cell]
            stands = agent if cell == agents[i] else here[0] if here else wall if walls[i, row, col] else empty
            assert planes[i, row, col].argmax() == (unseen if far else stands)


def test_an_object_that_was_eaten_is_in_no_plane():
    state = reset_to_level(parse_level("@....\n.....\n.....\n.....\n....A", WORLD))
    planes = np.asarray(observation(state, jnp.ones((5, 5), bool)))
    assert planes[..., 2].sum() == 1
    assert planes[..., 3].sum() == 0
