"""What the `tomnet` command starts: Ctrl-C is one line also while commands are being loaded and after they are done."""

import os
import signal
import sys

from ..support.interrupts import INTERRUPTED


def main() -> int:
    at_first = signal.getsignal(signal.SIGINT)
    heeded = at_first is signal.default_int_handler  # whoever started us in the background may have it ignored
    if heeded:
        signal.signal(signal.SIGINT, _stop_at_once)
    from .main import main as run_command

    if heeded:
        signal.signal(signal.SIGINT, at_first)
    try:
        return run_command()
    finally:
        if heeded:  # all is said and written; libraries that clean up would answer with a traceback
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stop_at_once(number, frame) -> None:
    os.write(sys.stderr.fileno(), b"tomnet: interrupted\n")
    os._exit(INTERRUPTED)  # nothing has begun yet
