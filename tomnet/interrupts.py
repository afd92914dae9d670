"""Ctrl-C in a long job: noticed between two steps, so that what was done is saved first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import TomnetError


class Interrupted(TomnetError):
    """Ctrl-C, after the checkpoint was written."""


@contextmanager
def stop_requests() -> Iterator[threading.Event]:
    """Turns Ctrl-C and SIGTERM into a flag that is read between chunks; a second Ctrl-C stops at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def ask(number, frame):
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
