"""A process that has imported everything and forks a victim whenever it is asked: a kill costs no import.

    python -m faults.server      # {"victim": …, "folders": […], "stderr": …} → its number, then how it ended

Forked before JAX starts its threads, a victim is a process like any other, and compiles or loads its programs itself.
"""

import json
import os
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import tomnet
from tomnet.support.errors import TomnetError
from tomnet.support.interrupts import INTERRUPTED, Interrupted

BAD_INPUT = 2


class Server:
    """The other end, in the process that kills."""

    def __init__(self):
        root = Path(tomnet.__file__).parents[1]
        path = os.pathsep.join([str(root), str(root / "tests")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "faults.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path, "TOMNET_COMMIT": "any"},  # edits meanwhile change no outcome
        )

    def begin(self, victim: str, *folders: Path, stderr: Path, **environment: str) -> int:
        """The number of a process that trains in these folders, one after the other."""
        asked = {"victim": victim, "folders": [*map(str, folders)], "stderr": str(stderr), "environment": environment}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        return int(self._answer())

    def ended(self) -> int:
        """Waits for it; its exit code, or the number of the signal that ended it as a negative one."""
        return os.waitstatus_to_exitcode(int(self._answer()))

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def close(self) -> None:
        with suppress(OSError):
            self.process.communicate()


def serve() -> None:
    from faults.victims import VICTIMS

    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            os.environ |= asked["environment"]
            code = live(lambda asked=asked: [VICTIMS[asked["victim"]](Path(each)) for each in asked["folders"]], asked)
            os._exit(code)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


def live(work, asked) -> int:
    """With the exit codes of the command, and what it would say on stderr."""
    log = os.open(asked["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, sys.stderr.fileno())
    try:
        work()
    except TomnetError as error:
        print(f"tomnet: {error}", file=sys.stderr, flush=True)
        return INTERRUPTED if isinstance(error, Interrupted) else BAD_INPUT
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve()
