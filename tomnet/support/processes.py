"""One of several processes that train together, on one host or on many: `jax.distributed` brings them together.

All of them run the same program on the same numbers. The first one writes, and what depends on a clock, on a signal or
on a file is decided by all: one that went its own way would leave the others waiting for it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .errors import BadSetting, TomnetError
from .run_lock import RunLock

JOIN_SECONDS = 60  # that a process waits for the others at the start
HEARTBEAT_SECONDS = 30  # without a sign of life, a process counts as lost


def join(coordinator: str | None, processes: int | None, process: int | None) -> None:
    """Call before anything is computed. What is not told is asked of Slurm, Kubernetes or Open MPI.

    JAX aborts a process that cannot reach the others, now or later: `overseen` says so.
    """
    try:
        jax.distributed.initialize(
            coordinator,
            processes,
            process,
            initialization_timeout=JOIN_SECONDS,
            heartbeat_timeout_seconds=HEARTBEAT_SECONDS,
            shutdown_timeout_seconds=HEARTBEAT_SECONDS,  # they end together, or something is wrong
        )
    except (ValueError, RuntimeError) as error:
        raise TomnetError(f"the processes cannot find each other: {str(error).splitlines()[0]}") from None


def check_place(coordinator: str | None, processes: int | None, process: int | None) -> None:
    """What can be seen to be wrong before anyone is waited for."""
    told = {"coordinator": coordinator, "processes": processes, "process": process}
    missing = [name for name, value in told.items() if value is None]
    if missing and len(missing) < len(told):
        raise TomnetError(f"--{' and --'.join(missing)} must be told too: all three options of a place, or none")
    if coordinator is None or processes is None or process is None:
        return
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise BadSetting("coordinator", coordinator, "must be a host and a port, such as 10.0.0.1:1234")
    if processes < 1:
        raise BadSetting("processes", processes, "must be above 0")
    if not 0 <= process < processes:
        raise BadSetting("process", process, f"must lie between 0 and {processes - 1}")


def is_first() -> bool:
    """Whether this is the process that writes."""
    return jax.process_index() == 0


def anyone(flag: bool) -> bool:
    """Whether any of the processes says so; all must ask."""
    if jax.process_count() == 1:
        return flag
    from jax.experimental import multihost_utils

    return bool(np.any(multihost_utils.process_allgather(np.array(flag))))


def by_the_first(work: Callable[[], Any]) -> Any:
    """What the first process makes of it; the others wait, and are given nothing. Where it fails, all do."""
    result, failed = None, None
    if is_first():
        try:
            result = work()
        except Exception as error:
            failed = error
    if anyone(failed is not None):
        raise failed or TomnetError("the first process could not go on, and says why")
    return result


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder of a run, held by the process that writes; the others go on once it is."""
    with ExitStack() as held:
        by_the_first(lambda: held.enter_context(RunLock(folder)))
        yield
