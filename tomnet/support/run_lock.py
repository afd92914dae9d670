"""The lock of a run folder: one process at a time writes there."""

import fcntl
import os
from pathlib import Path

from .errors import TomnetError
from .files import TEMPORARY_SUFFIX, FilePath, cannot, remove_quietly

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
            raise cannot("write", path, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._settle_in()
        except OSError as error:
            self._file.close()
            if isinstance(error, BlockingIOError):
                raise self._in_use(path) from None
            raise cannot("lock", path, error) from error
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
            remove_quietly(leftover)
