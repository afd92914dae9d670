"""Python in a process of its own, to kill it or to have it compete with this one."""

import subprocess
import sys


def python(code, *args):
    return subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True)
