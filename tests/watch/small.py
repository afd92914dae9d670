"""Agents whose episodes anyone can draw: four objects around them, and a straight way to one."""

from tomnet.recordings.recording import Recording
from tomnet.recordings.text import parse_text

MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
LETTERS = "ABCD"


def straight(agent: str, number: int, goal: str, *, size: int = 11, reach: int = 4, unknown: tuple[int, ...] = ()):
    """From the middle to the goal; which object lies where changes from episode to episode."""
    turned = LETTERS[number % 4 :] + LETTERS[: number % 4]
    grid, middle = [["."] * size for _ in range(size)], size // 2
    grid[middle][middle] = "@"
    for letter, (down, right) in zip(turned, MOVES.values()):
        grid[middle + reach * down][middle + reach * right] = letter
    action = list(MOVES)[turned.index(goal)]
    down, right = MOVES[action]
    steps = [
        f"? {middle + (time + 1) * down} {middle + (time + 1) * right}" if time in unknown else action
        for time in range(reach)
    ]
    lines = ["".join(row) for row in grid] + ["", *steps, f"took {goal}", ""]
    return parse_text("\n".join(lines), agent, f"{number:03}")


def faithful(agent: str, goal: str, episodes: int, **how) -> list[Recording]:
    return [straight(agent, number, goal, **how) for number in range(episodes)]


def turncoat(agent: str, goal: str, other: str, episodes: int, **how) -> list[Recording]:
    """Goes for another object in its last episode."""
    return [*faithful(agent, goal, episodes - 1, **how), straight(agent, episodes - 1, other, **how)]
