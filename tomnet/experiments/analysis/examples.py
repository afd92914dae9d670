"""Which agent a figure shows, and its episodes and states as plain tables."""

from typing import Any

import numpy as np

from ...episodes.episode import Episode, Snapshot


def first_of(*wishes: np.ndarray) -> int | None:
    """The first agent that fulfils a wish, by the first wish that any agent fulfils; None where there is none.

    Among few agents the best example may be missing, and the first agent of all would be shown for what it is not.
    """
    return next((int(np.argmax(wish)) for wish in wishes if wish.any()), None)


def plain_snapshot(state: Snapshot) -> dict[str, Any]:
    return {
        "walls": np.asarray(state.walls).astype(int).tolist(),
        "agent_cell": int(state.agent_cell),
        "object_cells": np.asarray(state.object_cells).tolist(),
    }


def plain_episode(episode: Episode) -> dict[str, Any]:
    length = int(episode.length)
    return {
        "walls": np.asarray(episode.walls).astype(int).tolist(),
        "agent_cells": np.asarray(episode.agent_cells)[:length].tolist(),
        "object_cells": np.asarray(episode.object_cells)[0].tolist(),
        "actions": np.asarray(episode.actions)[:length].tolist(),
        "final_cell": int(episode.final_cell),
    }
