"""The contract of whoever watches: each episode is foretold step by step, from the episodes before it alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from ..asking.answer import Embedding
from ..recordings.recording import Recording


@dataclass(frozen=True, eq=False)
class Forecast:
    """Of one episode: what is said before each of its steps, whether or not the action is known."""

    past: int  # episodes of the agent that were seen before
    action: Float[np.ndarray, "time action"]
    taken: Float[np.ndarray, "time outcome"]  # of outcomes there may be none to speak of


@dataclass(frozen=True, eq=False)
class AgentForecast:
    episodes: tuple[Forecast, ...]
    character: Embedding  # after all of them
    beyond: tuple[str, ...]  # in what way this is unlike anything that the observer met in training


Heard = Callable[[int], None]
"""Hears of so many more episodes that were read."""


@runtime_checkable
class Watcher(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def actions(self) -> tuple[str, ...]: ...

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What may be taken; none, where the observer does not say."""
        ...

    @property
    def least_past(self) -> int:
        """Episodes that it saw of every agent in training: with fewer, its forecasts count for nothing."""
        ...

    @property
    def max_past(self) -> int:
        """Episodes that it saw at most; of a longer past it reads the last."""
        ...

    def check(self, recording: Recording) -> None:
        """A `TomnetError` where size, objects or actions do not fit."""
        ...

    def foretell(self, agents: Sequence[Sequence[Recording]], read: Heard) -> Iterator[AgentForecast]:
        """One agent after the other. Its episodes are in the order of time, and have passed `check`."""
        ...
