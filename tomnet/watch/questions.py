"""What a pretrained observer is asked about one agent: every step of every episode, after the episodes before it.

A step whose action nobody knows is asked about, and not seen: past and current episodes go on without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from ..asking.inputs import TIMES
from ..asking.validation import Arrays
from ..episodes.episode import NONE, Episode, Snapshot
from ..episodes.faults import arrays_of
from ..episodes.history import History
from ..observer.config import ObserverConfig
from ..recordings.episodes import to_episodes, with_some_action
from ..recordings.recording import UNKNOWN, Recording

TIMED = ("agent_cells", "object_cells", "actions", "consumed")


@dataclass(frozen=True, eq=False)
class Questions:
    """All episodes of an agent as arrays, and a row for each that is foretold; the last row is after all of them."""

    whole: Arrays
    known: Bool[np.ndarray, "episode time"]
    past: Int[np.ndarray, "row past"]  # numbers of episodes
    past_real: Bool[np.ndarray, "row past"]
    snapshots: bool

    @staticmethod
    def about(
        recordings: Sequence[Recording], config: ObserverConfig, objects: tuple[str, ...], max_past: int
    ) -> "Questions":
        """Each episode after the last `max_past` of those before it in which any action is known."""
        whole = arrays_of("seen", to_episodes(list(map(with_some_action, recordings)), config.size, objects))
        whole = _with_time(whole, -(-whole["actions"].shape[1] // TIMES) * TIMES)
        known = np.zeros(whole["actions"].shape, bool)
        for row, each in zip(known, recordings):
            row[: len(each)] = each.actions != UNKNOWN
        usable = [np.flatnonzero(known[:row].any(1))[-max_past:] for row in range(len(recordings) + 1)]
        past = np.zeros((len(usable), max_past), int)
        for row, numbers in zip(past, usable):
            row[: len(numbers)] = numbers
        real = np.arange(max_past) < np.array([len(numbers) for numbers in usable])[:, None]
        return Questions(whole, known, past, real, config.character in ("snapshots", "sequence"))

    def __len__(self) -> int:
        """Rows."""
        return len(self.past)

    def history(self, rows: Int[np.ndarray, "row"]) -> History:
        """What is known of the agent when the states of each row's episode are asked about."""
        seen, past = self.seen, self.past[rows]
        current = np.minimum(rows, len(self.known) - 1)  # about the last row nothing is asked: any will do
        before = np.cumsum(self.known, axis=1) - self.known  # steps that were seen before each
        recent = Episode(**{name: jnp.asarray(array[current]) for name, array in seen.items()})
        if not self.snapshots:
            earlier = Episode(**{name: jnp.asarray(array[past]) for name, array in seen.items()})
        else:
            middle = seen["length"][past] // 2  # training drew the time of a snapshot; any is as good as another
            earlier = Snapshot(
                walls=jnp.asarray(seen["walls"][past]),
                agent_cell=jnp.asarray(seen["agent_cells"][past, middle]),
                object_cells=jnp.asarray(seen["object_cells"][past, middle]),
                action=jnp.asarray(seen["actions"][past, middle]),
            )
        return History(earlier, jnp.asarray(self.past_real[rows]), recent, jnp.asarray(before[current]))

    @cached_property
    def seen(self) -> Arrays:
        """The episodes without the steps whose action is unknown."""
        order = np.argsort(~self.known, axis=1, kind="stable")
        length = self.known.sum(1)
        real = np.arange(order.shape[1]) < length[:, None]

        def kept(array: np.ndarray) -> np.ndarray:
            each = (..., *[None] * (array.ndim - 2))
            return np.where(real[each], np.take_along_axis(array, order[each], 1), NONE).astype(array.dtype)

        return self.whole | {name: kept(self.whole[name]) for name in TIMED} | {"length": length.astype(np.int16)}

    @cached_property
    def asked(self) -> tuple[Int[np.ndarray, "query"], Int[np.ndarray, "query"]]:
        """The episode and the time of every state, in order."""
        episode, time = np.nonzero(np.arange(self.known.shape[1]) < self.whole["length"][:, None])
        return episode, time

    @property
    def states(self) -> Arrays:
        """Those that are asked about."""
        episode, time = self.asked
        return {
            "walls": self.whole["walls"][episode],
            "agent_cell": self.whole["agent_cells"][episode, time],
            "object_cells": self.whole["object_cells"][episode, time],
        }


def _with_time(episodes: Arrays, time: int) -> Arrays:
    more = time - episodes["actions"].shape[1]

    def padded(array: np.ndarray) -> np.ndarray:
        return np.pad(array, [(0, 0), (0, more)] + [(0, 0)] * (array.ndim - 2), constant_values=NONE)

    return episodes | {name: padded(episodes[name]) for name in TIMED}
