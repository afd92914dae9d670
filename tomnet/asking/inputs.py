"""Whatever people have at hand, as what observers read: recordings, episodes, levels, states, scenes and pictures."""

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..episodes.episode import NONE, Episode, QueryState, Snapshot
from ..episodes.faults import arrays_of, find_fault
from ..observer.config import ObserverConfig
from ..recordings.bad_recording import BadRecording, said
from ..recordings.episodes import to_episodes
from ..recordings.recording import AGENT, FREE, WALL, Recording, SingleStep
from ..recordings.scene import Scene
from ..recordings.text import parse_transcript
from ..recordings.transcript import check_level
from ..support.errors import BadSetting, TomnetError
from ..support.words import counted
from ..world.gridworld import Level, State

Past = Episode | Snapshot | Iterable[Recording] | Iterable[Episode] | Iterable[Snapshot]
"""What was seen of an agent: recordings, or episodes or snapshots of our own, one by one or stacked."""
Asked = QueryState | Level | State | Scene | str
"""A state to ask about; a `str` is its picture, as episodes are drawn in text files."""

TIMES = 32  # episodes are given time for a multiple of this many steps: each is one compiled program


def past_from(past: Past, config: ObserverConfig, objects: tuple[str, ...]) -> Episode | Snapshot:
    """Everything seen of one agent, stacked: `[past]`, and of each episode `[past, time]`."""
    if isinstance(past, Episode | Snapshot):
        axes = np.ndim(past.walls) - 2
        if axes != 1:
            why = "one agent is met at a time, and its episodes have the axis [past] before their own"
            raise BadSetting("past", f"{type(past).__name__}s with {axes} leading axes", why)
        return _clean("past", past)
    each = _listed(past, "recordings, episodes or snapshots")
    if not each:
        return _nothing(config)
    for kind in (Recording, Episode, Snapshot):
        if all(isinstance(one, kind) for one in each):
            return _from_recordings(each, config, objects) if kind is Recording else _stacked(each)
    kinds = " and ".join(sorted({type(one).__name__ for one in each}))
    raise BadSetting("past", kinds, "should be all recordings, all episodes or all snapshots")


def recordings_from(past: Any) -> tuple[Recording, ...]:
    """The same for observers that read recordings and nothing else, of any size."""
    each = _listed(past, "recordings")
    for one in each:
        if not isinstance(one, Recording):
            raise BadSetting("past", type(one).__name__, "this observer reads recordings")
    _check_one_agent(each)
    _check_whole(each)
    return tuple(each)


def _listed(past: Any, what: str) -> list[Any]:
    if isinstance(past, str | bytes) or not isinstance(past, Iterable):
        raise BadSetting("past", type(past).__name__, f"should be a list of {what}")
    return list(past)


def _check_one_agent(recordings: Sequence[Recording]) -> None:
    agents = sorted({recording.agent for recording in recordings})
    if len(agents) > 1:
        raise BadSetting("past", f"recordings of {', '.join(agents[:3])}", "one agent is met at a time")


def _check_whole(recordings: Sequence[Recording]) -> None:
    for recording in recordings:
        if isinstance(recording, SingleStep):
            expected = "whole episodes, because this observer reads them"
            where = f"{recording.agent}/{recording.episode}"
            raise BadRecording("steps", expected, said("a single step of one"), path=where)


def _nothing(config: ObserverConfig) -> Episode | Snapshot:
    none = to_episodes([], config.size, "?" * config.objects)
    return none if config.character == "episodes" else none.first_pair()


def _from_recordings(
    recordings: Sequence[Recording], config: ObserverConfig, objects: tuple[str, ...]
) -> Episode | Snapshot:
    _check_one_agent(recordings)
    snapshots = config.character in ("snapshots", "sequence")
    for recording in recordings if snapshots else ():
        if len(recording) > 1:
            expected = "one step, because this observer reads snapshots: recording.step(time) gives one"
            found = said(f"{len(recording)}")
            raise BadRecording("steps", expected, found, path=f"{recording.agent}/{recording.episode}")
    if config.character == "episodes":
        _check_whole(recordings)
    episodes = to_episodes(recordings, config.size, objects)
    return episodes.first_pair() if snapshots else episodes


def _clean(where: str, seen: Any) -> Any:
    """The same with arrays that fit each other: whoever made it may have put anything in."""
    arrays = arrays_of(where, seen)
    fault = find_fault(type(seen), arrays)
    if fault:
        raise TomnetError(f"{where}.{fault}")
    return type(seen)(**{name: jnp.asarray(array) for name, array in arrays.items()})


