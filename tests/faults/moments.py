"""Where a run in another process stands, told from outside: by its folder and by what the kernel says of it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tomnet.support.files import TEMPORARY_SUFFIX
from tomnet.support.run_folder import CHECKPOINT

PATIENCE = 300.0  # seconds, on a busy machine


def saved_at(folder: Path) -> int:
    """When the checkpoint was written last; 0 before there is one."""
    path = folder / CHECKPOINT
    return path.stat().st_mtime_ns if path.exists() else 0


def saving(folder: Path) -> bool:
    """Whether a file is being written at this moment."""
    return any(name.endswith(TEMPORARY_SUFFIX) for name in os.listdir(folder))


def running(pid: int) -> bool:
    """Not a zombie either: whose parent hears of it in a moment."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds, pid: int, seconds: float = PATIENCE, pause: float = 0.005) -> None:
    end = time.monotonic() + seconds
    while running(pid) and not holds() and time.monotonic() < end:
        time.sleep(pause)


def stopped(pid: int) -> bool:
    """Every thread of it; one that ends meanwhile is none of them any more."""
    stats = []
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):
            stats.append(path.read_text())
    return all(stat.rpartition(")")[2].split()[0] in "Tt" for stat in stats)


@contextmanager
def held(pid: int) -> Iterator[None]:
    """As it is at this moment: it goes on afterwards."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: stopped(pid), pid, pause=0.001)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
