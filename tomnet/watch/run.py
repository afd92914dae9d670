"""`tomnet watch`: an observer meets every agent, and what it expected is held beside what was done."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..experiments.analysis.statistics import Estimate
from ..recordings.recording import UNKNOWN, Recording
from ..recordings.survey import survey_of
from ..support.progress import Progress
from ..support.provenance import provenance
from .choice import by_agent, check_all, choose, named
from .resemblance import find_clusters, neighbours, place
from .result import Watched, WatchedAgent, WatchedEpisode
from .surprise import by_past, compare, surprise_interval, violations
from .watcher import AgentForecast, Watcher

MOST_STRANGE = 3  # agents, by name


def watch(recordings: Sequence[Recording], model: str | None = None) -> Watched:
    """All agents, each episode foretold from those before it; without a `model`, a pretrained one is chosen."""
    if model is None:
        watcher = choose(recordings)
        chosen = "It was chosen as the pretrained observer that suits these recordings best."
    else:
        watcher = named(model)
        check_all(watcher, recordings)
        chosen = "It was named with --model."
    return watch_with(watcher, recordings, chosen)


def watch_with(watcher: Watcher, recordings: Sequence[Recording], chosen: str) -> Watched:
    """The same by an observer at hand, which reads all of these."""
    agents = by_agent(recordings)
    forecasts = _foretold(watcher, agents)
    episodes = [
        [compare(watcher, each, forecast) for each, forecast in zip(own, said.episodes, strict=True)]
        for own, said in zip(agents, forecasts, strict=True)
    ]
    characters = np.stack([said.character.mean for said in forecasts]).astype(float)
    names = [own[0].agent for own in agents]
    places, axes = place(characters)
    resemblance, clusters = find_clusters(characters, axes)
    found = [
        WatchedAgent(
            agent=name,
            nats=_over_episodes(own_episodes),
            unknown=sum(int((each.actions == UNKNOWN).sum()) for each in own),
            character=said.character.mean.tolist(),
            deviation=None if said.character.deviation is None else said.character.deviation.tolist(),
            place=places[number].tolist(),
            cluster=clusters[number],
            nearest=nearest,
            beyond=list(said.beyond),
            episodes=own_episodes,
        )
        for number, (name, own, own_episodes, said, nearest) in enumerate(
            zip(names, agents, episodes, forecasts, neighbours(characters, names), strict=True)
        )
    ]
    return Watched(
        observer=watcher.name,
        chosen=chosen,
        kinds=sorted({letter for each in recordings for letter in each.objects}),
        actions=list(watcher.actions),
        episodes=len(recordings),
        nats=surprise_interval([each.nats.mean for each in found if each.nats.count]),
        by_past=by_past(found),
        agents=found,
        resemblance=resemblance,
        moments=violations(agents, episodes),
        remarks=list(_remarks(watcher, recordings, found)),
        environment=provenance(),
    )


def _foretold(watcher: Watcher, agents: Sequence[Sequence[Recording]]) -> list[AgentForecast]:
    done = 0

    def read(more: int) -> None:
        nonlocal done
        done += more
        progress.advance(done, {})

    with Progress("watch", sum(map(len, agents))) as progress:
        return list(watcher.foretell(agents, read))


def _over_episodes(episodes: Sequence[WatchedEpisode]) -> Estimate:
    return surprise_interval([each.nats for each in episodes if each.counted and each.nats is not None])


def _remarks(watcher: Watcher, recordings: Sequence[Recording], agents: Sequence[WatchedAgent]) -> Iterator[str]:
    yield from survey_of(recordings).remarks
    few = sum(not each.counted for one in agents for each in one.episodes)
    if few:
        least = f"N_past was {watcher.least_past} or more in its training"
        yield f"{least}: {few} of {len(recordings)} episodes come after fewer, and do not count"
    if max(len(one.episodes) for one in agents) - 1 > watcher.max_past:
        yield f"N_past was {watcher.max_past} or less in its training: of a longer past it reads the end"
    strange = [one for one in agents if one.beyond]
    if strange:
        who = [f"{one.agent}: {', '.join(one.beyond)}" for one in strange[:MOST_STRANGE]]
        more = [f"and {len(strange) - MOST_STRANGE} more"] if len(strange) > MOST_STRANGE else []
        shows = f"{len(strange)} of {len(agents)} agents {'shows' if len(strange) == 1 else 'show'} something unlike"
        yield f"{shows} what it met in training, take it with caution: {'; '.join([*who, *more])}"
