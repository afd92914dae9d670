"""What is drawn where: a mirrored maze still looks like a maze, so it has to be checked."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

from tomnet.experiments.analysis.examples import PlainEpisode, PlainState
from tomnet.figures.gridworld import (
    draw_expected_objects,
    draw_occupancy,
    draw_policy_arrows,
    draw_query,
    draw_trajectory,
)
from tomnet.world.gridworld import World
from tomnet.world.levels import parse_level

WORLD = World(size=4, objects=2, max_walls=1)
LEVEL = parse_level(
    """
    .#.B
    ....
    A...
    ..@.
    """,
    WORLD,
)
STATE = PlainState(
    walls=np.asarray(LEVEL.walls).astype(int),
    agent_cell=int(LEVEL.start_cell),
    object_cells=np.asarray(LEVEL.object_cells).tolist(),
)
UP, LEFT, STAY = 0, 2, 4


@pytest.fixture
def axes():
    return Figure().subplots()


def arrows(axes) -> list[tuple[float, float, float, float]]:
    """(col, row, cols moved, rows moved) of every arrow."""
    (quiver,) = [artist for artist in axes.collections if isinstance(artist, Quiver)]
    return [tuple(map(float, arrow)) for arrow in zip(quiver.X, quiver.Y, quiver.U, quiver.V, strict=True)]


def letters(axes) -> dict[tuple[int, int], str]:
    return {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in axes.texts}


def test_a_level_is_drawn_the_way_it_is_written(axes):
    draw_query(axes, STATE)
    assert letters(axes) == {(2, 0): "A", (0, 3): "B"}
    (wall,) = axes.collections[0].get_paths()
    assert wall.get_extents().x0 == pytest.approx(0.5)  # col 1
    assert wall.get_extents().y1 == pytest.approx(0.5)  # row 0
    (agent,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert (agent.get_xdata()[0], agent.get_ydata()[0]) == (2, 3)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # row 0 on top


def test_an_absent_object_is_not_drawn(axes):
    draw_query(axes, replace(STATE, object_cells=[8, -1]))
    assert letters(axes) == {(2, 0): "A"}


def test_a_trajectory_points_where_the_agent_went(axes):
    draw_trajectory(axes, PlainEpisode(STATE.walls, [14, 10, 10, 9], STATE.object_cells, [UP, STAY, LEFT, LEFT], 8))
    assert arrows(axes) == [(2, 3, 0, -0.9), (2, 2, -0.9, 0), (1, 2, -0.5, 0)]  # the last stops short of A
    rings = [line for line in axes.lines if line.get_fillstyle() == "none"]
    assert [(list(ring.get_xdata()), list(ring.get_ydata())) for ring in rings] == [([2], [2])]


def test_policy_arrows_only_where_an_agent_can_stand(axes):
    down = np.zeros((16, 2))
    down[:, 0] = 1.0
    draw_policy_arrows(axes, STATE, down)
    found = arrows(axes)
    assert len(found) == 16 - 1 - 2  # a wall and two objects
    assert {(row, col) for col, row, *_ in found}.isdisjoint({(0, 1), (2, 0), (0, 3)})
    assert all(arrow[2:] == (0, 0.9) for arrow in found)


def test_the_most_probable_object_of_each_cell(axes):
    expected = np.tile([0.2, 0.6], (16, 1))
    expected[4] = [0.9, 0.05]  # row 1, col 0
    expected[15] = 0.0  # nothing is ever eaten from here
    draw_expected_objects(axes, STATE, expected)
    marks = [artist for artist in axes.collections if isinstance(artist, PathCollection)]
    found = {(int(row), int(col)): mark.get_label() for mark in marks for col, row in mark.get_offsets()}
    assert found[1, 0] == "A"
    assert found[3, 0] == "B"
    assert (3, 3) not in found
    assert (0, 1) not in found  # a wall


def test_occupancy_spares_the_walls(axes):
    share = np.full((4, 4), 1 / 16)
    draw_occupancy(axes, STATE, share, largest=0.1)
    mesh = axes.collections[-1]
    assert mesh.get_array().mask.reshape(4, 4).tolist() == STATE.walls.astype(bool).tolist()
