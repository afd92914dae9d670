"""Left- and right-handed wall followers (section 3.3, Fig. 9): a statistic of the agents' own behaviour.

A move along a wall has it on the same side before and after. The index is (left − right) / (left + right) over such
moves: +1 for an agent that always has the wall at its left hand, -1 at its right, 0 for one that does not care. The
edge of the grid is a wall. Moves along walls on both sides tell nothing and do not count.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from ...agents.population import Part
from ...episodes.episode import Episode
from ...world.gridworld import ACTIONS, MOVES
from .statistics import UNKNOWN, Estimate, bootstrap, mean_interval

HAND_GOALS = {"stateless-5x5": 0.6}  # mean size of the index, set before these were trained
UP, DOWN, LEFT, RIGHT = (ACTIONS.index(name) for name in ("up", "down", "left", "right"))
LEFT_HAND = {UP: LEFT, DOWN: RIGHT, LEFT: DOWN, RIGHT: UP}
RIGHT_HAND = {heading: LEFT_HAND[LEFT_HAND[LEFT_HAND[heading]]] for heading in LEFT_HAND}


def moves_along_walls(episodes: Episode) -> tuple[np.ndarray, np.ndarray]:
    """How many moves of each episode (leading axis) follow a wall at the left hand, and at the right."""
    walls = np.pad(np.asarray(episodes.walls), ((0, 0), (1, 1), (1, 1)), constant_values=True)
    cells, after, actions = np.asarray(episodes.agent_cells), cells_after(episodes), np.asarray(episodes.actions)
    moved = np.asarray(episodes.real) & (cells != after)

    def wall_beside(cells: np.ndarray, side: np.ndarray) -> np.ndarray:
        offset = MOVES[side]
        rows, cols = cells // episodes.size + 1 + offset[..., 0], cells % episodes.size + 1 + offset[..., 1]
        return walls[np.arange(len(walls))[:, None], rows, cols]

    def along(hand: dict[int, int]) -> np.ndarray:
        side = np.array([hand.get(action, 0) for action in range(len(ACTIONS))])[np.clip(actions, 0, None)]
        return wall_beside(cells, side) & wall_beside(after, side)

    left, right = along(LEFT_HAND), along(RIGHT_HAND)
    return (moved & left & ~right).sum(1), (moved & right & ~left).sum(1)


def cells_after(episodes: Episode) -> np.ndarray:
    """`[episode, time]`: where each action led; in the padding, where the episode ended."""
    cells, last = np.asarray(episodes.agent_cells).astype(int), np.asarray(episodes.final_cell).astype(int)
    after = np.concatenate([cells[:, 1:], last[:, None]], axis=1)
    return np.where(np.arange(after.shape[1]) >= np.asarray(episodes.length)[:, None] - 1, last[:, None], after)


def index(left: np.ndarray, right: np.ndarray) -> float:
    moves = left.sum() + right.sum()
    return float((left.sum() - right.sum()) / moves) if moves else float("nan")


def index_interval(left: np.ndarray, right: np.ndarray) -> Estimate:
    """With its interval over episodes; unknown of a network that never walked along a wall."""
    return bootstrap(index, left, right) if left.sum() + right.sum() else UNKNOWN


@dataclasses.dataclass(frozen=True)
class NetworkHand:
    index: Estimate
    moves: int
    part: Part | None


@dataclasses.dataclass(frozen=True)
class Hands:
    """How many networks have their wall at the left hand, and how many at the right."""

    left: int
    right: int


@dataclasses.dataclass(frozen=True)
class Handedness:
    """The index of each network, and the mean over networks of it and of its size."""

    each: list[NetworkHand]
    mean: Estimate
    size: Estimate
    hands: dict[Part, Hands]  # empty where networks are not split into parts


def handedness(counted: list[tuple[np.ndarray, np.ndarray]], parts: Sequence[Part] = ()) -> Handedness:
    """`counted`: the moves along walls of each network, at the left hand and at the right."""
    each = [
        NetworkHand(index_interval(left, right), int(left.sum() + right.sum()), part)
        for (left, right), part in zip(counted, parts or [None] * len(counted), strict=True)
    ]
    values = np.array([network.index.mean for network in each])
    known = values[np.isfinite(values)]
    split: tuple[Part, ...] = ("training", "held out") if parts else ()
    hands: dict[Part, Hands] = {part: _hands(values[np.array(parts) == part]) for part in split}
    return Handedness(each, mean_interval(known), mean_interval(abs(known)), hands)


def _hands(values: np.ndarray) -> Hands:
    return Hands(int((values > 0).sum()), int((values < 0).sum()))