def _stacked(each: Sequence[Any]) -> Any:
    """One after the other; those that end before the longest are padded."""
    for number, one in enumerate(each):
        if np.ndim(one.walls) != 2:
            raise BadSetting(f"past[{number}].walls", f"{np.ndim(one.walls)} axes", "each is a single one: [row, col]")
    each = [_clean(f"past[{number}]", one) for number, one in enumerate(each)]
    if isinstance(each[0], Episode):
        time = max(one.actions.shape[-1] for one in each)
        each = [with_time(one, time) for one in each]
    try:
        return jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *each)
    except ValueError:
        raise TomnetError("past: all of them must have one size and one number of objects") from None


def with_time(episodes: Episode, time: int) -> Episode:
    """With padding up to so many steps."""
    more = time - episodes.actions.shape[-1]

    def padded(array: Any, axis: int) -> Any:
        widths = [(0, 0)] * np.ndim(array)
        widths[axis] = (0, more)
        return jnp.asarray(np.pad(array, widths, constant_values=NONE))

    return Episode(
        walls=episodes.walls,
        agent_cells=padded(episodes.agent_cells, -1),
        object_cells=padded(episodes.object_cells, -2),
        actions=padded(episodes.actions, -1),
        consumed=padded(episodes.consumed, -1),
        final_cell=episodes.final_cell,
        length=episodes.length,
    )


def state_from(asked: Asked, config: ObserverConfig, objects: tuple[str, ...]) -> QueryState:
    """One state."""
    match asked:
        case QueryState():
            return asked
        case Level():
            return QueryState(asked.walls, asked.start_cell, asked.object_cells)
        case State():
            return QueryState(asked.walls, asked.agent_cell, asked.object_cells)
        case Scene():
            return _from_scene(asked, config, objects)
        case str():
            return _from_scene(drawn(asked), config, objects)
    why = "should be a level, a state, a scene or the picture of one"
    raise BadSetting("state", type(asked).__name__, why)


def drawn(picture: str) -> Scene:
    """A state from its picture."""
    transcript = parse_transcript(picture.strip("\n"))
    level = transcript.level
    check_level(level)
    if transcript.steps:
        raise BadSetting("state", counted(len(transcript.steps), "step"), "should be a picture, without steps after it")
    things = {(row, col): char for row, line in enumerate(level) for col, char in enumerate(line)}
    (agent,) = (cell for cell, char in things.items() if char == AGENT)
    objects = [(char, cell) for cell, char in things.items() if char not in (WALL, FREE, AGENT)]
    walls = np.array([[char == WALL for char in row] for row in level])
    return Scene(walls=walls, cell=agent, objects=objects, heading=transcript.heading)


def _from_scene(scene: Scene, config: ObserverConfig, objects: tuple[str, ...]) -> QueryState:
    if scene.heading is not None:
        raise BadSetting("state.heading", scene.heading, "this observer sees no headings")
    if scene.walls.shape != (config.size, config.size):
        grid = "×".join(map(str, scene.walls.shape))
        raise BadSetting("state.walls", grid, f"this observer knows grids of {config.size}×{config.size}")
    cells = np.full(len(objects), NONE, np.int16)
    if scene.walls[scene.cell]:
        raise BadSetting("state.cell", _said(scene.cell), "there is a wall")
    for letter, cell in scene.objects:
        if letter not in objects:
            raise BadSetting("state.objects", repr(letter), f"this observer knows {', '.join(objects)}")
        if cells[objects.index(letter)] != NONE:
            raise BadSetting("state.objects", f"{letter} twice", "this observer knows one of each")
        if scene.walls[cell]:
            raise BadSetting("state.objects", f"{letter} at {_said(cell)}", "there is a wall")
        if _number(cell, config.size) in cells:
            other = objects[int(np.argmax(cells == _number(cell, config.size)))]
            raise BadSetting("state.objects", f"{other} and {letter} at {_said(cell)}", "at most one is in a cell")
        cells[objects.index(letter)] = _number(cell, config.size)
    return QueryState(jnp.asarray(scene.walls), jnp.int16(_number(scene.cell, config.size)), jnp.asarray(cells))


def _said(cell: tuple[int, int]) -> str:
    row, col = cell
    return f"{row} {col}"


def _number(cell: tuple[int, int], size: int) -> int:
    row, col = cell
    return row * size + col
