"""Recordings as the paper's ToMnet reads them: past episodes of one size and time, and the states asked about."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from ..episodes.episode import Episode, QueryState
from ..observer.config import ObserverConfig
from ..recordings.episodes import to_episodes
from ..world.levels import LETTERS
from .dataset import Dataset
from .observer_protocol import Asked


def letters(config: ObserverConfig) -> tuple[str, ...]:
    """Of the objects that an observer knows, in its order."""
    return tuple(LETTERS[: config.objects])


def episodes_of(data: Dataset, numbers: Int[np.ndarray, "some"], config: ObserverConfig) -> Episode:
    """So many episodes of a dataset, all with time for its longest; one at least, to stand where there is none."""
    recordings = [data.recordings[number] for number in numbers]
    found = to_episodes(recordings, config.size, letters(config), least_time=int(data.lengths.max()))
    empty = 0 if len(recordings) else 1
    return jax.tree.map(lambda leaf: np.pad(np.asarray(leaf), [(0, empty)] + [(0, 0)] * (leaf.ndim - 1)), found)


def query_of(data: Dataset, asked: Asked, config: ObserverConfig) -> QueryState:
    """The states that are asked about."""
    objects = data.objects[data.layout[asked.place]].reshape(len(asked.episode), len(data.schema.kinds), -1)
    cells = np.full((len(asked.episode), config.objects), -1)
    cells[:, [letters(config).index(kind) for kind in data.schema.kinds]] = np.where(
        objects.any(-1), objects.argmax(-1), -1
    )
    walls, agent_cell = data.walls[asked.episode], data.cells[asked.place]
    return QueryState(jnp.asarray(walls), jnp.asarray(agent_cell), jnp.asarray(cells))
