"""A population that shares no code with the project: text mazes, and 30 agents of three hidden kinds walking in them.

    python benchmarks/strangers.py DIR [--agents 30] [--episodes 40] [--seed 0]

Mazes of 13×9 with six kinds of objects, all of which can be reached. A third of the agents have fixed favourites (an
order of their own, the first of which they always take), a third are greedy (the nearest), a third alternate between
two objects of their own. All walk by a shortest way round the other objects, and one step in ten is a step aside.
`DIR/kinds.json` says who is who, and is not for the observer.
"""

import argparse
import json
import random
from collections import deque
from pathlib import Path

ROWS, COLS, KINDS, WALLS, ASIDE = 13, 9, "ABCDEF", 0.2, 0.1
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
HIDDEN_KINDS = ("favourite", "greedy", "alternating")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--agents", type=int, default=30)
    options.add_argument("--episodes", type=int, default=40)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    write_strangers(asked.folder, asked.agents, asked.episodes, asked.seed)


def write_strangers(folder: Path, agents: int = 30, episodes: int = 40, seed: int = 0) -> dict[str, str]:
    """The hidden kind of each agent, by name. The names tell nothing."""
    dice = random.Random(seed)
    hidden = [HIDDEN_KINDS[number % len(HIDDEN_KINDS)] for number in range(agents)]
    dice.shuffle(hidden)
    kinds = {f"agent-{number:02}": kind for number, kind in enumerate(hidden)}
    for name, kind in kinds.items():
        (folder / name).mkdir(parents=True)
        order = dice.sample(KINDS, len(KINDS))
        for episode in range(episodes):
            (folder / name / f"{episode:03}.txt").write_text(walk(dice, kind, order, episode))
    (folder / "kinds.json").write_text(json.dumps(kinds, indent=1))
    return kinds


def walk(dice: random.Random, kind: str, order: list[str], episode: int) -> str:
    """One episode, in the text format."""
    maze, start, objects = new_maze(dice)
    ways = {letter: distances(maze, cell, set(objects.values()) - {cell}) for letter, cell in objects.items()}
    if kind == "favourite":
        goal = order[0]
    elif kind == "alternating":
        goal = order[episode % 2]
    else:
        goal = min(dice.sample(KINDS, len(KINDS)), key=lambda letter: ways[letter][start])
    here, steps, away = start, [], ways[goal]
    while away[here]:
        able = [
            name for name, cell in around(here) if cell in away and cell not in set(objects.values()) - {objects[goal]}
        ]
        nearer = [name for name, cell in around(here) if away.get(cell, ROWS * COLS) < away[here]]
        steps.append(dice.choice(able if dice.random() < ASIDE else nearer))
        here = dict(around(here))[steps[-1]]
    drawn = {cell: letter for letter, cell in objects.items()} | {start: "@"}
    rows = ["".join("#" if maze[r][c] else drawn.get((r, c), ".") for c in range(COLS)) for r in range(ROWS)]
    return "\n".join([*rows, "", *steps, f"took {goal}", ""])


def new_maze(dice: random.Random):
    """One in which every object can be reached round the others."""
    while True:
        maze = [[dice.random() < WALLS for _ in range(COLS)] for _ in range(ROWS)]
        free = [(r, c) for r in range(ROWS) for c in range(COLS) if not maze[r][c]]
        start, *cells = dice.sample(free, len(KINDS) + 1)
        objects = dict(zip(KINDS, cells))
        if all(start in distances(maze, cell, set(cells) - {cell}) for cell in cells):
            return maze, start, objects


def distances(maze: list[list[bool]], goal: tuple[int, int], closed: set[tuple[int, int]]) -> dict:
    """Steps to the goal from every cell that it can be reached from."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        here = queue.popleft()
        for _, there in around(here):
            row, col = there
            if (
                0 <= row < ROWS
                and 0 <= col < COLS
                and there not in found
                and not maze[row][col]
                and there not in closed
            ):
                found[there] = found[here] + 1
                queue.append(there)
    return found


def around(cell: tuple[int, int]) -> list[tuple[str, tuple[int, int]]]:
    return [(name, (cell[0] + down, cell[1] + right)) for name, (down, right) in STEPS.items()]


if __name__ == "__main__":
    main()
