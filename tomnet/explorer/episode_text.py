"""Episodes as the page writes them, in the text format of recordings; one that has not begun is a level alone."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ..asking.inputs import with_time
from ..episodes.episode import NONE, Episode, QueryState
from ..recordings.episodes import to_episodes
from ..recordings.recording import NOTHING, Recording
from ..recordings.text import parse_text, parse_transcript
from ..support.errors import BadSetting, TomnetError
from ..support.trees import pick
from ..world.gridworld import Level, World
from ..world.levels import parse_level, symbols

LONGEST = 128  # steps of a past episode: few lengths, each of which is compiled once


@dataclass(frozen=True)
class Now:
    """Where the current episode stands, and the way there."""

    query: QueryState
    recent: Episode  # padded to the step limit
    recording: Recording | None  # None: it has not begun

    @property
    def states(self) -> list[QueryState]:
        """One after each step, and the first."""
        if self.recording is None:
            return [self.query]
        cells, objects = self.recent.agent_cells, self.recent.object_cells
        before = [QueryState(self.query.walls, *step) for step in zip(cells, objects)]
        return [*before[: len(self.recording)], self.query]


def read_past(text: str) -> Recording:
    recording = parse_text(text, "agent", "past")
    if len(recording) > LONGEST:
        raise BadSetting("past", f"{len(recording)} steps", f"at most {LONGEST} are read here")
    return recording


def read_now(text: str, world: World) -> Now:
    """The current episode; one that is over has no next step to ask about."""
    if not parse_transcript(text).steps:
        level = parse_level(text.strip(), world)
        return Now(QueryState(level.walls, level.start_cell, level.object_cells), _nothing_yet(level, world), None)
    recording = parse_text(text, "agent", "now")
    if len(recording) >= world.step_limit:
        raise TomnetError(f"the episode is over: it has {world.step_limit} steps")
    taken = [recording.objects[kind] for kind in recording.taken if kind != NOTHING]
    ended = [letter for letter in taken if letter in symbols(world)[: world.objects]]
    if ended:
        raise TomnetError("the episode is over: an object was taken")
    recent = pick(with_time(to_episodes([recording], world.size, symbols(world)), world.step_limit), 0)
    cells = np.full(world.kinds, NONE, np.int16)
    for letter, cell in zip(recording.objects, recording.object_cells[-1]):
        cells[symbols(world).index(letter)] = cell
    query = QueryState(jnp.asarray(recording.walls), jnp.int16(recording.cells[-1]), jnp.asarray(cells))
    return Now(query, recent, recording)


def _nothing_yet(level: Level, world: World) -> Episode:
    time = world.step_limit
    return Episode(
        walls=level.walls,
        agent_cells=jnp.full(time, NONE, jnp.int16),
        object_cells=jnp.full((time, world.kinds), NONE, jnp.int16),
        actions=jnp.full(time, NONE, jnp.int8),
        consumed=jnp.full(time, NONE, jnp.int8),
        final_cell=level.start_cell,
        length=jnp.int16(0),
    )
