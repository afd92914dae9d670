"""The contract of everything that predicts: past episodes and a query state in, probabilities out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from ..recordings.recording import Recording
from .dataset import Dataset, Schema
from .split import Split
from .training import FitTraining


class Asked(NamedTuple):
    """What an observer is asked, row by row: about one state of one episode, after some earlier ones."""

    past: Int[np.ndarray, "asked past"]  # episodes in the order of time; -1, behind them, is none
    episode: Int[np.ndarray, "asked"]
    query: Int[np.ndarray, "asked"]

    @property
    def place(self) -> tuple[Int[np.ndarray, "asked"], Int[np.ndarray, "asked"]]:
        """Where its state stands in the arrays of a dataset."""
        return self.episode, self.query

    @property
    def count(self) -> Int[np.ndarray, "asked"]:
        """Past episodes."""
        return (self.past >= 0).sum(1)

    def part(self, rows) -> "Asked":
        return Asked(self.past[rows], self.episode[rows], self.query[rows])


@runtime_checkable
class Observer(Protocol):
    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        """The probability that each kind is what is taken next; last, that nothing is."""
        ...

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        """The probability of each action."""
        ...


@runtime_checkable
class NeuralObserver(Observer, Protocol):
    """A network that is asked. It also says where an agent will be, and who it is; and it can be a start for others."""

    kind: ClassVar[str]  # as its file calls it

    @property
    def network(self) -> Any:
        """With its `config`; what a file holds."""
        ...

    def successor_maps(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked gamma row col"]: ...

    def embeddings(
        self, data: Dataset, past: Int[np.ndarray, "asked past"]
    ) -> Float[np.ndarray, "asked embedding"]: ...

    def characters(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked feature"]:
        """All that tells one agent from another."""
        ...

    def check(self, recording: Recording, *, seen: bool) -> None:
        """Whether it can be asked about a recording that its schema allows, and where it is `seen` read all of it."""
        ...

    def unlike(self, known: Schema | None, found: Schema, recordings: Sequence[Recording]) -> Iterator[str]:
        """In what way recordings are not what it, or a fit that knows this, can be trained on with."""
        ...

    def most_past(self, training: FitTraining) -> int:
        """Past episodes that it is trained with."""
        ...

    def trained_on(
        self,
        data: Dataset,
        split: Split,
        training: FitTraining,
        folder: Path,
        *,
        seed: int,
        stopped: Callable[[], bool],
    ) -> "NeuralObserver":
        """Begun from its weights, in a folder of its own."""
        ...


def ask_all(
    data: Dataset, wanted: Bool[np.ndarray, "episode"], past: int, *, least: int = 0, queries: Sequence[int] = (0,)
) -> Asked:
    """Every wanted episode that at least `least` of its agent's come before, after the last `past` of these."""
    rows = [
        (own[max(place - past, 0) : place], own[place])
        for own in data.sequences
        for place in range(least, len(own))
        if wanted[own[place]]
    ]
    before = np.full((len(rows), past), -1)
    for row, (earlier, _) in enumerate(rows):
        before[row, : len(earlier)] = earlier
    episode = np.array([number for _, number in rows], int)
    repeat = len(queries)
    return Asked(np.repeat(before, repeat, 0), np.repeat(episode, repeat), np.tile(np.array(queries), len(rows)))


def other_names(what: str, known: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    if tuple(known) != tuple(found):
        yield f"{what}: it knows {', '.join(known) or 'none'}, found {', '.join(found) or 'none'}"


def together(several: Sequence[Asked]) -> Asked:
    """One after the other, the shorter pasts filled up."""
    most = max(one.past.shape[1] for one in several)
    pasts = [np.pad(one.past, ((0, 0), (0, most - one.past.shape[1])), constant_values=-1) for one in several]
    return Asked(*(np.concatenate(part) for part in (pasts, [o.episode for o in several], [o.query for o in several])))
