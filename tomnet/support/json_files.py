"""JSON in files: small ones written whole, and logs of one row a line that a kill cuts short at most by a row."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .errors import BadFile
from .files import FilePath, cannot, read_whole, write_atomically
from .typed_json import to_json


def json_text(value: Any) -> str:
    """Strict: a number that is not finite becomes null."""
    return json.dumps(to_json(value), indent=2)


def write_json(path: FilePath, value: Any) -> None:
    """A small JSON file, such as a config or a result."""
    write_atomically(path, (json_text(value) + "\n").encode())


def read_json(path: FilePath) -> Any:
    path = Path(path)
    try:
        return json.loads(read_whole(path))
    except (ValueError, RecursionError) as error:
        raise BadFile(path, "not JSON") from error


def append_jsonl(path: FilePath, row: Mapping[str, Any]) -> None:
    """Add one line to a log, as strict as `write_json`."""
    path = Path(path)
    line = json.dumps(to_json(row)) + "\n"
    try:
        if not _ends_cleanly(path):
            truncate_jsonl(path, keep=lambda row: True)
        with open(path, "ab") as file:
            file.write(line.encode())
    except OSError as error:
        raise cannot("write", path, error) from error


def read_jsonl(path: FilePath) -> list[dict[str, Any]]:
    """Every row. A final line cut short by a kill is dropped; any other bad line is an error."""
    path = Path(path)
    lines = read_whole(path).split(b"\n")
    rows = []
    for number, line in enumerate(lines, start=1):
        row = _row(line)
        if row is not None:
            rows.append(row)
        elif line.strip() and number < len(lines):  # what follows the last newline may be torn
            raise BadFile(path, f"line {number} is not a JSON object")
    return rows


def truncate_jsonl(path: FilePath, keep: Callable[[dict[str, Any]], bool]) -> None:
    """Keep only some rows, as when a run resumes from a checkpoint older than its last metrics."""
    path = Path(path)
    if path.exists():
        try:
            kept = [json.dumps(row) + "\n" for row in read_jsonl(path) if keep(row)]
        except (KeyError, TypeError) as error:  # JSON, but a row that this log never had
            raise BadFile(
                path, "damaged: a row is not as it was written", "without the file, the run goes on"
            ) from error
        write_atomically(path, "".join(kept).encode())


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _ends_cleanly(path: Path) -> bool:
    if not path.exists() or path.stat().st_size == 0:
        return True
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
