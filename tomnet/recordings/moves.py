"""What named actions do in a maze: where they lead, and which of them explains a step whose action nobody recorded."""

import operator
from collections.abc import Sequence
from typing import Any

from ..support.errors import BadSetting
from .recording import HEADINGS, UNKNOWN, WALL

OFFSETS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
HEADING_OFFSETS = [OFFSETS[heading] for heading in HEADINGS]
TURNS = {"turn-right": 1, "turn-left": -1}
ALONG = {"forward": 1, "backward": -1}
IN_PLACE = {"stay", "noop", "wait", "pickup", "drop", "toggle", "done"}

Place = tuple[int, int, int | None]
"""Row, col and, where the agent faces somewhere, the number of its heading."""


class Moves:
    """The moves of one maze, its rows drawn as text. Walls and the edge of the grid stop an agent, objects do not."""

    def __init__(self, level: Sequence[str], action_names: tuple[str, ...]):
        self.level, self.action_names = level, action_names
        self.explained: dict[tuple[Place, Place], int] = {}

    def lead(self, action: str, place: Place) -> Place | None:
        """Where an action leads; None if its name does not tell."""
        row, col, heading = place
        if heading is None:
            if action in OFFSETS:
                return self._moved(place, OFFSETS[action])
        elif action in TURNS:
            return row, col, (heading + TURNS[action]) % len(HEADINGS)
        elif action in ALONG:
            down, right = HEADING_OFFSETS[heading]
            return self._moved(place, (ALONG[action] * down, ALONG[action] * right))
        return place if action in IN_PLACE else None

    def _moved(self, place: Place, offset: tuple[int, int]) -> Place:
        row, col = place[0] + offset[0], place[1] + offset[1]
        level = self.level
        if 0 <= row < len(level) and 0 <= col < len(level[0]) and level[row][col] != WALL:
            return row, col, place[2]
        return place

    def explain(self, before: Place, after: Place) -> int:
        """The number of the one action that leads from here to there, UNKNOWN where none does, or several do."""
        step = before, after
        if step not in self.explained:
            found = [number for number, name in enumerate(self.action_names) if self.lead(name, before) == after]
            self.explained[step] = found[0] if len(found) == 1 else UNKNOWN
        return self.explained[step]


def action_number(answer: Any, names: tuple[str, ...], first: int = 0) -> int:
    """The number of an action, counted from 0, by what a policy says: its name, or its number."""
    if isinstance(answer, str):
        number = names.index(answer) if answer in names else -1
    else:
        try:  # numbers of numpy and JAX, and arrays of one of them
            number = operator.index(getattr(answer, "item", lambda: answer)()) - first
        except (TypeError, ValueError):
            number = -1
    if not 0 <= number < len(names) or isinstance(answer, bool):
        numbers = f"a number from {first} to {first + len(names) - 1}"
        raise BadSetting("policy", repr(answer)[:40], f"must answer with one of {', '.join(names)}, or {numbers}")
    return number
