"""A process beside each one of a run of several: JAX aborts one that has lost the others, and someone must say so.

What JAX says of it is a page of addresses, and one line takes its place.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

from .console import say

OVERSEEN = "TOMNET_OVERSEEN"  # set for the process that does the work
JOINED = "tomnet: joined"
LAST_WORDS = ("coordination_service", "Terminating process because the JAX distributed service")  # and what follows
PR_SET_PDEATHSIG = 1  # Linux's number for prctl
LOST = 3  # the exit code of a process that was left alone
LOST_ANOTHER = "another process of this run was lost; --resume goes on from the last checkpoint"
BROKEN = ("Gloo", "NCCL", "UNAVAILABLE")  # what an error says where the others do not answer


def is_overseen() -> bool:
    return OVERSEEN in os.environ


def has_lost_another(error: Exception) -> bool:
    return is_overseen() and isinstance(error, RuntimeError) and any(word in str(error) for word in BROKEN)


def end_with_overseer() -> None:
    """So that whoever kills the one they know of has killed both."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def overseen(argv: list[str]) -> int:
    """Does the command in a process of its own, and answers for it."""
    from ..support.processes import JOIN_SECONDS

    command = [sys.executable, "-m", "tomnet", *argv]
    # in a group of its own: Ctrl-C reaches it once, from here
    worker = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | {OVERSEEN: "1"}, process_group=0
    )
    assert worker.stderr is not None
    with _passed_on(worker.send_signal):
        joined = relayed(worker.stderr)
        code = worker.wait()
    if code != -signal.SIGABRT:
        return code if code >= 0 else 128 - code
    if joined:
        say(f"tomnet: {LOST_ANOTHER}")
    else:
        say(f"tomnet: not all processes were there after {JOIN_SECONDS} s; is the coordinator's address right?")
    return LOST


def relayed(lines: Iterable[str]) -> bool:
    """Says what the worker says, but for JAX's last words; whether it had found the others."""
    joined = aborted = False
    for line in lines:
        joined = joined or line.startswith(JOINED)
        aborted = aborted or any(words in line for words in LAST_WORDS)
        if not aborted:
            print(line, end="", file=sys.stderr, flush=True)
    return joined


class _passed_on:
    """Signals that ask this process to stop go to the worker, which saves first."""

    def __init__(self, send: Callable[[int], None]):
        self.send = send

    def __enter__(self) -> None:
        def ask(number, frame):
            with suppress(ProcessLookupError):
                self.send(number)

        self.before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
