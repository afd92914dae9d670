"""The network, asked as every observer is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..recordings.recording import Recording
from .dataset import Dataset, Schema
from .features import Table, Views, equally_far, table_of, views_of
from .network import Character, Network, NetworkConfig
from .observer_protocol import Asked, other_names
from .split import Split
from .training import FitTraining, train_network

AT_A_TIME = 128  # queries; the last few are filled up, so that there is one program for all


@dataclass(frozen=True, eq=False)
class NetworkObserver:
    kind: ClassVar[str] = "network"
    network: Network

    @staticmethod
    def blank(config: Mapping[str, Any]) -> "NetworkObserver":
        """Shapes only."""
        return NetworkObserver(eqx.filter_eval_shape(lambda: Network(NetworkConfig(**config), key=jax.random.key(0))))

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        table = table_of(data)
        return in_parts(asked, lambda part: jnp.exp(_outcomes(self.network, table, part)))

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        return self._maps(data, asked, 0)

    def successor_maps(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked gamma row col"]:
        return self._maps(data, asked, 1)

    def embeddings(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked embedding"]:
        """It knows no names: agents that go about it in the same way are one, whatever they are after."""
        return self._known(data, past, lambda known: known.embedding)

    def characters(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked feature"]:
        """The embedding, and behind it what the agent would take of things equally far."""
        far, anything = equally_far(self.network.config.kinds), jnp.ones(self.network.config.kinds + 1, bool)

        def said(known: Character) -> Array:
            return jnp.concatenate([known.embedding, jnp.exp(_wanted(self.network, known, far, anything))], -1)

        return self._known(data, past, said)

    def _known(
        self, data: Dataset, past: Int[np.ndarray, "asked past"], say: Callable[[Character], Array]
    ) -> np.ndarray:
        table, none = table_of(data), np.zeros(len(past), int)
        asked = Asked(past, none, none)
        return in_parts(asked, lambda part: say(_characters(self.network, table, jnp.asarray(part.past))))

    def _maps(self, data: Dataset, asked: Asked, which: int) -> np.ndarray:
        table = table_of(data)

        def answer(part: Asked) -> Array:
            return jnp.exp(_maps(self.network, table, part, views_of(data, part.episode, part.query))[which])

        return in_parts(asked, answer)

    def check(self, recording: Recording, *, seen: bool) -> None:
        """It reads whatever its schema allows."""

    def unlike(self, known: Schema | None, found: Schema, recordings: Sequence[Recording]) -> Iterator[str]:
        assert known is not None  # there is no such network but in a fit
        yield from other_names("objects", known.kinds, found.kinds)
        yield from other_names("actions", known.action_names, found.action_names)

    def most_past(self, training: FitTraining) -> int:
        return training.window - 1

    def trained_on(
        self,
        data: Dataset,
        split: Split,
        training: FitTraining,
        folder: Path,
        *,
        seed: int,
        stopped: Callable[[], bool],
    ) -> "NetworkObserver":
        folder.mkdir(exist_ok=True)
        what, how = (data, split.train, split.validation), (self.network.config, training, folder)
        network, _ = train_network(*what, *how, seed=seed, start=self.network, stopped=stopped)
        return NetworkObserver(network)


def in_parts(asked: Asked, answer: Callable[[Asked], Any]) -> np.ndarray:
    """What is answered to a few at a time, for all of them."""
    count, past = asked.past.shape
    room = 1 << max(past - 1, 0).bit_length()  # a few lengths of past only, each a program of its own
    asked = asked._replace(past=np.pad(asked.past, ((0, 0), (0, room - past)), constant_values=-1))
    found = []
    for first in range(0, count, AT_A_TIME):
        rows = np.minimum(np.arange(first, first + AT_A_TIME), count - 1)
        found.append(np.asarray(answer(asked.part(rows)))[: count - first])
    return np.concatenate(found)


@eqx.filter_jit
def _characters(network: Network, table: Table, past: Int[Array, "asked past"]) -> Character:
    """After all of the past."""
    known = jax.vmap(network.character_net)(table.seen[past], table.episode[past], past >= 0)
    return jax.tree.map(lambda leaf: leaf[:, -1], known)


@eqx.filter_jit
def _wanted(
    network: Network, known: Character, far: Float[Array, "kind query_feature"], possible: Bool[Array, "outcome"]
) -> Float[Array, "asked outcome"]:
    return jax.vmap(lambda each: network.outcome_head(each, far, possible))(known)


@eqx.filter_jit
def _outcomes(network: Network, table: Table, asked: Asked) -> Float[Array, "asked outcome"]:
    place = (jnp.asarray(asked.episode), jnp.asarray(asked.query))
    known = _characters(network, table, jnp.asarray(asked.past))
    return jax.vmap(network.outcome_head)(known, table.asked[place], table.possible[place])


@eqx.filter_jit
def _maps(network: Network, table: Table, asked: Asked, views: Views):
    goals = jnp.exp(_outcomes(network, table, asked))
    return network.map_net(views, goals, _characters(network, table, jnp.asarray(asked.past)).embedding)
