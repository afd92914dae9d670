"""Small populations drawn in text, and made at once: nothing here trains for long."""

import numpy as np

from tomnet.recordings.recording import Recording
from tomnet.recordings.text import parse_text

ROW = "A.@..B"  # A is two steps away, B three


def walk(agent: str, episode: int, goal: str, level: str = ROW) -> Recording:
    """Along the row to A or B; the walls behind tell episodes apart."""
    behind = "".join("#" if episode >> bit & 1 else "." for bit in range(6))
    steps = ["left"] * 2 if goal == "A" else ["right"] * 3
    return parse_text("\n".join([level, "######", behind, "", *steps, f"took {goal}", ""]), agent, f"{episode:03}")


def two_kinds(agents: int = 10, episodes: int = 6) -> list[Recording]:
    """Those with even numbers want A, which is nearer; the others want B."""
    return [
        walk(f"agent-{agent}", agents * episode % 64 + agent, "AB"[agent % 2])
        for agent in range(agents)
        for episode in range(episodes)
    ]


def random_walks(agents: int, episodes: int, seed: int = 0, size: tuple[int, int] = (3, 4)) -> list[Recording]:
    """Mazes without walls, two objects, three steps anywhere: nothing to learn, everything to be asked about."""
    random, found = np.random.default_rng(seed), []
    for agent in range(agents):
        for episode in range(episodes):
            cells = random.permutation(size[0] * size[1])[:3]
            found.append(
                Recording(
                    agent=f"agent-{agent}",
                    episode=f"{episode:03}",
                    walls=np.zeros(size, bool),
                    objects=("A", "B"),
                    actions=random.integers(0, 5, 3),
                    cells=np.append(cells[0], random.integers(0, size[0] * size[1], 3)),
                    object_cells=np.tile(cells[1:], (4, 1)),
                    taken=np.full(3, -1),
                )
            )
    return found
