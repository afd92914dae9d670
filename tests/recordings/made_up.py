"""Recordings of any kind, made up: what no world would do included, as long as it can be written down."""

import numpy as np
from hypothesis import strategies as st

from tomnet.recordings.recording import ACTIONS, NOTHING, NOWHERE, UNKNOWN, Recording

ACTION_SETS = [ACTIONS, ("turn-left", "turn-right", "forward"), ("jump", "stay", "up"), ("a",), ACTIONS[::-1]]
NAMES = st.text("abcXYZ059 _-é", min_size=1, max_size=8).filter(lambda name: name == name.strip())
LETTERS = "AABC*zé"


@st.composite
def recordings(draw, largest: int = 6, longest: int = 8) -> Recording:
    rows, cols = draw(st.integers(1, largest)), draw(st.integers(2, largest))
    steps = draw(st.integers(1, longest))
    walls = np.array(draw(st.lists(st.booleans(), min_size=rows * cols, max_size=rows * cols))).reshape(rows, cols)
    free = np.flatnonzero(~walls.reshape(-1)).tolist()
    if not free:
        walls[0, 0], free = False, [0]
    cells = draw(st.lists(st.sampled_from(free), min_size=steps + 1, max_size=steps + 1))
    names = draw(st.sampled_from(ACTION_SETS))
    actions = draw(st.lists(st.integers(UNKNOWN, len(names) - 1), min_size=steps, max_size=steps))
    headings = st.lists(st.integers(0, 3), min_size=steps + 1, max_size=steps + 1)
    objects = draw(st.lists(st.sampled_from(LETTERS), max_size=4))
    places = st.lists(st.sampled_from([NOWHERE, *free]), min_size=len(objects), max_size=len(objects))
    object_cells = np.array([draw(places) for _ in range(steps + 1)], np.int64).reshape(steps + 1, len(objects))
    object_cells[0] = _apart(object_cells[0], cells[0])
    if draw(st.booleans()):  # most objects stay where they are
        object_cells[1:] = object_cells[0]
    return Recording(
        agent=draw(NAMES),
        episode=draw(NAMES),
        walls=walls,
        objects=tuple(objects),
        action_names=names,
        actions=np.array(actions),
        cells=np.array(cells),
        object_cells=object_cells,
        taken=np.array([_taken(draw, object_cells[step], cells[step + 1], cols) for step in range(steps)]),
        headings=np.array(draw(headings)) if draw(st.booleans()) else None,
    )


def _apart(cells: np.ndarray, agent: int) -> list[int]:
    """At the start there is one thing in a cell."""
    seen, apart = {agent}, []
    for cell in cells.tolist():
        apart.append(NOWHERE if cell in seen else cell)
        seen.add(cell)
    return apart


def _taken(draw, cells: np.ndarray, reached: int, cols: int) -> int:
    row, col = divmod(reached, cols)
    near = [
        number
        for number, cell in enumerate(cells.tolist())
        if cell != NOWHERE and abs(cell // cols - row) + abs(cell % cols - col) <= 1
    ]
    return draw(st.sampled_from([NOTHING, *near]))


def simple(agent: str = "ann", episode: str = "1", **changes) -> Recording:
    """Two steps to the right, onto A; row 1 has a wall and B."""
    fields = {
        "walls": np.array([[False, False, False], [False, True, False]]),
        "objects": ("A", "B"),
        "actions": np.array([3, 3]),
        "cells": np.array([0, 1, 2]),
        "object_cells": np.array([[2, 5], [2, 5], [-1, 5]]),
        "taken": np.array([-1, 0]),
    }
    return Recording(agent=agent, episode=episode, **(fields | changes))


SIMPLE_TEXT = "@.A\n.#B\n\nright\nright\ntook A\n"
