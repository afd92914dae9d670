"""What steps do to the objects of a maze, told one by one, and where that leaves them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .bad_recording import BadRecording, said
from .recording import AGENT, MOST_OBJECTS, NOTHING, NOWHERE, SUBGOAL, check_inside


class Event(NamedTuple):
    """What a step did to an object: `took A`, `moved A 3 4`, `gone A`. Of several with a letter, `A2` is the second."""

    verb: str
    object: str | None  # None: took nothing
    cell: tuple[int, int] | None = None
    line: int | None = None


class Things:
    """The objects of a maze as its steps move them about."""

    def __init__(self, level: Sequence[str]):
        self.rows, self.cols = len(level), len(level[0])
        cols = self.cols
        drawn = [
            (char, row * cols + col)
            for row, line in enumerate(level)
            if line.strip("#.")
            for col, char in enumerate(line)
            if char not in "#."
        ]
        (start,) = (cell for char, cell in drawn if char == AGENT)
        self.start = divmod(start, cols)
        drawn = sorted(pair for pair in drawn if pair[0] != AGENT)  # by letter, then as one reads
        self.letters = [char for char, _ in drawn]
        self.cells = self.first = [cell for _, cell in drawn]
        if len(self.letters) > MOST_OBJECTS:
            raise BadRecording("level", f"up to {MOST_OBJECTS} objects", said(str(len(self.letters))))
        self.names: dict[str, list[int]] = {}
        for number, letter in enumerate(self.letters):
            self.names.setdefault(letter, []).append(number)
        self.changes: list[tuple[int, list[int]]] = []  # the state from which on the objects are there
        self.time = 0

    def happen(self, events: Sequence[Event], cell: int) -> int:
        """The events of a step that led to a cell; what it took."""
        self.time += 1
        if not events:
            return NOTHING
        before, taken = self.cells, NOTHING
        self.cells = list(before)
        for event in events:
            if event.verb == "took":
                if taken != NOTHING:
                    raise BadRecording("took", "one object a step", event.object, line=event.line)
                if event.object is None:
                    continue
                taken = self._find(event, cell)
                self.cells[taken] = NOWHERE
            elif event.verb == "gone":
                self.cells[self._find(event)] = NOWHERE
            else:
                assert event.cell is not None
                self.cells[self._find(event, new=True)] = self._inside(event)
        self.changes.append((self.time, self.cells))
        return taken

    def _inside(self, event: Event) -> int:
        assert event.cell is not None
        check_inside("moved", event.cell, (self.rows, self.cols), line=event.line)
        row, col = event.cell
        return row * self.cols + col

    def _find(self, event: Event, reached: int | None = None, new: bool = False) -> int:
        """The number of an object by its name; what is drawn nowhere has no number before it is moved into the maze."""
        name = event.object or ""
        letter, which = name[:1], name[1:]
        known = self.names.get(letter, [])
        if which == "":
            here = [number for number in known if self.cells[number] == reached]
            if len(known) == 1 or len(here) == 1:
                return (here if len(here) == 1 else known)[0]
            if known:
                expected = f"which of {len(known)}: {letter}1 to {letter}{len(known)}"
                raise BadRecording(event.verb, expected, name, line=event.line)
        for number, there in enumerate(known, start=1):
            if which == str(number):
                return there
        if not new or which not in ("", str(len(known) + 1)) or not (letter.isalpha() or letter == SUBGOAL):
            raise BadRecording(
                event.verb, f"one of the objects {' '.join(self.names) or '(none)'}", name, line=event.line
            )
        if len(self.letters) == MOST_OBJECTS:
            raise BadRecording(event.verb, f"up to {MOST_OBJECTS} objects", name, line=event.line)
        self.names.setdefault(letter, []).append(len(self.letters))
        self.letters.append(letter)
        self.cells.append(NOWHERE)
        return len(self.letters) - 1

    def taken_by_arriving(self, cells: list[int]) -> int:
        """Where nothing is said of what was taken, an agent that ends by stepping on an object took it."""
        if cells[-1] != cells[-2] and cells[-1] in self.cells:
            number = self.cells.index(cells[-1])
            self.cells = list(self.cells)
            self.cells[number] = NOWHERE
            self.changes.append((self.time, self.cells))
            return number
        return NOTHING

    def history(self, steps: int) -> np.ndarray:
        object_cells = np.full((steps + 1, len(self.letters)), NOWHERE, np.int16)
        object_cells[:, : len(self.first)] = self.first
        for time, cells in self.changes:
            object_cells[time:, : len(cells)] = cells
        return object_cells
