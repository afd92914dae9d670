"""Files that survive kills, full disks and flipped bits: arrays, JSON, logs, and the lock of a run folder.

An array file is a plain safetensors file, readable by anyone, with one metadata entry of ours:

    {"__metadata__": {"tomnet": "{\"sha256\": …, \"format\": …, \"version\": …, \"header\": {…}}"}, …tensors…}

The checksum lives inside the file, so there is no second file that a kill could leave out of step. It covers
every byte of the file, itself taken as zeros.
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import methodcaller
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

from .errors import BadFile, TomnetError
from .typed_json import to_json

FilePath = str | os.PathLike[str]

LENGTH_BYTES = 8  # a safetensors file opens with the length of its JSON header
STAMP = rb'{"__metadata__":{"tomnet":"{\"sha256\":\"'  # how that header opens when we wrote the file
DIGEST = slice(LENGTH_BYTES + len(STAMP), LENGTH_BYTES + len(STAMP) + 64)
NO_DIGEST = b"0" * 64
FORMAT_SAID = re.compile(re.escape(STAMP) + rb'[0-9a-f]{64}\\",\\"format\\":\\"([a-z ]+)\\"')
LARGEST_HEADER = 2**10  # bytes that are looked at for it

TEMPORARY_SUFFIX = ".tomnet-tmp"
PREVIOUS_SUFFIX = ".previous"

# safetensors' own numpy reader has no bfloat16.
DTYPES = {
    "BOOL": np.dtype(bool),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "C64": np.dtype("<c8"),
    **{f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}") for kind in "IU" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
}

# Only to say what the file is. None of these is ever opened as such, because unpickling runs code.
FOREIGN_MAGIC = {
    b"PK\x03\x04": "a zip archive (.npz or PyTorch)",
    b"\x93NUMPY": "a .npy array",
    **{b"\x80" + bytes([protocol]): "a pickle" for protocol in range(2, 6)},
}


# --- Writing


def write_atomically(path: FilePath, data: bytes | bytearray, *, previous: Path | None = None) -> None:
    """Put `data` at `path` so that a kill at any instant leaves the old file or the new one, whole.

    With `previous`, the old file stays available under that name.
    """
    path = Path(path)
    temporary = _temporary(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_durably(temporary, data)
        if previous is not None and path.exists():
            _keep(path, previous)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException as error:  # an interrupt must not leave the temporary file behind either
        _remove_quietly(temporary)
        if isinstance(error, OSError):
            raise _cannot("write", path, error) from error
        raise


def _write_durably(path: Path, data: bytes | bytearray) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        # Without this, a power cut just after the rename can leave a complete name on an empty file.
        os.fsync(file.fileno())


def _keep(path: Path, previous: Path) -> None:
    # A hard link, because a rename would leave an instant in which `path` does not exist.
    link = _temporary(previous)
    try:
        os.link(path, link)
        os.replace(link, previous)
    except OSError:  # some file systems have no hard links
        write_atomically(previous, path.read_bytes())
    finally:
        _remove_quietly(link)  # renaming a link onto its own file does nothing, and leaves the link


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")


def _remove_quietly(path: Path) -> None:
    with suppress(OSError):  # the error that brought us here is the one to report
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot(verb: str, path: Path, error: OSError) -> TomnetError:
    return TomnetError(f"cannot {verb} {path}: {error.strerror or error}")


@contextmanager
def new_folder(path: FilePath) -> Iterator[Path]:
    """A folder that is there whole once the block is through, and not at all if the block fails.

    What is in it is synced once at the end: with thousands of files, one by one would take minutes.
    """
    path = Path(path)
    check_is_new(path)
    temporary = _temporary(path.absolute())
    try:
        temporary.mkdir(parents=True)
        yield temporary
        os.sync()
        os.replace(temporary, path)
        _sync_folder(path.absolute().parent)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError):
            raise _cannot("write", path, error) from error
        raise


def check_is_new(path: FilePath) -> None:
    """Nothing of the user's is overwritten: there may at most be an empty folder."""
    path = Path(path)
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise BadFile(path, "is there already", "name a file or folder that is not")


