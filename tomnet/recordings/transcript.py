"""An episode as people write it down: a drawn maze, then step by step an action, the cell reached, or both.

What is left out is worked out where it is certain: the cell from the action, the action from the cell. What is not
certain is an error (where did `jump` lead?) or stays unknown (which action leads across the room?).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..support.words import counted
from .bad_recording import BadRecording, said
from .events import Event, Things
from .moves import Moves, Place
from .recording import (
    ACTIONS,
    AGENT,
    FREE,
    HEADINGS,
    LARGEST_SIDE,
    MOST_STEPS,
    NOTHING,
    NOWHERE,
    SUBGOAL,
    UNKNOWN,
    WALL,
    Recording,
    check_inside,
)

UNKNOWN_WORD = "?"  # an action that is known to be unknown: it is not worked out from the cell


class Step(NamedTuple):
    action: str | None  # None: to be worked out from the cell
    cell: tuple[int, int] | None = None  # None: to be worked out from the action
    heading: str | None = None
    events: Sequence[Event] = ()
    line: int | None = None


@dataclass(frozen=True)
class Transcript:
    """Whoever reads one has checked the names of its actions and its heading."""

    level: list[str]
    steps: list[Step]
    action_names: tuple[str, ...] = ACTIONS
    heading: str | None = None  # at the start
    level_line: int | None = None  # where its picture begins; None: in one line with everything else
    episode: str | None = None  # its name, where the transcript says so itself


# --- From what is written to a recording


def to_recording(transcript: Transcript, agent: str, episode: str) -> Recording:
    """Played through once; a `BadRecording` names the line at fault."""
    check_level(transcript.level, transcript.level_line)
    _check_length(transcript)
    steps = transcript.steps
    things = Things(transcript.level)
    places, actions = _walk(transcript, things.start)
    cols = len(transcript.level[0])
    cells = [row * cols + col for row, col, _ in places]
    taken = [things.happen(step.events, cell) for step, cell in zip(steps, cells[1:])]
    if taken[-1] == NOTHING and not any(event.verb == "took" for event in steps[-1].events):
        taken[-1] = things.taken_by_arriving(cells)
    try:
        return Recording(
            agent=agent,
            episode=episode,
            walls=np.array([[char == WALL for char in row] for row in transcript.level]),
            objects=tuple(things.letters),
            action_names=transcript.action_names,
            actions=np.array(actions, np.int8),
            cells=np.array(cells, np.int16),
            object_cells=things.history(len(steps)),
            taken=np.array(taken, np.int8),
            headings=None if transcript.heading is None else np.array([heading for *_, heading in places], np.int8),
        )
    except BadRecording as fault:
        raise fault.at(line=steps[fault.step].line if fault.step is not None else None) from None


def _check_length(transcript: Transcript) -> None:
    steps, line = transcript.steps, transcript.level_line
    if not 1 <= len(steps) <= MOST_STEPS:
        after_level = None if line is None else line + len(transcript.level)
        where = steps[MOST_STEPS].line if steps else after_level
        raise BadRecording("steps", f"1 to {MOST_STEPS} of them", said(str(len(steps))), line=where)


def check_level(level: Sequence[str], line: int | None = None) -> None:
    """Rows of one length with one `@`, and nothing but walls, free cells and letters."""

    def where(row: int) -> int | None:
        return None if line is None else line + row

    if not 1 <= len(level) <= LARGEST_SIDE:
        raise BadRecording("level", f"1 to {LARGEST_SIDE} rows", said(counted(len(level), "row")), line=line)
    cols = len(level[0])
    for number, row in enumerate(level):
        if not 1 <= len(row) <= LARGEST_SIDE:
            raise BadRecording("level", f"1 to {LARGEST_SIDE} cols", said(f"{len(row)}"), line=where(number))
        if len(row) != cols:
            expected = f"{cols} characters, as in the first row"
            raise BadRecording("level", expected, said(f"{len(row)} in row {number}"), line=where(number))
        for char in set(row):
            if char not in (WALL, FREE, AGENT, SUBGOAL) and not char.isalpha():
                expected = f"one of {WALL} {FREE} {AGENT} {SUBGOAL} or a letter"
                found = said(f"{char!r} in row {number}, col {row.index(char)}")
                raise BadRecording("level", expected, found, line=where(number))
    starts = sum(row.count(AGENT) for row in level)
    if starts != 1:
        raise BadRecording("level", f"one {AGENT}, where the agent starts", said(f"{starts}"), line=line)


def _walk(transcript: Transcript, start: tuple[int, int]) -> tuple[list[Place], list[int]]:
    """Where the agent was, one after the other, and the numbers of its actions."""
    names, faces = transcript.action_names, transcript.heading is not None
    moves, size = Moves(transcript.level, names), (len(transcript.level), len(transcript.level[0]))
    numbers = {name: number for number, name in enumerate(names)} | {UNKNOWN_WORD: UNKNOWN}
    place: Place = (*start, HEADINGS.index(transcript.heading) if transcript.heading is not None else None)
    places, actions = [place], []
    for action, cell, heading, _, line in transcript.steps:
        if heading is not None or (faces and cell is not None):
            _check_step_heading(heading, faces, line)
        if action is not None and action not in numbers:
            raise BadRecording("action", expected_action(names, action), action, line=line)
        if cell is not None:
            after: Place | None = (*cell, HEADINGS.index(heading) if heading is not None else None)
        elif action is None or action == UNKNOWN_WORD:
            raise BadRecording("cell", "the cell reached, as nothing else tells what happened", said("none"), line=line)
        else:
            after = moves.lead(action, place)
            if after is None:
                expected = f"the cell reached beside it, because nobody knows where {action} leads"
                raise BadRecording("action", expected, said("none"), line=line)
        if cell is not None:
            check_inside("cell", cell, size, line=line)
        actions.append(moves.explain(place, after) if action is None else numbers[action])
        place = after
        places.append(place)
    return places, actions


def expected_action(names: Sequence[str], found: str) -> str:
    """For whoever wrote another word."""
    meant = found.lower()
    return f"one of {', '.join(names)}" if meant not in names else f"{meant}, as actions are lower case"


def _check_step_heading(heading: str | None, faces: bool, line: int | None) -> None:
    if not faces:
        raise BadRecording("heading", "none, as the start has none either", heading, line=line)
    if heading not in HEADINGS:
        found = said("none") if heading is None else heading
        raise BadRecording("heading", f"one of {', '.join(HEADINGS)} after the cell", found, line=line)


# --- From a recording to what is written


def to_transcript(recording: Recording) -> Transcript:
    """As short as it can be: cells and headings only where the actions do not tell."""
    level, places = draw(recording), _places(recording)
    names = (*recording.action_names, UNKNOWN_WORD)  # UNKNOWN is -1, the last
    moves, start = Moves(level, recording.action_names), places[0][2]
    steps = []
    events = dict(_events(recording))
    for time, number in enumerate(recording.actions.tolist()):
        action, after = names[number], places[time + 1]
        told = number != UNKNOWN and moves.lead(action, places[time]) == after
        cell = None if told else after[:2]
        heading = None if told or after[2] is None else HEADINGS[after[2]]
        steps.append(Step(action, cell, heading, events.get(time, ())))
    return Transcript(level, steps, recording.action_names, None if start is None else HEADINGS[start])


def _places(recording: Recording) -> list[Place]:
    cells, headings, cols = recording.cells.tolist(), recording.headings, recording.size[1]
    facing = [None] * len(cells) if headings is None else headings.tolist()
    return [(cell // cols, cell % cols, heading) for cell, heading in zip(cells, facing)]


def steps_elsewhere(recording: Recording) -> int:
    """How many steps led elsewhere than their action says, where its name says where it leads."""
    places, names, cols = _places(recording), recording.action_names, recording.size[1]
    flat = np.where(recording.walls, WALL.encode(), FREE.encode()).tobytes().decode()  # `draw` takes ten times as long
    moves = Moves([flat[first : first + cols] for first in range(0, len(flat), cols)], names)
    steps = zip(recording.actions.tolist(), places, places[1:])
    return sum(
        number != UNKNOWN and moves.lead(names[number], before) not in (None, after) for number, before, after in steps
    )


def draw(recording: Recording, state: int = 0) -> list[str]:
    """The maze as it was in a state, the agent included."""
    grid = np.where(recording.walls, WALL, FREE).astype("<U1")
    flat = grid.reshape(-1)
    for letter, cell in zip(recording.objects, recording.object_cells[state]):
        if cell != NOWHERE:
            flat[cell] = letter
    flat[recording.cells[state]] = AGENT
    return ["".join(row) for row in grid]


def object_names(objects: Sequence[str]) -> list[str]:
    """`A` where there is one, `A1`, `A2` where there are several."""
    count: dict[str, int] = {}
    names = []
    for letter in objects:
        count[letter] = count.get(letter, 0) + 1
        names.append(letter if objects.count(letter) == 1 else f"{letter}{count[letter]}")
    return names


def _events(recording: Recording) -> Iterator[tuple[int, list[Event]]]:
    """What happened to objects, by the step that did it."""
    cells, taken, names = recording.object_cells, recording.taken, object_names(recording.objects)
    cols, last = recording.size[1], len(recording) - 1
    arrived = recording.cells[-1] != recording.cells[-2] and recording.cells[-1] in cells[-2:]
    eventful = set(np.flatnonzero(taken != NOTHING).tolist())
    eventful |= set(np.flatnonzero((cells[1:] != cells[:-1]).any(1)).tolist())
    eventful |= {last} if arrived else set()
    for step in sorted(eventful):
        events, now = [], cells[step].tolist()
        if taken[step] != NOTHING:
            events.append(Event("took", names[taken[step]]))
            now[taken[step]] = NOWHERE
        elif step == last and arrived:  # or a reader would take it for taken
            events.append(Event("took", None))
        for number, (before, after) in enumerate(zip(now, cells[step + 1].tolist())):
            if after != before:
                cell = divmod(after, cols)
                events.append(Event("gone", names[number]) if after == NOWHERE else Event("moved", names[number], cell))
        yield step, events
