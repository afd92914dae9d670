"""A recording: what was seen of one episode of one agent in a grid maze, whoever recorded it.

Whatever becomes a `Recording` has passed `check`: readers, recorders and code that makes one by hand go through the
same door. Later code may index with what it finds in here without looking again.
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Any, no_type_check

import numpy as np
from jaxtyping import Bool, Int

from ..support.words import counted
from .bad_recording import BadRecording, said

ACTIONS = ("up", "down", "left", "right", "stay")  # what a recording without named actions has
HEADINGS = ("up", "right", "down", "left")  # clockwise, so that a turn to the right is one further
WALL, FREE, AGENT, SUBGOAL = "#", ".", "@", "*"

UNKNOWN = -1  # an action that nobody recorded and that no single action explains
NOWHERE = -1  # the cell of an object that is not in the maze, or not any more
NOTHING = -1  # taken by a step

LARGEST_SIDE = 32
MOST_STEPS = 10_000
MOST_OBJECTS = MOST_ACTIONS = 127  # `taken` and `actions` hold 8 bits
LONGEST_NAME, NAME_BYTES = 100, 240  # file systems allow 255 bytes, of which the ending takes some

ACTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,31}")
RESERVED = ("took", "moved", "gone", "nothing")  # words of the text format


@no_type_check  # whoever makes one is answered by `check`, in tests too
@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """One episode: a state, an action, a state, … There is one state more than there are actions.

    A cell is `row * cols + col`. `objects` has a letter for each object (`*` is a subgoal); several may share a letter.
    They are kept in one order, by letter and then as one reads the maze, so that equal episodes are equal.
    All arrays are read-only.

    >>> recording = tomnet.Recording(
    ...     agent="ann",
    ...     episode="monday",
    ...     walls=numpy.array([[False, False, False], [False, True, False]]),
    ...     objects=("A",),
    ...     actions=numpy.array([3, 3]),
    ...     cells=numpy.array([0, 1, 2]),
    ...     object_cells=numpy.array([[2], [2], [-1]]),
    ...     taken=numpy.array([-1, 0]),
    ... )
    >>> recording.action_names[recording.actions[0]], recording.size, recording.took
    ('right', (2, 3), ('A',))
    """

    agent: str  # who acted
    episode: str  # a name for it, one of its own for each episode of an agent
    walls: Bool[np.ndarray, "row col"]
    objects: tuple[str, ...]
    action_names: tuple[str, ...] = ACTIONS
    actions: Int[np.ndarray, "time"]  # numbers of names, or UNKNOWN
    cells: Int[np.ndarray, "time+1"]  # of the agent
    object_cells: Int[np.ndarray, "time+1 object"]  # or NOWHERE
    taken: Int[np.ndarray, "time"]  # the object that the action took, or NOTHING
    headings: Int[np.ndarray, "time+1"] | None = None  # numbers of HEADINGS, where the agent faces somewhere

    def __post_init__(self):
        check(self)
        for name in ("agent", "episode"):  # numpy has texts of its own, which are printed as such
            object.__setattr__(self, name, str(getattr(self, name)))
        for name in ("objects", "action_names"):
            object.__setattr__(self, name, tuple(str(each) for each in getattr(self, name)))
        for name, dtype in DTYPES.items():
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, _frozen(array, dtype))
        _put_objects_in_order(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recording):
            return NotImplemented
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __len__(self) -> int:
        """Steps."""
        return len(self.actions)

    @property
    def size(self) -> tuple[int, int]:
        """Rows and cols."""
        rows, cols = self.walls.shape
        return rows, cols

    @property
    def took(self) -> tuple[str, ...]:
        """The letters of what was taken, in that order."""
        return tuple(self.objects[number] for number in self.taken if number != NOTHING)

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in DTYPES if getattr(self, name) is not None)

    def step(self, time: int) -> "SingleStep":
        """One step by itself, counted from 0: a state and an action, as observers of snapshots see them."""
        if not is_step(time, self):
            raise BadRecording("time", f"0 to {len(self) - 1}, the steps of {self.episode}", time)
        states, steps = slice(time, time + 2), slice(time, time + 1)
        own = {
            "episode": f"{self.episode}-{time}",
            "actions": self.actions[steps],
            "cells": self.cells[states],
            "object_cells": self.object_cells[states],
            "taken": self.taken[steps],
            "headings": None if self.headings is None else self.headings[states],
        }
        return SingleStep(**{field.name: getattr(self, field.name) for field in fields(self)} | own)

    def of(self, agent: str, episode: str) -> "Recording":
        """The same under another name."""
        return replace(self, agent=agent, episode=episode)


class SingleStep(Recording):
    """One step of an episode by itself, which whoever reads whole episodes must not take for one. As a recording it is
    the same as one of an episode that lasted for a step, and read from a file it is that."""


DTYPES = {
    "walls": np.bool_,
    "actions": np.int8,
    "cells": np.int16,
    "object_cells": np.int16,
    "taken": np.int8,
    "headings": np.int8,
}


def _frozen(array: np.ndarray, dtype: Any) -> np.ndarray:
    if array.dtype != dtype or array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = array.astype(dtype, order="C")  # a copy: nobody else can write to it
        array.flags.writeable = False
    return array


def _same(mine: Any, other: Any) -> bool:
    return (
        np.array_equal(mine, other) if isinstance(mine, np.ndarray) and isinstance(other, np.ndarray) else mine == other
    )


def _put_objects_in_order(recording: Recording) -> None:
    """By letter, then by when and where an object is first seen; what is never seen is no object of this episode."""
    cells, objects = recording.object_cells, recording.objects
    there = cells != NOWHERE
    if there[0].all():
        keys = [(letter, 0, cell) for letter, cell in zip(objects, cells[0].tolist())]
    else:
        first = there.argmax(0)
        keys = [
            (letter, time, int(cells[time, number]))
            for number, (letter, time) in enumerate(zip(objects, first.tolist()))
        ]
    order = sorted((number for number, key in enumerate(keys) if key[2] != NOWHERE), key=keys.__getitem__)
    if order == list(range(len(objects))):
        return
    rank = np.full(len(objects) + 1, NOTHING, np.int8)  # the last stands for NOTHING, which is -1
    rank[order] = np.arange(len(order))
    object.__setattr__(recording, "objects", tuple(objects[number] for number in order))
    object.__setattr__(recording, "object_cells", _frozen(cells[:, order], np.int16))
    object.__setattr__(recording, "taken", _frozen(rank[recording.taken], np.int8))


# --- The check at the door


def check(recording: Recording) -> None:
    """Everything that must be true of a recording, or a `BadRecording`. Later checks rely on earlier ones."""
    check_name("agent", recording.agent)
    check_name("episode", recording.episode)
    _check_kinds(recording)
    _check_shapes(recording)
    check_action_names(recording.action_names)
    for letter in recording.objects:
        check_letter(letter)
    _check_values(recording)


def check_name(field: str, name: object) -> None:
    """Names become names of files and folders, so none may lead anywhere else."""
    expected = f"a name of 1 to {LONGEST_NAME} printable characters without / or \\ that does not begin with a dot"
    if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME:
        raise BadRecording(field, expected, name)
    if name != name.strip() or name.startswith(".") or "/" in name or "\\" in name or len(name.encode()) > NAME_BYTES:
        raise BadRecording(field, expected, name)


def check_action_names(names: object) -> None:
    if not isinstance(names, tuple) or not 1 <= len(names) <= MOST_ACTIONS:
        found = said(f"{len(names)}") if isinstance(names, tuple) else names
        raise BadRecording("actions", f"1 to {MOST_ACTIONS} names", found)
    for name in names:
        if not isinstance(name, str) or not ACTION_NAME.fullmatch(name) or name in RESERVED:
            expected = (
                f"a word such as turn-left, of up to 32 letters, digits, - and _, and none of {', '.join(RESERVED)}"
            )
            raise BadRecording("actions", expected, name)
        if names.count(name) > 1:
            raise BadRecording("actions", "every action once", said(f"{name} {names.count(name)} times"))


def check_letter(letter: object) -> None:
    if not isinstance(letter, str) or len(letter) != 1 or not (letter.isalpha() or letter == SUBGOAL):
        raise BadRecording("objects", f"a single letter, or {SUBGOAL} for a subgoal", letter)


def check_heading(heading: object) -> None:
    if heading is not None and heading not in HEADINGS:
        raise BadRecording("heading", f"one of {', '.join(HEADINGS)}", heading)


def check_inside(field: str, cell: tuple[int, int], size: tuple[int, int], *, line: int | None = None) -> None:
    """That there is such a cell, before it becomes a number."""
    (row, col), (rows, cols) = cell, size
    if not (0 <= row < rows and 0 <= col < cols):
        expected = f"a cell of {counted(rows, 'row')} and {counted(cols, 'col')}, counted from 0"
        raise BadRecording(field, expected, said(f"{row} {col}"), line=line)


def check_grid(walls: np.ndarray) -> None:
    if walls.ndim != 2 or not all(1 <= side <= LARGEST_SIDE for side in walls.shape):
        raise BadRecording("walls", f"a grid of 1 to {LARGEST_SIDE} rows and cols", said(f"shape {walls.shape}"))


def _check_kinds(recording: Recording) -> None:
    for name, dtype in DTYPES.items():
        array = getattr(recording, name)
        if name == "headings" and array is None:
            continue
        kinds, wanted = ("b", "true or false") if dtype is np.bool_ else ("iu", "whole numbers")
        if not isinstance(array, np.ndarray):
            raise BadRecording(name, "a numpy array", said(type(array).__name__))
        if array.dtype.kind not in kinds:
            raise BadRecording(name, wanted, said(str(array.dtype)))


def _check_shapes(recording: Recording) -> None:
    check_grid(recording.walls)
    steps = recording.actions.size
    if recording.actions.ndim != 1 or not 1 <= steps <= MOST_STEPS:
        raise BadRecording("actions", f"1 to {MOST_STEPS} steps", said(f"shape {recording.actions.shape}"))
    if not isinstance(recording.objects, tuple) or len(recording.objects) > MOST_OBJECTS:
        raise BadRecording("objects", f"a tuple of up to {MOST_OBJECTS} letters", recording.objects)
    shapes = {"cells": (steps + 1,), "object_cells": (steps + 1, len(recording.objects)), "taken": (steps,)}
    for name, shape in (shapes | {"headings": (steps + 1,)}).items():
        array = getattr(recording, name)
        if array is not None and array.shape != shape:
            raise BadRecording(name, f"shape {shape}, one for each step or state", said(f"shape {array.shape}"))


def _check_values(recording: Recording) -> None:
    rows, cols = recording.walls.shape
    cells, object_cells, taken = recording.cells, recording.object_cells, recording.taken
    names, objects = len(recording.action_names), len(recording.objects)
    _check_between("actions", recording.actions, UNKNOWN, names - 1)
    _check_between("taken", taken, NOTHING, objects - 1)
    _check_between("cells", cells, 0, rows * cols - 1)
    _check_between("object_cells", object_cells, NOWHERE, rows * cols - 1)
    if recording.headings is not None:
        _check_between("headings", recording.headings, 0, len(HEADINGS) - 1)
    walls = recording.walls.reshape(-1)
    blocked = walls[cells]
    if blocked.any():
        state = int(blocked.argmax())
        raise BadRecording("cells", "a free cell", said(f"the wall at {at(cells[state], cols)}"), **_after(state))
    if not objects:
        return
    blocked = walls[object_cells] & (object_cells != NOWHERE)
    if blocked.any():
        state, number = np.argwhere(blocked)[0]
        where = said(f"{recording.objects[number]} in the wall at {at(object_cells[state, number], cols)}")
        raise BadRecording("object_cells", "free cells", where, **_after(state))
    _check_start(recording, cols)
    _check_taken(recording, cols)


def _check_between(field: str, values: np.ndarray, least: int, most: int) -> None:
    if values.size and (values.min() < least or values.max() > most):
        place = np.argwhere((values < least) | (values > most))[0]
        where = _after(place[0] + (field in ("actions", "taken")))
        raise BadRecording(field, f"numbers between {least} and {most}", int(values[tuple(place)]), **where)


def _check_start(recording: Recording, cols: int) -> None:
    """A maze can be drawn: there is at most one thing in a cell."""
    drawn = [*recording.object_cells[0].tolist(), int(recording.cells[0])]
    names = [*recording.objects, "the agent"]
    owner: dict[int, str] = {}
    for cell, name in zip(drawn, names):
        if cell in owner:
            two = said(f"{owner[cell]} and {name} at {at(cell, cols)}")
            raise BadRecording("object_cells", "at most one object, or the agent, in a cell at the start", two)
        if cell != NOWHERE:
            owner[cell] = name


def _check_taken(recording: Recording, cols: int) -> None:
    """What is taken was in the cell reached, or next to it where agents pick things up from in front of them."""
    for step in np.flatnonzero(recording.taken != NOTHING).tolist():
        number = int(recording.taken[step])
        row, col = divmod(int(recording.cells[step + 1]), cols)
        cell = int(recording.object_cells[step, number])
        there_row, there_col = divmod(cell, cols)
        if cell == NOWHERE or abs(row - there_row) + abs(col - there_col) > 1:
            where = "is nowhere" if cell == NOWHERE else f"is at {at(cell, cols)}"
            expected = f"an object at {row} {col}, where the agent is, or in a cell beside it"
            raise BadRecording("taken", expected, said(f"{recording.objects[number]}, which {where}"), step=step)


def is_step(time: object, recording: Recording) -> bool:
    """Whether this is the number of one of its steps; numpy would take True for a mask."""
    return isinstance(time, int | np.integer) and not isinstance(time, bool) and bool(0 <= time < len(recording))


def episode_name(number: int) -> str:
    """For episodes that have only a number, counted from 0; by name they come in the same order."""
    return f"{number + 1:04}"


def _after(state: Any) -> dict[str, Any]:
    """The step that led to a state; to the first one, none."""
    return {"step": int(state) - 1} if state > 0 else {}


def at(cell: Any, cols: int) -> str:
    """A cell as people write it: `row col`."""
    row, col = divmod(int(cell), cols)
    return f"{row} {col}"
