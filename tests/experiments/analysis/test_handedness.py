"""Which hand an agent has at the wall, for walks that a reader can follow."""

import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DOWN, LEFT, RIGHT, STAY, UP, around

from tomnet.episodes.episode import NONE, Episode
from tomnet.experiments.analysis.handedness import Hands, cells_after, handedness, index, moves_along_walls


def walk(start: int, actions: list[int], picture: str = "\n".join(["....."] * 5), padding: int = 3) -> Episode:
    """One episode in which those actions were taken, with a leading axis of one."""
    walls = np.array([list(row.strip()) for row in picture.strip().splitlines()]) == "#"
    cells = [start]
    for action in actions:
        there = around(5, cells[-1])[action]
        cells.append(cells[-1] if there is None or walls.reshape(-1)[there] else there)
    time = len(actions) + padding
    return Episode(
        walls=jnp.asarray(walls)[None],
        agent_cells=jnp.asarray((cells[:-1] + [cells[-1]] * padding), jnp.int16)[None],
        object_cells=jnp.full((1, time, 1), NONE, jnp.int16),
        actions=jnp.asarray(actions + [NONE] * padding, jnp.int8)[None],
        consumed=jnp.full((1, time), NONE, jnp.int8),
        final_cell=jnp.asarray([cells[-1]], jnp.int16),
        length=jnp.asarray([len(actions)], jnp.int16),
    )


def counts(*args) -> tuple[int, int]:
    left, right = moves_along_walls(walk(*args))
    return int(left[0]), int(right[0])


CLOCKWISE = [RIGHT] * 4 + [DOWN] * 4 + [LEFT] * 4 + [UP] * 4


def test_clockwise_along_the_edge_is_the_left_hand_at_the_wall():
    assert counts(0, CLOCKWISE) == (16, 0)
    assert counts(0, CLOCKWISE, "\n".join(["....."] * 5), 0) == (16, 0)


def test_anticlockwise_is_the_right_hand():
    anticlockwise = [DOWN] * 4 + [RIGHT] * 4 + [UP] * 4 + [LEFT] * 4
    assert counts(0, anticlockwise) == (0, 16)


def test_round_a_block_the_hands_are_the_other_way():
    block = ".....\n.....\n..#..\n.....\n....."
    assert counts(11, [UP], block) == (0, 0)
    wide = ".....\n.....\n.##..\n.....\n....."
    assert counts(6, [RIGHT], wide) == (0, 1)  # the block lies below, at the right hand
    assert counts(7, [LEFT], wide) == (1, 0)


def test_moves_in_the_open_in_corridors_and_against_walls_do_not_count():
    assert counts(11, [RIGHT, RIGHT]) == (0, 0)
    assert counts(10, [RIGHT, RIGHT], ".....\n#####\n.....\n#####\n.....") == (0, 0)
    assert counts(0, [UP, LEFT, STAY]) == (0, 0)


def test_coming_to_a_wall_is_not_walking_along_it():
    assert counts(5 * 2 + 1, [LEFT, UP]) == (1, 0)  # only the second has the edge at its left before and after


def test_the_last_action_leads_to_the_final_cell_and_padding_stays_there():
    episode = walk(0, [RIGHT, DOWN])
    assert cells_after(episode)[0].tolist() == [1, 6, 6, 6, 6]


def test_the_index_is_signed_and_none_where_nobody_walked_along_a_wall():
    assert index(np.array([3, 3]), np.array([2, 0])) == pytest.approx(0.5)
    assert index(np.array([0]), np.array([4])) == -1
    assert np.isnan(index(np.zeros(2), np.zeros(2)))
    table = handedness([(np.array([4, 4]), np.array([0, 0])), (np.array([0, 1]), np.array([3, 2])), (np.zeros(2),) * 2])
    assert [row.moves for row in table.each] == [8, 6, 0]
    assert table.each[0].index.interval == (1.0, 1.0)
    assert table.each[1].index.mean == pytest.approx(-2 / 3)
    assert table.mean.mean == pytest.approx(1 / 6)
    assert table.size.mean == pytest.approx(5 / 6)
    assert table.hands == {}


def test_hands_are_counted_apart_for_training_and_held_out_networks():
    left, right, neither = (
        (np.array(counts[0]), np.array(counts[1])) for counts in (([3], [1]), ([0], [2]), ([1], [1]))
    )
    table = handedness([left, right, neither, left], ("training", "held out", "training", "training"))
    assert [row.part for row in table.each] == ["training", "held out", "training", "training"]
    assert table.hands == {"training": Hands(left=2, right=0), "held out": Hands(left=0, right=1)}
    with pytest.raises(ValueError, match="shorter"):
        handedness([left, right], ("training",))
