"""The paper's ToMnet, pretrained in our own worlds, asked about recordings as every observer is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..episodes.episode import Episode, QueryState
from ..episodes.history import History
from ..observer.config import ObserverConfig
from ..observer.tomnet import Reading, ToMnet, ask
from ..recordings.episodes import to_episodes
from ..recordings.recording import ACTIONS
from ..support.trees import pick
from ..world.levels import LETTERS
from .dataset import Dataset
from .network_observer import in_parts
from .observers import Asked

LEAST = 1e-6  # probability that nothing is taken, however sure the consumption head is of the objects


def letters(config: ObserverConfig) -> tuple[str, ...]:
    """Of the objects that an observer knows, in its order."""
    return tuple(LETTERS[: config.objects])


@dataclass(frozen=True, eq=False)
class ToMnetObserver:
    network: ToMnet

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        """Each kind by itself, as the consumption head has it; what is left over is that nothing is taken."""
        kinds = [letters(self.network.config).index(kind) for kind in data.schema.kinds]
        logits = self._asked(data, asked, lambda reading: reading.predictions.consumption)
        taken = np.asarray(jax.nn.sigmoid(logits))[:, kinds] * data.present[asked.place]
        nothing = np.maximum(1 - taken.sum(-1, keepdims=True), LEAST)
        said = np.concatenate([taken, nothing], -1)
        return said / said.sum(-1, keepdims=True)

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        numbers = [ACTIONS.index(name) for name in data.schema.action_names]
        said = np.exp(self._asked(data, asked, lambda reading: reading.predictions.action))[:, numbers]
        return said / said.sum(-1, keepdims=True)

    def successor_maps(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked gamma row col"]:
        return np.exp(self._asked(data, asked, lambda reading: reading.predictions.successor))

    def embeddings(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked embedding"]:
        none = np.zeros(len(past), int)
        return self._asked(data, Asked(past, none, none), lambda reading: reading.character.mean)

    def _asked(self, data: Dataset, asked: Asked, part: Callable[[Reading], Any]) -> np.ndarray:
        numbers = np.unique(asked.past[asked.past >= 0])
        episodes = episodes_of(data, numbers, self.network.config)

        def read(some: Asked) -> Array:
            place = np.searchsorted(numbers, np.maximum(some.past, 0)) % max(len(numbers), 1)
            history = History(pick(episodes, place), jnp.asarray(some.past >= 0))
            return part(ask(self.network, history, query_of(data, some, self.network.config)))

        return in_parts(asked, read)


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
