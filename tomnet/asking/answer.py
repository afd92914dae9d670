"""What an observer says of one agent: probabilities with names, and as arrays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from jaxtyping import Float

from ..episodes.predictions import Probabilities
from ..episodes.targets import GAMMAS
from ..observer.bottleneck import Posterior
from ..support.errors import TomnetError, nearest
from ..world.gridworld import ACTIONS

Name = TypeVar("Name", str, float)
CELLS_SAID = 3  # of a map, in print


class UnknownName(TomnetError, KeyError):
    """A name that an answer does not have; `in` and `get` take it as any mapping's."""

    __str__ = Exception.__str__  # a KeyError would put the line in quotes


@dataclass(frozen=True, eq=False)
class Named(Mapping[Name, Any], Generic[Name]):
    """An array whose first axis has names, of numbers or of maps: looked up by name, or whole as `array`.

    >>> said = tomnet.Named(("left", "right"), numpy.array([0.25, 0.75]))
    >>> said["right"], said.likeliest, said.array.tolist()
    (0.75, 'right', [0.25, 0.75])
    """

    names: tuple[Name, ...]
    array: Float[np.ndarray, "name ..."]

    def __getitem__(self, name: Name) -> Any:
        if name not in self.names:
            raise UnknownName(str(nearest(str(name), map(str, self.names), "name")))
        value = self.array[self.names.index(name)]
        return float(value) if value.ndim == 0 else value

    def __iter__(self) -> Iterator[Name]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.array, dtype)

    def __str__(self) -> str:
        """Most likely first; what is the same in print comes in the order of names. Of maps, a line each with its
        likeliest cells."""
        if self.array.ndim == 1:
            order = np.argsort(-self.array.round(2), kind="stable")
            return ", ".join(f"{self.names[place]} {self.array[place]:.2f}" for place in order)
        return "\n".join(f"{name}: {_cells_said(shares)}" for name, shares in zip(self.names, self.array))

    __repr__ = __str__

    @property
    def likeliest(self) -> Any:
        """The likeliest name; of maps the likeliest cell of each, `(row, col)`, by name."""
        if self.array.ndim == 1:
            return self.names[int(np.argmax(self.array))]
        return {name: _cell(shares, int(np.argmax(shares))) for name, shares in zip(self.names, self.array)}


def _cell(shares: np.ndarray, place: int) -> tuple[int, ...]:
    return tuple(int(number) for number in np.unravel_index(place, shares.shape))


def _cells_said(shares: np.ndarray) -> str:
    """The likeliest cells of a map, most likely first; those that would be 0 in print only if there are no others."""
    order = np.argsort(-shares, axis=None, kind="stable")[:CELLS_SAID]
    said = [f"{_cell(shares, int(place))} {share:.2f}" for place in order if (share := shares.flat[place]) >= 0.005]
    return ", ".join(said) or "0.00 everywhere"


@dataclass(frozen=True, eq=False)
class Embedding:
    """A point in an observer's space of characters or mental states. Of an observer with a bottleneck it is the mean of
    a posterior, which has a standard deviation too; other observers do not say how sure they are, and it is None.

    >>> character = tomnet.meet("goal-snapshots/all-heads", []).character
    >>> character.mean.shape, character.deviation
    ((2,), None)
    """

    mean: Float[np.ndarray, "*axes"]
    deviation: Float[np.ndarray, "*axes"] | None

    def __str__(self) -> str:
        """Its numbers, with their deviations where these are known; of a mental state, with thousands, how many."""
        if self.mean.ndim != 1:
            return f"{'×'.join(map(str, self.mean.shape))} numbers"
        if self.deviation is None:
            return ", ".join(f"{number:.2f}" for number in self.mean)
        return ", ".join(f"{number:.2f} ± {spread:.2f}" for number, spread in zip(self.mean, self.deviation))

    __repr__ = __str__

    @staticmethod
    def of(posterior: Posterior) -> "Embedding":
        """The first of a batch."""
        variance = posterior.log_variance
        return Embedding(
            np.asarray(posterior.mean)[0], None if variance is None else np.exp(0.5 * np.asarray(variance)[0])
        )


@dataclass(frozen=True, eq=False)
class Answer:
    """What an observer says of one agent in one state.

    `action["right"]`: that it will go right now. `consumption["A"]`: that it will take A before the episode ends, each
    object by itself. `successor[0.9]`: where it will be, `[row, col]`, the near future counting most by the discount.
    `belief["A"]`: where it believes A is, `[row, col]`, and `nowhere["A"]`: that it believes there is none. `character`
    and `mental` are embeddings with their uncertainty. To ask for what the observer has no head for is an error.

    >>> agent = tomnet.meet("goal-snapshots/action-only", [])
    >>> said = agent.ask(tomnet.parse_level("@..........\\n" + "...........\\n" * 9 + "A.B..C....D", tomnet.MAZE))
    >>> said.action.names, round(sum(said.action.values()), 3)
    (('up', 'down', 'left', 'right', 'stay'), 1.0)
    >>> said.consumption["A"]
    Traceback (most recent call last):
    tomnet...TomnetError: consumption: this observer has no such head; it has action
    """

    probabilities: Probabilities  # as arrays; None where the observer has no such head
    character: Embedding
    mental: Embedding | None  # None: this observer has no mental net
    objects: tuple[str, ...]

    @property
    def action(self) -> Named[str]:
        return Named(ACTIONS, self._head("action"))

    @property
    def consumption(self) -> Named[str]:
        return Named(self.objects, self._head("consumption"))

    @property
    def successor(self) -> Named[float]:
        return Named(GAMMAS, self._head("successor"))

    @property
    def belief(self) -> Named[str]:
        cells = self._head("belief")[:, :-1]
        size = round(cells.shape[1] ** 0.5)
        return Named(self.objects, cells.reshape(-1, size, size))

    @property
    def nowhere(self) -> Named[str]:
        return Named(self.objects, self._head("belief")[:, -1])

    @property
    def heads(self) -> tuple[str, ...]:
        """What there is to read."""
        return tuple(name for name, array in vars(self.probabilities).items() if array is not None)

    def _head(self, name: str) -> np.ndarray:
        array = getattr(self.probabilities, name)
        if array is None:
            raise TomnetError(f"{name}: this observer has no such head; it has {', '.join(self.heads)}")
        return array

    def __str__(self) -> str:
        """What can be said in a line each; maps are left out."""
        said = {"action": "next action", "consumption": "will be taken"}
        return "\n".join(f"{words}: {getattr(self, head)}" for head, words in said.items() if head in self.heads)

    __repr__ = __str__
