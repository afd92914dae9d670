"""An observer that `tomnet fit` made watches: all recordings as one dataset, asked about at every step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from ..asking.answer import Embedding
from ..fit.dataset import Dataset, make_dataset
from ..fit.fitted_observer import FittedObserver
from ..fit.observer_protocol import Asked
from ..recordings.recording import Recording
from .watcher import AgentForecast, Forecast, Heard

USUAL_PAST = 23  # episodes, where a file does not say how many were met


@dataclass(frozen=True, eq=False)
class FittedWatcher:
    name: str
    observer: FittedObserver

    @property
    def actions(self) -> tuple[str, ...]:
        return self.observer.schema.action_names

    @property
    def outcomes(self) -> tuple[str, ...]:
        return self.observer.schema.outcomes

    @property
    def least_past(self) -> int:
        return 0

    @property
    def max_past(self) -> int:
        return self.observer.domain.max_past if self.observer.domain else USUAL_PAST

    def check(self, recording: Recording) -> None:
        self.observer.check(recording)

    def foretell(self, agents: Sequence[Sequence[Recording]], read: Heard) -> Iterator[AgentForecast]:
        longest = max(len(each) for own in agents for each in own)
        data = make_dataset(
            [each for own in agents for each in own],
            self.observer.schema,
            times=lambda each: np.minimum(np.arange(longest), len(each) - 1),
        )
        for own, recordings in zip(data.sequences, agents, strict=True):
            yield self._foretell(data, own, recordings)
            read(len(own))

    def _foretell(
        self, data: Dataset, own: Int[np.ndarray, "episode"], recordings: Sequence[Recording]
    ) -> AgentForecast:
        before = np.full((len(own) + 1, max(self.max_past, 1)), -1)
        for row in range(len(own) + 1):
            earlier = own[max(row - self.max_past, 0) : row]
            before[row, : len(earlier)] = earlier
        lengths = [len(each) for each in recordings]
        episode = np.repeat(np.arange(len(own)), lengths)
        asked = Asked(before[episode], own[episode], np.concatenate([np.arange(length) for length in lengths]))
        observer = self.observer.named(self.observer.recommended)
        ends = np.cumsum(lengths)[:-1]
        said = zip(np.split(observer.actions(data, asked), ends), np.split(observer.outcomes(data, asked), ends))
        counts = (before >= 0).sum(1).tolist()
        character = self.observer.neural.characters(data, before[-1:])[0]
        domain = self.observer.domain
        return AgentForecast(
            episodes=tuple(Forecast(count, action, taken) for count, (action, taken) in zip(counts, said)),
            character=Embedding(character, None),
            beyond=() if domain is None else tuple(domain.reasons(0, recordings)),
        )
