"""What is seen at one moment of an episode, and how a row of such moments becomes a recording."""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, no_type_check

import numpy as np
from jaxtyping import Bool

from .bad_recording import BadRecording, said
from .recording import (
    HEADINGS,
    MOST_OBJECTS,
    MOST_STEPS,
    NOTHING,
    NOWHERE,
    Recording,
    check_grid,
    check_heading,
    check_inside,
    check_letter,
)

Cell = tuple[int, int]


@no_type_check  # numbers of numpy are welcome, and become plain ones
@dataclass(frozen=True, kw_only=True)
class Scene:
    """The maze, the agent's cell and heading, and where the objects are: pairs of a letter and a cell `(row, col)`.

    All of it is checked: a cell beyond the grid would be another one once it is a number.

    >>> scene = tomnet.Scene(walls=numpy.zeros((2, 3), bool), cell=(0, 0), objects=(("A", (0, 2)), ("B", (1, 1))))
    >>> dict(scene.objects)["B"]
    (1, 1)
    """

    walls: Bool[np.ndarray, "row col"]
    cell: Cell
    objects: Sequence[tuple[str, Cell]] = ()
    heading: str | None = None  # one of HEADINGS, where the agent faces somewhere

    def __post_init__(self):
        walls = np.asarray(self.walls)
        check_grid(walls)
        if not ((walls == 0) | (walls == 1)).all():  # not a number would be a wall
            raise BadRecording("walls", "true or false", said(f"{walls.dtype} that are neither 0 nor 1"))
        check_heading(self.heading)
        object.__setattr__(self, "walls", walls.astype(bool))
        object.__setattr__(self, "cell", _cell("cell", self.cell, walls))
        if not isinstance(self.objects, Iterable):
            raise BadRecording("objects", "pairs of a letter and a cell", self.objects)
        object.__setattr__(self, "objects", tuple(_thing(pair, walls) for pair in self.objects))


def _cell(field: str, cell: Any, walls: np.ndarray) -> Cell:
    try:
        row, col = (operator.index(number) for number in cell)
    except (TypeError, ValueError):
        raise BadRecording(field, "a row and a col", cell) from None
    check_inside(field, (row, col), walls.shape)
    return row, col


def _thing(pair: Any, walls: np.ndarray) -> tuple[str, Cell]:
    try:
        letter, cell = pair
    except (TypeError, ValueError):
        raise BadRecording("objects", "pairs of a letter and a cell", pair) from None
    check_letter(letter)
    return letter, _cell("objects", cell, walls)


class Recorder:
    """Collects an episode moment by moment: `start(scene)`, then `step(action, scene)` until `finish`."""

    def __init__(self, agent: str, action_names: tuple[str, ...]):
        self.agent, self.action_names = agent, action_names

    def start(self, scene: Scene) -> None:
        self.walls = scene.walls
        self.letters: list[str] = []
        self.states: list[list[int]] = []
        self.cells: list[int] = []
        self.headings: list[int | None] = []
        self.actions: list[int] = []
        self.taken: list[int] = []
        self._see(scene)

    def step(self, action: int, scene: Scene, took: str | None = None) -> None:
        """One action and what was seen after it. What vanishes from under the agent, or beside it, was taken; `took`
        says so of an object that stays."""
        if len(self.actions) == MOST_STEPS:
            raise BadRecording("steps", f"1 to {MOST_STEPS} of them", said("more"))
        self.actions.append(action)
        self._see(scene)
        opened = action >= 0 and self.action_names[action] == "toggle"  # a box that is opened vanishes and is not taken
        self.taken.append(NOTHING if opened and took is None else self._taken(took))

    def finish(self, episode: str, terminated: bool = False) -> Recording:
        """The recording. An episode that ended of itself with the agent on an object ended because it took it."""
        if terminated and self.taken and self.taken[-1] == NOTHING and self.cells[-1] in self.states[-2]:
            self.taken[-1] = self.states[-2].index(self.cells[-1])
        states = np.full((len(self.states), len(self.letters)), NOWHERE, np.int16)
        for row, state in zip(states, self.states):
            row[: len(state)] = state
        if self.taken and self.taken[-1] != NOTHING:  # nobody looks at it any more
            states[-1, self.taken[-1]] = NOWHERE
        faces = any(heading is not None for heading in self.headings)
        return Recording(
            agent=self.agent,
            episode=episode,
            walls=self.walls,
            objects=tuple(self.letters),
            action_names=self.action_names,
            actions=np.array(self.actions, np.int8),
            cells=np.array(self.cells, np.int16),
            object_cells=states,
            taken=np.array(self.taken, np.int8),
            headings=np.array(self.headings, np.int8) if faces else None,
        )

    def _see(self, scene: Scene) -> None:
        if not np.array_equal(scene.walls, self.walls):
            raise BadRecording("walls", "the walls of the start", said("others"), step=len(self.actions) - 1)
        self.cells.append(self._number(scene.cell))
        self.headings.append(None if scene.heading is None else HEADINGS.index(scene.heading))
        self.states.append(self._follow([(letter, self._number(cell)) for letter, cell in scene.objects]))

    def _number(self, cell: Cell) -> int:
        row, col = cell
        return row * self.walls.shape[1] + col

    def _follow(self, seen: list[tuple[str, int]]) -> list[int]:
        """Which of the objects known is which of those seen: first those that stayed, then those that moved."""
        before = self.states[-1] if self.states else []
        now, left = [NOWHERE] * len(self.letters), sorted(seen)
        for stays in (True, False):
            for number, letter in enumerate(self.letters):
                was = before[number] if number < len(before) else NOWHERE
                match = [pair for pair in left if pair[0] == letter and (pair[1] == was or not stays)]
                if now[number] == NOWHERE and match:
                    now[number] = match[0][1]
                    left.remove(match[0])
        for letter, cell in left:
            if len(self.letters) == MOST_OBJECTS:
                raise BadRecording("objects", f"up to {MOST_OBJECTS}", said("more"))
            self.letters.append(letter)
            now.append(cell)
        return now

    def _taken(self, took: str | None) -> int:
        before, after = self.states[-2:]
        here, cols = self.cells[-1], self.walls.shape[1]

        def near(cell: int) -> bool:
            return cell != NOWHERE and abs(cell // cols - here // cols) + abs(cell % cols - here % cols) <= 1

        if took is not None:
            known = [number for number, letter in enumerate(self.letters[: len(before)]) if letter == took]
            found = [number for number in known if near(before[number])]
        else:
            found = [number for number, cell in enumerate(before) if near(cell) and after[number] == NOWHERE]
        if took is not None and not found:
            raise BadRecording("took", "an object where the agent is, or beside it", took, step=len(self.actions) - 1)
        return min(found, key=lambda number: before[number] != here, default=NOTHING)
