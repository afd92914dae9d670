"""Training, validation and test parts that share no episode, nor a copy of one.

By agent where there are enough of them: what is then measured is how an observer does with strangers. Otherwise by
episode in the order of time: how it does with later episodes of agents that it knows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool

from ..recordings.recording import Recording
from ..support.errors import TomnetError
from ..support.words import counted
from .duplicates import digest

FOLDS = 5  # one of them is the test part, the next one the validation part
FEWEST_AGENTS = 10  # two in each of validation and test
FEWEST_EPISODES = 5  # of some agent, where episodes are split

By = Literal["agent", "episode"]


@dataclass(frozen=True)
class Split:
    """Which episodes are in which part. What is in none is a copy of an episode in a part further left."""

    by: By
    train: Bool[np.ndarray, "episode"]
    validation: Bool[np.ndarray, "episode"]
    test: Bool[np.ndarray, "episode"]

    @property
    def copies(self) -> int:
        return int((~(self.train | self.validation | self.test)).sum())

    def told(self) -> str:
        """In a sentence."""
        counts = ", ".join(f"{int(part.sum())} {name}" for name, part in self.parts())
        how = {
            "agent": "split by agent: the test agents are strangers to the observer",
            "episode": f"split by episode in the order of time, as {FEWEST_AGENTS} agents would be needed to split by "
            "agent: the observer is tested on later episodes of agents that it knows, and not on strangers",
        }[self.by]
        left_out = f"; {self.copies} left out as copies" if self.copies else ""
        return f"{how}; episodes: {counts}{left_out}"

    def parts(self) -> Iterator[tuple[str, Bool[np.ndarray, "episode"]]]:
        yield from (("training", self.train), ("validation", self.validation), ("test", self.test))


def make_split(recordings: Sequence[Recording], *, seed: int = 0, fold: int = 0) -> Split:
    """`recordings` come agent by agent, each agent's in the order of time, as a dataset has them."""
    names = {name: place for place, name in enumerate(dict.fromkeys(each.agent for each in recordings))}
    agent = np.array([names[each.agent] for each in recordings])
    by: By = "agent" if len(names) >= FEWEST_AGENTS else "episode"
    place = _by_agent(agent, seed, fold) if by == "agent" else _by_time(agent)
    place = _without_copies(recordings, place)
    split = Split(by, *(place == part for part in range(3)))
    for name, part in split.parts():
        if not part.any():
            raise TomnetError(_nothing_left(name, recordings, len(names), split))
    return split


def _by_agent(agent: np.ndarray, seed: int, fold: int) -> np.ndarray:
    count = agent.max() + 1
    order = np.random.default_rng(seed).permutation(count)
    folds = np.empty(count, int)
    folds[order] = (np.arange(count) - fold) % FOLDS
    return np.array([2, 1, *[0] * (FOLDS - 2)])[folds][agent]


def _by_time(agent: np.ndarray) -> np.ndarray:
    """Of each agent, the first three fifths, the fifth after these and the last; too few of them are for training."""
    place = np.zeros(len(agent), int)
    for number in range(agent.max() + 1):
        own = np.flatnonzero(agent == number)
        if len(own) >= FEWEST_EPISODES:
            share = len(own) // FOLDS
            place[own[-share:]] = 2
            place[own[-2 * share : -share]] = 1
    return place


def _without_copies(recordings: Sequence[Recording], place: np.ndarray) -> np.ndarray:
    """Of episodes that are copies of each other, those in the leftmost part stay; the others are in none."""
    first: dict[bytes, int] = {}
    digests = [digest(each) for each in recordings]
    for name, part in zip(digests, place.tolist()):
        first[name] = min(part, first.get(name, part))
    return np.array([part if part == first[name] else -1 for name, part in zip(digests, place.tolist())])


def _nothing_left(part: str, recordings: Sequence[Recording], agents: int, split: Split) -> str:
    if len(recordings) == 1:
        return "a single episode: it can be watched, and nothing can be learned from it"
    if split.copies:
        return (
            f"every episode of the {part} part is a copy, mirrored or rotated or not, of one that is trained on: "
            "agents that do the same in the same mazes can be remembered, and not be shown to be understood"
        )
    return (
        f"{counted(len(recordings), 'episode')} of {counted(agents, 'agent')} are too few: a fit needs {FEWEST_AGENTS} "
        f"agents, or an agent with {FEWEST_EPISODES} episodes, so that some can be kept for validation and test"
    )
