"""A pretrained observer watches: it reads episodes a batch at a time, and then is asked about all their states."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..asking.agent_model import object_names
from ..asking.answer import Embedding
from ..asking.validation import history_reasons, query_reasons
from ..episodes.episode import QueryState
from ..episodes.history import History
from ..episodes.predictions import Probabilities
from ..observer.bottleneck import Posterior
from ..observer.frames import WAVE, Capacity, frame_count
from ..observer.tomnet import ToMnet
from ..recordings.bad_recording import BadRecording, said
from ..recordings.episodes import check_fits, with_some_action
from ..recordings.recording import ACTIONS, Recording
from .questions import Questions
from .watcher import AgentForecast, Forecast, Heard

ROWS, STATES = 8, 128  # at a time; the last few are filled up, so that there is one program for all
USUAL_PAST = 10  # episodes, where an observer does not say how many it met
MOST_FRAMES = 2**16  # of past episodes at a time: where episodes are long, fewer rows go together
MOST_REMEMBERED = 1000  # steps of a current episode: the program grows with them, and 10,000 take it minutes and GiBs


@dataclass(frozen=True, eq=False)
class PretrainedWatcher:
    name: str
    observer: ToMnet

    @property
    def actions(self) -> tuple[str, ...]:
        return ACTIONS

    @property
    def outcomes(self) -> tuple[str, ...]:
        return object_names(self.observer) if "consumption" in self.observer.config.heads else ()

    @property
    def least_past(self) -> int:
        return self.observer.domain.min_past if self.observer.domain else 0

    @property
    def max_past(self) -> int:
        return self.observer.domain.max_past if self.observer.domain else USUAL_PAST

    @property
    def met_subgoals(self) -> bool:
        return self.observer.domain is not None and self.observer.domain.subgoal

    def check(self, recording: Recording) -> None:
        check_fits(with_some_action(recording), self.observer.config.size, object_names(self.observer))
        if self.observer.mental_net is not None and len(recording) > MOST_REMEMBERED:
            expected = f"up to {MOST_REMEMBERED}, as this observer remembers the current episode step by step"
            raise BadRecording("steps", expected, said(str(len(recording))))

    def beyond(self, recordings: Sequence[Recording]) -> list[str]:
        """In what way the episodes of an agent are unlike what the observer met in training."""
        return self._reasons(self._questions(recordings))

    def foretell(self, agents: Sequence[Sequence[Recording]], read: Heard) -> Iterator[AgentForecast]:
        return (self._foretell(recordings, read) for recordings in agents)

    def _foretell(self, recordings: Sequence[Recording], read: Heard) -> AgentForecast:
        questions = self._questions(recordings)

        def characterise(rows: Int[np.ndarray, "row"]) -> Posterior:
            found = self._characterise(questions.history(rows))
            read(len(set(rows.tolist()) - {len(recordings)}))  # the last row is no episode
            return found

        frames = max(self.max_past * questions.known.shape[1], 1)  # of a row, at most
        rows = min(ROWS, max(MOST_FRAMES // frames, 1))
        posterior = _in_parts(len(questions), rows, characterise)
        said = self._predict(questions, posterior.mean)
        action, taken = said.action, said.consumption
        assert action is not None  # `choice` has seen to it
        taken = np.zeros((len(action), 0)) if taken is None else taken
        ends = np.cumsum([len(each) for each in recordings])[:-1]
        counts = questions.past_real.sum(1).tolist()
        last = jax.tree.map(lambda leaf: leaf[-1:], posterior)
        return AgentForecast(
            episodes=tuple(map(Forecast, counts, np.split(action, ends), np.split(taken, ends))),
            character=Embedding.of(last),
            beyond=tuple(self._reasons(questions)),
        )

    def _questions(self, recordings: Sequence[Recording]) -> Questions:
        return Questions.about(recordings, self.observer.config, object_names(self.observer), self.max_past)

    def _reasons(self, questions: Questions) -> list[str]:
        """Of forecasts that count."""
        rows = np.flatnonzero(questions.past_real.sum(1) >= self.least_past)
        reasons = history_reasons(self.observer, questions.history(rows)) if len(rows) else []
        reasons += query_reasons(self.observer, questions.states, questions.asked[1] > 0)
        return list(dict.fromkeys(reasons))

    def _characterise(self, history: History) -> Posterior:
        frames = int(frame_count(history.past, history.past_real).sum())
        capacity = 1 << max(4, (frames - 1).bit_length())  # few sizes, each of which is compiled once
        return _characterise(self.observer, history, capacity)

    def _predict(self, questions: Questions, characters: Float[np.ndarray, "row feature"]) -> Probabilities:
        """About every state, in order."""
        episode, time = questions.asked
        states, mental = questions.states, None
        if self.observer.mental_net is not None:
            maps = _in_parts(len(questions), ROWS, lambda rows: self._mentalise(questions, characters, rows))
            mental = maps[episode, time]

        def answer(some: Int[np.ndarray, "state"]) -> Probabilities:
            asked = QueryState(**{name: jnp.asarray(array[some]) for name, array in states.items()})
            now = None if mental is None else jnp.asarray(mental[some])
            return _predict(self.observer, jnp.asarray(characters[episode[some]]), asked, now)

        return _in_parts(len(episode), STATES, answer)

    def _mentalise(self, questions: Questions, characters: np.ndarray, rows: Int[np.ndarray, "row"]) -> np.ndarray:
        """What the current episode has told before each time, `[row, time, …]`."""
        time = questions.known.shape[1]
        capacity = Capacity(0, len(rows) * time, (len(rows),) * -(-time // WAVE))
        maps = np.asarray(_mentalise(self.observer, questions.history(rows), jnp.asarray(characters[rows]), capacity))
        return maps.reshape(len(rows), time, *maps.shape[1:])


def _in_parts(count: int, at_a_time: int, answer: Callable[[Int[np.ndarray, "part"]], Any]) -> Any:
    """One after the other, joined: PyTrees of arrays whose first axis is that of the part."""
    parts = []
    for first in range(0, count, at_a_time):
        part = answer(np.minimum(np.arange(first, first + at_a_time), count - 1))
        parts.append(jax.tree.map(lambda leaf, first=first: np.asarray(leaf)[: count - first], part))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


# --- What is compiled


@eqx.filter_jit
def _characterise(observer: ToMnet, history: History, capacity: int) -> Posterior:
    return observer.characterise(history.past, history.past_real, capacity=capacity)[0]


@eqx.filter_jit
def _mentalise(
    observer: ToMnet, history: History, characters: Float[Array, "episode feature"], capacity: Capacity
) -> Float[Array, "state row col channel"]:
    assert history.recent is not None
    mental = observer.mentalise(history.recent, characters, capacity, query_times=history.query_times)[0]
    assert mental is not None  # it has a mental net, or nobody would ask
    return mental.mean


@eqx.filter_jit
def _predict(observer: ToMnet, characters: Float[Array, "state feature"], states: QueryState, mental) -> Probabilities:
    return observer.predict(characters, states, mental).probabilities()
