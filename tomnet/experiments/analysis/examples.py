"""Which agent a figure shows, and its episodes and states as plain tables."""

import dataclasses

import numpy as np
from jaxtyping import Int

from ...episodes.episode import NONE, Episode, QueryState, Snapshot
from ...world.gridworld import destination


@dataclasses.dataclass(frozen=True)
class PlainState:
    walls: Int[np.ndarray, "row col"]  # 1: a wall
    agent_cell: int
    object_cells: list[int]
    subgoal_cell: int = NONE  # where a drawing sets it apart from the objects; otherwise it is the last of them


@dataclasses.dataclass(frozen=True)
class PlainEpisode:
    """The steps that are real, and the objects as they lay at first."""

    walls: Int[np.ndarray, "row col"]
    agent_cells: list[int]
    object_cells: list[int]
    actions: list[int]
    final_cell: int
    subgoal_cell: int = NONE


def first_of(*wishes: np.ndarray) -> int | None:
    """The first agent that fulfils a wish, by the first wish that any agent fulfils; None where there is none.

    Among few agents the best example may be missing, and the first agent of all would be shown for what it is not.
    """
    return next((int(np.argmax(wish)) for wish in wishes if wish.any()), None)


def plain_state(state: QueryState) -> PlainState:
    walls, objects = np.asarray(state.walls).astype(int), np.asarray(state.object_cells)
    return PlainState(walls, int(state.agent_cell), objects.tolist())


def plain_episode(episode: Episode) -> PlainEpisode:
    length = int(episode.length)
    return PlainEpisode(
        walls=np.asarray(episode.walls).astype(int),
        agent_cells=np.asarray(episode.agent_cells)[:length].tolist(),
        object_cells=np.asarray(episode.object_cells)[0].tolist(),
        actions=np.asarray(episode.actions)[:length].tolist(),
        final_cell=int(episode.final_cell),
    )


def plain_snapshot(snapshot: Snapshot) -> PlainEpisode:
    """A snapshot as figures draw it: one step, to where it leads."""
    final_cell, _ = destination(snapshot.walls, snapshot.agent_cell, snapshot.action)
    return PlainEpisode(
        walls=np.asarray(snapshot.walls).astype(int),
        agent_cells=[int(snapshot.agent_cell)],
        object_cells=np.asarray(snapshot.object_cells).tolist(),
        actions=[int(snapshot.action)],
        final_cell=int(final_cell),
    )
