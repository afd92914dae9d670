"""How surprising each recorded step was, and where expectation was violated most."""

from collections.abc import Sequence

import numpy as np

from ..experiments.analysis.statistics import Estimate, mean_interval
from ..fit.scores import LEAST, within
from ..recordings.recording import NOWHERE, UNKNOWN, Recording
from .result import Moment, Shares, Step, WatchedAgent, WatchedEpisode
from .watcher import Forecast, Watcher

MOST_MOMENTS = 6
UNEXPECTED = 0.05  # the probability below which what was done violates expectation


def compare(watcher: Watcher, recording: Recording, forecast: Forecast) -> WatchedEpisode:
    """What was done beside what was expected."""
    steps = [
        _step(
            time,
            dict(zip(watcher.actions, action.tolist())),
            dict(zip(watcher.outcomes, taken.tolist())),
            None if number == UNKNOWN else recording.action_names[number],
        )
        for time, (number, action, taken) in enumerate(zip(recording.actions, forecast.action, forecast.taken))
    ]
    known = [step.nats for step in steps if step.nats is not None]
    return WatchedEpisode(
        episode=recording.episode,
        past=forecast.past,
        counted=forecast.past >= watcher.least_past,
        took=list(recording.took),
        steps=steps,
        nats=float(np.mean(known)) if known else None,
    )


def _step(time: int, action: Shares, taken: Shares, done: str | None) -> Step:
    nats = None if done is None else -float(np.log(max(action[done], LEAST)))
    return Step(time, action, taken, done, None if nats is None else max(nats, 0.0))  # p may be a rounding above 1


def surprise_interval(nats: Sequence[float]) -> Estimate:
    """The mean with its 95% interval; nothing is less surprising than what was certain."""
    return within(mean_interval(np.array(nats)))


def by_past(agents: Sequence[WatchedAgent]) -> dict[str, Estimate]:
    """The mean over agents, by the number of past episodes that were seen."""
    found: dict[int, dict[str, list[float]]] = {}
    for agent in agents:
        for episode in agent.episodes:
            if episode.nats is not None:
                found.setdefault(episode.past, {}).setdefault(agent.agent, []).append(episode.nats)
    return {
        str(past): surprise_interval([float(np.mean(own)) for own in each.values()])
        for past, each in sorted(found.items())
    }


def violations(agents: Sequence[Sequence[Recording]], watched: Sequence[Sequence[WatchedEpisode]]) -> list[Moment]:
    """The most surprising step of an episode, of the few episodes where it was expected least."""
    every = [
        (step, recording)
        for recordings, episodes in zip(agents, watched, strict=True)
        for recording, episode in zip(recordings, episodes, strict=True)
        if episode.counted and (step := _most_surprising(episode)) is not None
    ]
    every = [pair for pair in every if _nats(pair[0]) > -np.log(UNEXPECTED)]
    every.sort(key=lambda pair: -_nats(pair[0]))
    return [_moment(recording, step) for step, recording in every[:MOST_MOMENTS]]


def _most_surprising(episode: WatchedEpisode) -> Step | None:
    return max((step for step in episode.steps if step.nats is not None), key=_nats, default=None)


def _nats(step: Step) -> float:
    return step.nats or 0.0


def _moment(recording: Recording, step: Step) -> Moment:
    cells = recording.object_cells[step.time].tolist()
    return Moment(
        agent=recording.agent,
        episode=recording.episode,
        step=step,
        walls=recording.walls,
        path=recording.cells[: step.time + 1].tolist(),
        objects=[(letter, cell) for letter, cell in zip(recording.objects, cells) if cell != NOWHERE],
    )
