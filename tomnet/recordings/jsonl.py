"""Episodes as JSON lines: one episode a line, written as in the text format.

    {"agent": "ann", "episode": "1", "level": ["@..A", "...B"], "steps": ["right", "right", "right"]}

`actions` and `heading` stand where the text has such a first line. A step is an action, the cell reached `[row, col]`,
or an object with any of `action` (null: unknown), `cell`, `heading`, `took`, `moved` (`{"A": [3, 4]}`) and `gone`
(`["A"]`).
"""

import json
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from .bad_recording import BadRecording, said
from .events import Event
from .recording import ACTIONS, MOST_STEPS, Recording, check_action_names, check_heading, check_name
from .transcript import UNKNOWN_WORD, Step, Transcript, to_recording, to_transcript

SUFFIX = ".jsonl"
LONGEST_LINE = 4 * 2**20  # bytes
FIELDS = ("agent", "episode", "level", "steps", "actions", "heading")
STEP_FIELDS = ("action", "cell", "heading", "took", "moved", "gone")


def read_jsonl(path: Path, file: BufferedIOBase) -> Iterator[tuple[int, Recording | BadRecording]]:
    """Line by line, each with its number: a long file needs little memory, and a fault in one spares the others."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        try:
            if len(line) > LONGEST_LINE:
                _skip_line(file)
                raise BadRecording("line", f"up to {LONGEST_LINE} bytes", said("more"))
            if line.strip():
                yield number, parse_line(line)
        except BadRecording as fault:
            yield number, fault.at(path, number)


def _skip_line(file: BufferedIOBase) -> None:
    while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass


def parse_line(line: bytes | str) -> Recording:
    row = _load(line)
    try:
        return _parse(row)
    except BadRecording as fault:
        raise fault.in_words_of(json.dumps) from None  # null rather than None


def _parse(line: Any) -> Recording:
    row = _object(line, "line", FIELDS)
    for name in FIELDS[:4]:
        if name not in row:
            raise BadRecording(name, "this field in every line", said(f"only {', '.join(row)}" if row else "none"))
    check_name("agent", row["agent"])
    check_name("episode", row["episode"])
    names = tuple(_list(row["actions"], "actions")) if "actions" in row else ACTIONS
    check_action_names(names)
    heading = row.get("heading")
    check_heading(heading)
    level = _list(row["level"], "level")
    for drawn in level:
        _text(drawn, "level")
    steps = _list(row["steps"], "steps")
    if len(steps) > MOST_STEPS:  # before each of them takes its place in memory
        raise BadRecording("steps", f"1 to {MOST_STEPS} of them", said(str(len(steps))))
    transcript = Transcript(level, [_step(step) for step in steps], names, heading)
    return to_recording(transcript, row["agent"], row["episode"])


def _load(line: bytes | str) -> Any:
    try:
        # given bytes, `json` would guess at UTF-16 as well, which cannot be cut into lines
        text = line if isinstance(line, str) else line.decode("utf-8-sig")
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        why = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise BadRecording("line", "a JSON object", said(f"a mistake at character {error.colno}: {why}")) from None
    except UnicodeDecodeError:
        raise BadRecording("line", "a JSON object", said("bytes that are not UTF-8")) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets within brackets
        raise BadRecording("line", "a JSON object", said("numbers or brackets beyond all measure")) from None


def _no_number(word: str) -> None:
    raise BadRecording("line", "numbers", said(word))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise BadRecording("line", "every field once", said("one of them twice"))
    return table


def _step(step: Any) -> Step:
    if isinstance(step, str):
        return Step(_action(step))
    if isinstance(step, list):
        return Step(None, _cell(step, "cell"))
    table = _object(step, "steps", STEP_FIELDS)
    action = None
    if "action" in table:
        action = UNKNOWN_WORD if table["action"] is None else _action(table["action"])
    cell = _cell(table["cell"], "cell") if table.get("cell") is not None else None
    heading = _text(table["heading"], "heading") if table.get("heading") is not None else None
    return Step(action, cell, heading, tuple(_events(table)))


def _events(table: dict[str, Any]) -> Iterator[Event]:
    if "took" in table:
        yield Event("took", None if table["took"] is None else _text(table["took"], "took"))
    for name, cell in _object(table.get("moved", {}), "moved").items():
        yield Event("moved", name, _cell(cell, "moved"))
    for name in _list(table.get("gone", []), "gone"):
        yield Event("gone", _text(name, "gone"))


def _action(word: Any) -> str:
    word = _text(word, "action")
    if word == UNKNOWN_WORD:  # which has null here
        raise BadRecording("action", "a name, or null where it is unknown", word)
    return word


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise BadRecording(field, "text", value)
    return value


def _list(value: Any, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadRecording(field, "a list", value)
    return value


def _object(value: Any, field: str, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRecording(field, "a JSON object", value)
    for name in value:
        if known is not None and name not in known:
            raise BadRecording(field, f"fields among {', '.join(known)}", name)
    return value


def _cell(value: Any, field: str) -> tuple[int, int]:
    if not isinstance(value, list) or [type(number) for number in value] != [int, int]:
        raise BadRecording(field, "[row, col]", value)
    return value[0], value[1]


def format_line(recording: Recording) -> str:
    """The line of a recording; `parse_line` gives it back as it was."""
    transcript = to_transcript(recording)
    row: dict[str, Any] = {"agent": recording.agent, "episode": recording.episode}
    if transcript.action_names != ACTIONS:
        row["actions"] = transcript.action_names
    if transcript.heading is not None:
        row["heading"] = transcript.heading
    row["level"] = transcript.level
    row["steps"] = [_format_step(step) for step in transcript.steps]
    return json.dumps(row, ensure_ascii=False)


def _format_step(step: Step) -> Any:
    action = None if step.action == UNKNOWN_WORD else step.action
    if action is not None and step.cell is None and not step.events:
        return action
    table: dict[str, Any] = {"action": action}
    if step.cell is not None:
        table["cell"] = step.cell
    if step.heading is not None:
        table["heading"] = step.heading
    for verb, name, cell, _ in step.events:
        if verb == "took":
            table["took"] = name
        elif verb == "moved":
            table.setdefault("moved", {})[name] = cell
        else:
            table.setdefault("gone", []).append(name)
    return table


def format_jsonl(recordings: Iterable[Recording]) -> Iterator[bytes]:
    return (format_line(recording).encode() + b"\n" for recording in recordings)
