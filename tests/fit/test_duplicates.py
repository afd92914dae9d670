"""Copies are found however they are turned, and what only looks alike is not taken for one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from recordings.made_up import recordings, simple

from tomnet.fit.duplicates import digest
from tomnet.fit.symmetry import (
    SYMMETRIES,
    turned,
    turned_actions,
    turned_cells,
    turned_headings,
    usable_symmetries,
)
from tomnet.recordings.moves import Moves
from tomnet.recordings.recording import ACTIONS, HEADINGS, Recording

TURNS = ("turn-left", "turn-right", "forward")


def turn(symmetry: int, recording: Recording) -> Recording:
    cells = turned_cells(symmetry, *recording.size)
    headings = None if recording.headings is None else turned_headings(symmetry)[recording.headings]
    return replace(
        recording,
        agent="somebody else",
        episode="another",
        walls=turned(symmetry, recording.walls),
        cells=cells[recording.cells],
        object_cells=cells[recording.object_cells],
        headings=headings,
    )


@given(recordings())
def test_an_episode_turned_over_is_a_copy(recording):
    assert {digest(turn(symmetry, recording)) for symmetry in SYMMETRIES} == {digest(recording)}


@pytest.mark.parametrize(
    "change",
    [
        {"cells": np.array([0, 1, 1])},
        {"taken": np.array([-1, -1])},
        {"walls": np.array([[False, False, False], [False, False, False]])},
        {"object_cells": np.array([[2, 3], [2, 3], [-1, 3]])},
        {"objects": ("A", "C")},
        {"headings": np.array([1, 1, 1])},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_other_way_or_maze_is_none(change):
    assert digest(simple(**change)) != digest(simple())


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize(("names", "headed"), [(ACTIONS, False), (TURNS, True)])
def test_an_action_turned_over_leads_where_the_maze_turned_over_has_it(symmetry, names, headed):
    """Against the moves themselves, from every place of a maze without symmetries of its own."""
    level = ["..#.", "#...", ".#.."]
    walls = np.array([[letter == "#" for letter in row] for row in level])
    other = ["".join(".#"[wall] for wall in row) for row in turned(symmetry, walls).astype(int)]
    cells, headings = turned_cells(symmetry, *walls.shape), turned_headings(symmetry)
    actions = turned_actions(symmetry, names, headed)
    assert actions is not None

    def place(row, col, heading):
        row, col = divmod(int(cells[row * 4 + col]), len(other[0]))
        return row, col, None if heading is None else int(headings[heading])

    for row, col in np.argwhere(~walls).tolist():
        for heading in range(len(HEADINGS)) if headed else [None]:
            for number, name in enumerate(names):
                led = Moves(level, names).lead(name, (row, col, heading))
                then = Moves(other, names).lead(names[actions[number]], place(row, col, heading))
                assert led is not None
                assert then == place(*led)


def test_symmetries_that_change_the_size_or_the_meaning_of_an_action_are_not_used():
    assert usable_symmetries((5, 5), ACTIONS, False) == SYMMETRIES
    assert usable_symmetries((3, 5), ACTIONS, False) == (0, 1, 2, 3)
    assert usable_symmetries((5, 5), ("up", "down"), False) == (0, 1, 2, 3)
    assert usable_symmetries((5, 5), ("jump", "stay"), False) == (0,)
    assert usable_symmetries((5, 5), TURNS, False) == (0,)  # nobody knows where it faces
