"""Everything recorded in a file or folder, in whatever format; what is broken is told, and the rest still read.

A folder holds files, or folders with files, each of them an agent's. Only what lies in the folder itself is opened, no
file is larger in memory than its format allows, and nothing in any of them is run.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ..support.checks import check_path
from ..support.errors import BadFile, BadSetting, MissingExtra, TomnetError, nearest
from ..support.files import FilePath, check_is_new, new_folder, write_atomically
from . import jsonl, minari, shards, text
from .bad_recording import BadRecording, said
from .plain_file import check_begins_harmlessly, open_plain
from .recording import Recording, episode_name

FORMATS = {"text": text.SUFFIX, "jsonl": jsonl.SUFFIX, "safetensors": shards.SUFFIX}
LARGEST_FILES = {text.SUFFIX: text.LARGEST_FILE, jsonl.SUFFIX: 2**33, shards.SUFFIX: shards.LARGEST_FILE}
MOST_BYTES = 2**30  # of recordings at once
EPISODES = "episodes"  # the name of files that hold many
NUMBER = re.compile(r"([0-9]+)")


# --- Reading


def read_recordings(path: FilePath) -> tuple[Recording, ...]:
    """Every episode in a file or folder; the first thing wrong with any of them is an error.

    Text (`.txt`, one file an episode, in a folder that bears the agent's name), JSON lines (`.jsonl`), safetensors and
    Minari datasets are read.

    >>> folder = Path(tempfile.mkdtemp()) / "ann"
    >>> folder.mkdir()
    >>> _ = (folder / "monday.txt").write_text("@.A\\n.#B\\n\\nright\\nright\\n")
    >>> (recording,) = tomnet.read_recordings(folder)
    >>> recording.agent, recording.episode, recording.cells.tolist(), recording.took
    ('ann', 'monday', [0, 1, 2], ('A',))
    """
    found, size = [], 0
    for each in scan(path):
        if isinstance(each, TomnetError):
            raise each
        found.append(each)
        size += each.nbytes
        if size > MOST_BYTES:
            raise BadFile(path, f"more than {MOST_BYTES >> 20} MiB of episodes", "read a part of them at a time")
    if not found:
        raise BadFile(path, "no episodes are in there", f"files end in {', '.join(FORMATS.values())}")
    return tuple(found)


def scan(path: FilePath, skip: Callable[[Path], None] = lambda path: None) -> Iterator[Recording | TomnetError]:
    """One episode after the other, and an error for whatever is none; `skip` hears of files that are not opened."""
    check_path("path", path)
    root = Path(path)
    if not os.path.lexists(root):
        raise BadFile(root, "no such file or folder")
    known: dict[tuple[str, str], str] = {}
    for found in _walk(root, skip):
        if isinstance(found, TomnetError):
            yield found
            continue
        for line, each in _read(*found):
            if isinstance(each, Recording):
                name = each.agent, each.episode
                if name in known:
                    again = said(f"{each.episode!r} of {each.agent!r} again, which is in {known[name]}")
                    each = BadRecording("episode", "a name for every episode", again, path=found[0], line=line)
                else:
                    known[name] = f"{found[0]}, line {line}" if line else str(found[0])
            yield each


def _walk(root: Path, skip: Callable[[Path], None]) -> Iterator[tuple[Path, str] | TomnetError]:
    """Files and whose they are: of the folder that they lie in."""
    if minari.is_dataset(root) or not root.is_dir():
        yield root, Path(os.path.realpath(root)).parent.name  # `resolve` raises where a link leads to itself
        return
    real = os.path.realpath(root)
    for path in _entries(root):
        if _leads_out(path, real):
            yield BadFile(path, "is a link that leads out of the folder")
        elif path.is_symlink() and path.is_dir():
            yield BadFile(path, "is a link to a folder; every agent has a folder of its own")
        elif path.is_dir() and not minari.is_dataset(path):
            yield from _walk_agent(path, real, skip)
        else:
            yield from _file(path, root.resolve().name, skip)


def _walk_agent(folder: Path, real: str, skip: Callable[[Path], None]) -> Iterator[tuple[Path, str] | TomnetError]:
    for path in _entries(folder):
        if _leads_out(path, real):
            yield BadFile(path, "is a link that leads out of the folder")
        elif path.is_dir():
            yield BadFile(path, "is a folder within an agent's folder, where only files are read")
        else:
            yield from _file(path, folder.name, skip)


def _entries(folder: Path) -> list[Path]:
    """In the order that people mean: 2 before 10. An agent's episodes are taken to have happened in this order."""
    return sorted(
        (path for path in folder.iterdir() if not path.name.startswith(".")), key=lambda path: _by_number(path.name)
    )


def _by_number(name: str) -> list[tuple[int, str]]:
    words = NUMBER.split(name)  # every other one is a number
    return [(int(word) if place % 2 else -1, word) for place, word in enumerate(words)]


def _leads_out(path: Path, real: str) -> bool:
    return path.is_symlink() and os.path.commonpath([os.path.realpath(path), real]) != real


def _file(path: Path, agent: str, skip: Callable[[Path], None]) -> Iterator[tuple[Path, str]]:
    if path.suffix in LARGEST_FILES or minari.is_dataset(path):
        yield path, agent
    else:
        skip(path)


def _read(path: Path, agent: str) -> Iterator[tuple[int | None, Recording | TomnetError]]:
    """What is in a file, each with its line where there are several."""
    try:
        if minari.is_dataset(path):
            yield from ((None, each) for each in minari.read_minari(path))
            return
        if path.suffix not in LARGEST_FILES:
            raise BadFile(path, "expected a name that ends in " + ", ".join(LARGEST_FILES), _what_it_is(path))
        with open_plain(path, LARGEST_FILES[path.suffix]) as file:
            if path.suffix != shards.SUFFIX:  # which begin with a number, and have their own check
                check_begins_harmlessly(path, file)
            if path.suffix == text.SUFFIX:
                yield None, text.read_text(path, agent, file.read())
            elif path.suffix == jsonl.SUFFIX:
                yield from jsonl.read_jsonl(path, file)
            else:
                yield from ((None, each) for each in shards.read_shard(path))
    except MissingExtra:  # no fault of the file
        raise
    except TomnetError as error:
        yield None, error
    except OSError as error:
        yield None, BadFile(path, (error.strerror or str(error)).lower())


def _what_it_is(path: Path) -> str | None:
    if path.suffix in (".pkl", ".pickle", ".pt", ".npy", ".npz"):
        return "such files can run code, and tomnet never opens them"
    return None


# --- Writing


def write_recordings(recordings: Iterable[Recording], path: FilePath, format: str = "text") -> list[Path]:
    """All of them as `text`, `jsonl` or `safetensors`, in a new folder, or in one file if its name ends in `.jsonl` or
    `.safetensors`; either all is written or nothing. Returns the files.

    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "one.txt").write_text("@.A\\n\\nright\\nright\\n")
    >>> recordings = tomnet.read_recordings(folder)
    >>> tomnet.write_recordings(recordings, folder / "all.jsonl", "jsonl")[0].name
    'all.jsonl'
    >>> tomnet.read_recordings(folder / "all.jsonl") == recordings
    True
    """
    check_path("path", path)
    path = Path(path)
    if not isinstance(format, str) or format not in FORMATS:
        raise nearest(str(format), FORMATS, "format")
    check_is_new(path)
    if path.suffix in FORMATS.values() and (format == "text" or path.suffix != FORMATS[format]):
        ending = f"{format} has files that end in {FORMATS[format]}"
        raise BadSetting(
            "out", path, "text has a file for every episode: name a folder" if format == "text" else ending
        )
    recordings = _listed(recordings)
    _check_names(recordings, path)
    if path.suffix == FORMATS[format]:
        _write_file(recordings, path, format)
        return [path]
    with new_folder(path) as folder:
        written = _write_folder(recordings, folder, format)
    return [path / file.relative_to(folder) for file in written]


def _listed(recordings: Iterable[Recording]) -> list[Recording]:
    if isinstance(recordings, Recording) or not isinstance(recordings, Iterable):
        raise BadSetting("recordings", type(recordings).__name__, "must be several, as a list has them")
    each = list(recordings)
    for one in each:
        if not isinstance(one, Recording):
            raise BadSetting("recordings", f"one that is of type {type(one).__name__}", "must each be a Recording")
    return each


def _check_names(recordings: Sequence[Recording], path: Path) -> None:
    names: set[tuple[str, str]] = set()
    for each in recordings:
        if (each.agent, each.episode) in names:
            raise BadRecording("episode", f"a name for every episode of {each.agent}", each.episode, path=path)
        names.add((each.agent, each.episode))
    if not names:
        raise BadFile(path, "there are no episodes to write")


def _write_file(recordings: Sequence[Recording], path: Path, format: str) -> None:
    if format == "jsonl":
        write_atomically(path, b"".join(jsonl.format_jsonl(recordings)))
    else:
        shards.write_shard(path, recordings)


def _write_folder(recordings: Sequence[Recording], folder: Path, format: str) -> list[Path]:
    if format == "text":
        return [_write_text(each, folder, name) for each, name in zip(recordings, _file_names(recordings))]
    parts = [recordings] if format == "jsonl" else list(shards.shards(recordings))
    written = []
    for number, part in enumerate(parts):
        name = EPISODES if len(parts) == 1 else f"{EPISODES}-{number:04}"
        written.append(folder / f"{name}{FORMATS[format]}")
        _write_file(part, written[-1], format)
    return written


def _file_names(recordings: Sequence[Recording]) -> Iterator[str]:
    """Those of the episodes. Files are read by name, so an agent whose episodes came in another order has a number
    before each; the file then says what the episode is called."""
    out_of_order, before = set(), {}
    for each in recordings:
        name = _by_number(each.episode + text.SUFFIX)
        if name < before.get(each.agent, name):
            out_of_order.add(each.agent)
        before[each.agent] = name
    written = Counter()
    for each in recordings:
        number = f"{episode_name(written[each.agent])}-" if each.agent in out_of_order else ""
        yield f"{number}{each.episode}{text.SUFFIX}"
        written[each.agent] += 1


def _write_text(recording: Recording, folder: Path, name: str) -> Path:
    path = folder / recording.agent / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "xb") as file:
        file.write(text.format_text(recording, named=path.stem != recording.episode).encode())
    return path