# --- Arrays


def save_arrays(
    path: FilePath,
    arrays: Mapping[str, Any],
    header: Mapping[str, Any],
    format: str,
    version: int,
    *,
    keep_previous: bool = False,
) -> None:
    """Write named arrays (numpy or JAX) and a JSON header as one checksummed safetensors file.

    The same content always gives the same bytes. With `keep_previous`, the file replaced stays, as
    `<path>.previous`.
    """
    path = Path(path)
    # Only a file that loads is worth keeping: a damaged one would push out a good `.previous`.
    previous = _previous(path) if keep_previous and _loads(path, format, version) else None
    write_atomically(path, _encode(arrays, header, format, version), previous=previous)


def load_arrays(path: FilePath, format: str, version: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header that `save_arrays` wrote, or a `BadFile` that says why not."""
    path = Path(path)
    try:
        return _load(path, format, version)
    except BadFile as error:
        previous = _previous(path)
        if _loads(previous, format, version):
            raise BadFile(path, error.why, f"an intact earlier copy is {previous}") from None
        raise


def _load(path: Path, format: str, version: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    arrays, about = _decode(path, _read(path))
    if about["format"] != format:
        raise BadFile(path, f"holds {about['format']!r}, not {format!r}")
    if about["version"] != version:
        hint = "an earlier tomnet wrote it; train it anew" if about["version"] in range(version) else None
        raise BadFile(path, f"{format} version {about['version']!r}; this tomnet reads version {version}", hint)
    return arrays, about["header"]


def stored_format(path: FilePath) -> str:
    """What kind of arrays a file holds, by what it says itself: nothing in it is checked."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            opening = file.read(min(length, LARGEST_HEADER))
    except OSError as error:
        raise BadFile(path, (error.strerror or str(error)).lower()) from error
    found = FORMAT_SAID.match(opening)
    return found[1].decode() if found else ""


def _loads(path: Path, format: str, version: int) -> bool:
    try:
        _load(path, format, version)
    except BadFile:
        return False
    return True


def _encode(arrays: Mapping[str, Any], header: Mapping[str, Any], format: str, version: int) -> bytearray:
    about = {"sha256": NO_DIGEST.decode(), "format": format, "version": version, "header": dict(header)}
    # Contiguous, because safetensors copies raw memory. One metadata entry, because it shuffles several, and
    # two files of equal content would differ.
    dense = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in dense.items():
        if array.dtype.newbyteorder("=") not in DTYPES.values():
            raise TypeError(f"{name} is {array.dtype}, which would not load again")
    metadata = {"tomnet": json.dumps(about, separators=(",", ":"), default=methodcaller("tolist"))}
    raw = bytearray(safetensors.numpy.save(dense, metadata=metadata))
    assert raw[DIGEST] == NO_DIGEST, "safetensors lays out its header in a new way"
    raw[DIGEST] = _digest(raw)
    return raw


def _digest(raw: bytes | bytearray) -> bytes:
    view = memoryview(raw)
    digest = hashlib.sha256(view[: DIGEST.start])
    digest.update(NO_DIGEST)
    digest.update(view[DIGEST.stop :])
    return digest.hexdigest().encode()


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise BadFile(path, "not a file")
        return path.read_bytes()
    except OSError as error:
        raise BadFile(path, (error.strerror or str(error)).lower()) from error


def _decode(path: Path, raw: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    if raw[LENGTH_BYTES : DIGEST.start] != STAMP:
        raise BadFile(path, _what_else(raw))
    if raw[DIGEST] != _digest(raw):
        raise BadFile(path, _damage(raw))
    try:
        about = _about(raw)
        tensors = sorted(safetensors.deserialize(raw), key=lambda named: named[0])
        return {name: _array(tensor) for name, tensor in tensors}, about
    # A checksum guards against accidents, not against an author who means harm.
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadFile(path, "the checksum is right but the contents are not a tomnet file") from error


def _array(tensor: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(tensor["data"], dtype=DTYPES[tensor["dtype"]]).reshape(tensor["shape"])


def _about(raw: bytes) -> dict[str, Any]:
    about = json.loads(_json_header(raw)["__metadata__"]["tomnet"])
    if not isinstance(about["header"], dict):
        raise TypeError("the header is not a JSON object")
    return {name: about[name] for name in ("format", "version", "header")}


def _json_header(raw: bytes) -> dict[str, Any]:
    length = int.from_bytes(raw[:LENGTH_BYTES], "little")
    return json.loads(raw[LENGTH_BYTES : LENGTH_BYTES + length])


def _what_else(raw: bytes) -> str:
    if not raw:
        return "empty"
    # A safetensors header opens with a brace. Looked at first, because its length can start like a pickle.
    opening = raw[LENGTH_BYTES:]
    if opening and STAMP.startswith(opening):
        return _damage(raw)
    if opening.startswith(b"{"):
        return "damaged, or a safetensors file that tomnet did not write"
    for magic, kind in FOREIGN_MAGIC.items():
        if raw.startswith(magic):
            return f"{kind}, which tomnet never opens because such files can run code"
    return "not a tomnet file"


def _damage(raw: bytes) -> str:
    header = LENGTH_BYTES + int.from_bytes(raw[:LENGTH_BYTES], "little")
    if len(raw) < header:  # how long the whole was is in the part that is missing
        return f"truncated: {len(raw)} bytes are there, and its header alone has {header}"
    try:
        tensors = [entry for name, entry in _json_header(raw).items() if name != "__metadata__"]
        expected = header + max((entry["data_offsets"][1] for entry in tensors), default=0)
        if len(raw) < expected:
            return f"truncated: {len(raw)} of {expected} bytes are there"
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        pass  # the header itself is damaged
    return "damaged: its checksum does not match"


def _previous(path: Path) -> Path:
    return path.with_name(path.name + PREVIOUS_SUFFIX)


# --- JSON


def json_text(value: Any) -> str:
    """Strict: a number that is not finite becomes null."""
    return json.dumps(to_json(value), indent=2)


def write_json(path: FilePath, value: Any) -> None:
    """A small JSON file, such as a config or a result."""
    write_atomically(path, (json_text(value) + "\n").encode())


def read_json(path: FilePath) -> Any:
    path = Path(path)
    try:
        return json.loads(_read(path))
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
        raise _cannot("write", path, error) from error


def read_jsonl(path: FilePath) -> list[dict[str, Any]]:
    """Every row. A final line cut short by a kill is dropped; any other bad line is an error."""
    path = Path(path)
    lines = _read(path).split(b"\n")
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
        kept = [json.dumps(row) + "\n" for row in read_jsonl(path) if keep(row)]
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


# --- Run folders


LOCK = ".lock"


class RunLock:
    """Holds a run folder for this process: `with RunLock(folder): …`. A second process is turned away.

    The kernel drops the lock when the process dies, however it dies, so no stale lock ever needs removing.
    """

    def __init__(self, folder: FilePath):
        self.folder = Path(folder)

    def __enter__(self) -> "RunLock":
        path = self.folder / LOCK
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "a+")
        except OSError as error:
            raise _cannot("write", path, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._settle_in()
        except OSError as error:
            self._file.close()
            if isinstance(error, BlockingIOError):
                raise self._in_use(path) from None
            raise _cannot("lock", path, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _in_use(self, path: Path) -> TomnetError:
        return TomnetError(f"run folder {self.folder} is in use by process {path.read_text() or 'unknown'}")

    def _settle_in(self) -> None:
        self._file.truncate(0)
        os.write(self._file.fileno(), str(os.getpid()).encode())
        # Whoever was writing these was killed: nobody else can be writing while the lock is ours.
        for leftover in self.folder.rglob(f".*{TEMPORARY_SUFFIX}"):
            _remove_quietly(leftover)
