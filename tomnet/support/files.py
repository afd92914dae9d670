"""Files and folders that survive kills and full disks: there whole, or as they were before."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import BadFile, TomnetError

FilePath = str | os.PathLike[str]

TEMPORARY_SUFFIX = ".tomnet-tmp"
LARGEST_FILE = 2**33  # bytes; nothing that tomnet writes comes near, and a sparse file can claim any size


def read_whole(path: Path) -> bytes:
    """What a file holds, or a `BadFile` that says why it cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise BadFile(path, "not a file")
        if path.stat().st_size > LARGEST_FILE:
            raise BadFile(path, f"expected up to {LARGEST_FILE} bytes, found {path.stat().st_size}")
        return path.read_bytes()
    except OSError as error:
        raise BadFile(path, (error.strerror or str(error)).lower()) from error
    except MemoryError as error:
        raise BadFile(path, f"its {path.stat().st_size} bytes do not fit into memory") from error


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
        remove_quietly(temporary)
        if isinstance(error, OSError):
            raise cannot("write", path, error) from error
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
        remove_quietly(link)  # renaming a link onto its own file does nothing, and leaves the link


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")


def remove_quietly(path: Path) -> None:
    with suppress(OSError):  # the error that brought us here is the one to report
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cannot(verb: str, path: Path, error: OSError) -> TomnetError:
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
            raise cannot("write", path, error) from error
        raise


def check_is_new(path: FilePath) -> None:
    """Nothing of the user's is overwritten: there may at most be an empty folder."""
    path = Path(path)
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise BadFile(path, "is there already", "name a file or folder that is not")
