"""The network, asked as every observer is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .dataset import Dataset
from .features import Table, Views, table_of, views_of
from .network import Character, Network
from .observers import Asked

AT_A_TIME = 128  # queries; the last few are filled up, so that there is one program for all


@dataclass(frozen=True, eq=False)
class NetworkObserver:
    network: Network

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        table = table_of(data)
        return in_parts(asked, lambda part: jnp.exp(_outcomes(self.network, table, part)))

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        return self._maps(data, asked, 0)

    def successor_maps(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked gamma row col"]:
        return self._maps(data, asked, 1)

    def embeddings(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked embedding"]:
        table, none = table_of(data), np.zeros(len(past), int)
        return in_parts(
            Asked(past, none, none), lambda part: _characters(self.network, table, jnp.asarray(part.past)).embedding
        )

    def _maps(self, data: Dataset, asked: Asked, which: int) -> np.ndarray:
        table = table_of(data)

        def answer(part: Asked) -> Array:
            return jnp.exp(_maps(self.network, table, part, views_of(data, part.episode, part.query))[which])

        return in_parts(asked, answer)


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
def _outcomes(network: Network, table: Table, asked: Asked) -> Float[Array, "asked outcome"]:
    place = (jnp.asarray(asked.episode), jnp.asarray(asked.query))
    known = _characters(network, table, jnp.asarray(asked.past))
    return jax.vmap(network.outcome_head)(known, table.asked[place], table.possible[place])


@eqx.filter_jit
def _maps(network: Network, table: Table, asked: Asked, views: Views):
    goals = jnp.exp(_outcomes(network, table, asked))
    return network.map_net(views, goals, _characters(network, table, jnp.asarray(asked.past)).embedding)
