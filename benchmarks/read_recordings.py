"""How long 20,000 episodes take to read and check, in every format, and how much memory they need.

    python benchmarks/read_recordings.py [--episodes 20000] [--agents 500] [--folder DIR]

Made-up mazes of 13×9 with six kinds of objects; agents that walk to one of them by the shortest way, with a step
aside now and then. Each format is read by a process of its own, whose greatest memory is what is reported.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

import numpy as np

from tomnet.recordings.folder import FORMATS, write_recordings
from tomnet.recordings.recording import ACTIONS, Recording
from tomnet.recordings.text import parse_text

ROWS, COLS, LETTERS, WALL_SHARE, ASIDE = 13, 9, "ABCDEF", 0.2, 0.2
OFFSETS = dict(zip(ACTIONS, ((-1, 0), (1, 0), (0, -1), (0, 1))))

READ = """
import json, resource, sys, time
start = time.perf_counter()
from tomnet.recordings.folder import read_recordings
from tomnet.recordings.survey import survey
began = time.perf_counter()
work = {"read": read_recordings, "check": survey}[sys.argv[2]](sys.argv[1])
seconds = time.perf_counter() - began
assert "jax" not in sys.modules
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
print(json.dumps({"seconds": seconds, "import": began - start, "MiB": memory}))
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--episodes", type=int, default=20_000)
    options.add_argument("--agents", type=int, default=500)
    options.add_argument("--folder", type=Path, help="where the files go, and stay (default: a temporary folder)")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        recordings = made_up(asked.episodes, asked.agents)
        steps = sum(map(len, recordings))
        print(f"{len(recordings)} episodes of {asked.agents} agents, {steps} steps, {os.cpu_count()} cores")
        for format in FORMATS:
            start = time.perf_counter()
            write_recordings(recordings, folder / format, format)
            print(f"{format}: written in {time.perf_counter() - start:.1f} s", flush=True)
            for what in ("read", "check"):
                print(f"{format}: {what} {measured(folder / format, what)}", flush=True)


def measured(path: Path, what: str) -> str:
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", READ, str(path), what]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environ).stdout)
    return f"in {found['seconds']:.1f} s, {found['MiB']:.0f} MiB at most, after {found['import']:.2f} s of imports"


def made_up(episodes: int, agents: int) -> list[Recording]:
    random = np.random.default_rng(0)
    favourites = random.choice(list(LETTERS), agents)
    found = []
    while len(found) < episodes:
        number = len(found) % agents
        text = maze(random, str(favourites[number]))
        if text is not None:
            found.append(parse_text(text, f"agent-{number:05}", f"{len(found) // agents + 1:04}"))
    return found


def maze(random: np.random.Generator, favourite: str) -> str | None:
    """An episode as text; None where the favourite cannot be reached."""
    grid = np.where(random.random((ROWS, COLS)) < WALL_SHARE, "#", ".")
    cells = random.permutation(ROWS * COLS)[: len(LETTERS) + 1]
    grid.reshape(-1)[cells] = [*LETTERS, "@"]
    away = distances(grid, divmod(int(cells[LETTERS.index(favourite)]), COLS))
    here = divmod(int(cells[-1]), COLS)
    if here not in away:
        return None
    steps = []
    while away[here]:
        moves = {name: (here[0] + down, here[1] + right) for name, (down, right) in OFFSETS.items()}
        able = [name for name, cell in moves.items() if cell in away]
        nearer = [name for name in able if away[moves[name]] < away[here]]
        steps.append(str(random.choice(able if random.random() < ASIDE else nearer)))
        here = moves[steps[-1]]
    rows = "\n".join("".join(row) for row in grid)
    return "\n".join([rows, "", *steps, f"took {favourite}", ""])


def distances(grid: np.ndarray, goal: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Breadth-first, around walls."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        row, col = queue.popleft()
        for down, right in OFFSETS.values():
            cell = row + down, col + right
            inside = 0 <= cell[0] < ROWS and 0 <= cell[1] < COLS
            if inside and cell not in found and grid[cell] != "#":
                found[cell] = found[row, col] + 1
                queue.append(cell)
    return found


if __name__ == "__main__":
    main()
