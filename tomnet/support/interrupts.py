"""Ctrl-C in a long job: acknowledged at once, noticed between two steps, so that what was done is saved first."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import TomnetError

INTERRUPTED = 130  # the exit code of a program that Ctrl-C stopped
GRACE = 0.5  # seconds that Python has to stop by itself after a second Ctrl-C
SHOW_CURSOR = "\x1b[?25h"  # which a progress bar has hidden


class Interrupted(TomnetError):
    """Ctrl-C, after the checkpoint was written."""


@contextmanager
def acknowledged(waits_for: str) -> Iterator[threading.Event]:
    """Says at the first Ctrl-C what the job still waits for, and ends the process at the second. The event is whether
    there was a first.

    Python runs its own handlers between two of its steps, and a compilation is a single one of up to a minute. C notes
    a signal at once, and writes its number into a pipe on which a thread listens.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    heard, noted = os.pipe()
    os.set_blocking(noted, False)
    listener = threading.Thread(target=_listen, args=(heard, waits_for, asked), daemon=True)
    listener.start()
    before = signal.set_wakeup_fd(noted)
    try:
        yield asked
    finally:
        signal.set_wakeup_fd(before)
        os.close(noted)
        listener.join()
        os.close(heard)


def _listen(heard: int, waits_for: str, asked: threading.Event) -> None:
    while number := os.read(heard, 1):  # nothing: the job is over
        if number[0] not in (signal.SIGINT, signal.SIGTERM):
            continue
        if not asked.is_set():
            asked.set()
            print(f"tomnet: stopping once {waits_for}; Ctrl-C again stops now", file=sys.stderr, flush=True)
        elif not select.select([heard], [], [], GRACE)[0]:
            print(SHOW_CURSOR if sys.stderr.isatty() else "", end="", file=sys.stderr)
            print("tomnet: interrupted", file=sys.stderr, flush=True)
            os._exit(INTERRUPTED)  # files are written so that a kill at any instant leaves them whole


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Within `acknowledged`, where a program waits for somebody: Ctrl-C ends that, with no word of what remains."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)


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
        with acknowledged("the steps under way, which may have to be compiled first, are done and saved"):
            yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
