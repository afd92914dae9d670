"""Episodes as text: one file an episode, one folder an agent.

    episode: monday                           // only where the file is called otherwise
    actions: turn-left turn-right forward     // only where they are not up, down, left, right, stay
    heading: right                            // only where the agent faces somewhere

    @..#A
    ...B.

    forward
    turn-right
    forward 1 1 down                          // the cell reached, and the heading, where the action does not tell
    ? 1 4 down                                // nobody knows which action
    took B

A line of steps is an action, the cell reached (`row col`, counted from 0), or both. `took A`, `moved A row col` and
`gone A` say what the step above them did.
"""

from dataclasses import replace
from pathlib import Path

from .bad_recording import BadRecording, said
from .events import Event
from .recording import ACTIONS, Recording, check_action_names, check_heading, check_name
from .transcript import Step, Transcript, to_recording, to_transcript

SUFFIX = ".txt"
LARGEST_FILE = 2**20  # bytes; the longest episode fits several times
COMMENT = "//"
EVENTS = ("took", "moved", "gone")
NOTHING_WORD = "nothing"


def parse_text(text: str, agent: str, episode: str) -> Recording:
    """The recording that a text describes, or a `BadRecording` that names the line."""
    return to_recording(parse_transcript(text), agent, episode)


def parse_transcript(text: str) -> Transcript:
    """What is written, not yet played through; a level without steps is fine here."""
    if COMMENT in text:
        lines = [line.partition(COMMENT)[0].strip() if COMMENT in line else line.strip() for line in text.split("\n")]
        commented = {number for number, line in enumerate(text.split("\n")) if line.lstrip().startswith(COMMENT)}
    else:
        lines, commented = [line.strip() for line in text.split("\n")], set()
    header, start = _header(lines)
    names = header.action_names
    end = start
    while end < len(lines) and (lines[end] or end in commented):
        end += 1
    rows = [number for number in range(start, end) if lines[number]]
    level = [lines[number] for number in rows]
    if not level:
        raise BadRecording("level", "the picture of a maze", said("none"), line=len(lines))
    if rows[-1] - rows[0] >= len(rows):
        raise BadRecording("level", "no comment between its rows", said("one"), line=rows[0] + 1)
    steps = _steps(lines, end)
    for number, row in zip(rows, level):
        if row.split()[0].lower() in names and (len(row) != len(level[0]) or not steps):
            raise BadRecording("level", "an empty line between level and steps", row, line=number + 1)
    return replace(header, level=level, steps=steps, level_line=rows[0] + 1)


def _header(lines: list[str]) -> tuple[Transcript, int]:
    """What is said above the level, and the number of lines up to it."""
    names: tuple[str, ...] | None = None
    heading: str | None = None
    episode: str | None = None
    start = len(lines)
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if line and not colon:
            start = number
            break
        try:
            if colon and key == "actions" and names is None:
                check_action_names(names := tuple(value.split()))
            elif colon and key == "heading" and heading is None:
                check_heading(heading := value.strip())
            elif colon and key == "episode" and episode is None:
                check_name("episode", episode := value.strip())
            elif colon:
                raise BadRecording("header", "actions:, heading: or episode:, each once", key)
        except BadRecording as fault:
            raise fault.at(line=number + 1) from None
    return Transcript([], [], names or ACTIONS, heading, episode=episode), start


def _steps(lines: list[str], first: int) -> list[Step]:
    steps: list[Step] = []
    parsed: dict[str, tuple] = {}  # most lines are one of a few
    for number in range(first, len(lines)):
        line = lines[number]
        if not line:
            continue
        if line.startswith(EVENTS) and line.split()[0] in EVENTS:
            event = _event(line.split(), number + 1)
            if not steps:
                raise BadRecording("steps", "a step before what it did", line, line=number + 1)
            steps[-1] = steps[-1]._replace(events=(*steps[-1].events, event))
            continue
        if line not in parsed:
            parsed[line] = _step(line.split(), number + 1)
        action, cell, heading = parsed[line]
        steps.append(Step(action, cell, heading, (), number + 1))
    return steps


def _step(words: list[str], line: int) -> tuple[str | None, tuple[int, int] | None, str | None]:
    action = None if _is_number(words[0]) else words[0]
    rest = words if action is None else words[1:]
    if not rest:
        return action, None, None
    if len(rest) in (2, 3) and _is_number(rest[0]) and _is_number(rest[1]):
        return action, (int(rest[0]), int(rest[1])), rest[2] if len(rest) == 3 else None
    raise BadRecording("step", "an action, the cell reached as row col, or both", " ".join(words), line=line)


def _event(words: list[str], line: int) -> Event:
    verb, *rest = words
    if verb == "moved" and len(rest) == 3 and _is_number(rest[1]) and _is_number(rest[2]):
        return Event(verb, rest[0], (int(rest[1]), int(rest[2])), line)
    if verb != "moved" and len(rest) == 1:
        return Event(verb, None if (verb, rest[0]) == ("took", NOTHING_WORD) else rest[0], None, line)
    raise BadRecording(verb, "moved A row col" if verb == "moved" else f"{verb} A", " ".join(words), line=line)


def _is_number(word: str) -> bool:
    return word.isdecimal() and word.isascii() and len(word) <= 6


def format_text(recording: Recording, *, named: bool = False) -> str:
    """The text of a recording; `parse_text` gives it back as it was. `named` where the file has another name."""
    transcript = to_transcript(recording)
    header = [f"episode: {recording.episode}"] if named else []
    if transcript.action_names != ACTIONS:
        header.append("actions: " + " ".join(transcript.action_names))
    if transcript.heading is not None:
        header.append(f"heading: {transcript.heading}")
    lines = [*header, *[""] * bool(header), *transcript.level, ""]
    for step in transcript.steps:
        cell = [] if step.cell is None else [str(number) for number in step.cell]
        lines.append(" ".join(word for word in (step.action, *cell, step.heading) if word is not None))
        lines += [_format_event(event) for event in step.events]
    return "\n".join(lines) + "\n"


def _format_event(event: Event) -> str:
    cell = [] if event.cell is None else [str(number) for number in event.cell]
    return " ".join([event.verb, event.object or NOTHING_WORD, *cell])


def read_text(path: Path, agent: str, raw: bytes) -> Recording:
    """The episode in the bytes of a file; its name is the file's, unless it says another."""
    try:
        transcript = parse_transcript(decode(raw))
        return to_recording(transcript, agent, transcript.episode or path.stem)
    except BadRecording as fault:
        raise fault.at(path) from None


def decode(raw: bytes) -> str:
    """UTF-8, or the line with the byte that is not."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = said(f"the byte 0x{raw[error.start]:02x}")
        raise BadRecording("text", "UTF-8", found, line=line) from None
