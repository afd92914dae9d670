"""Minari datasets, read without Minari: its loaders build the environment that a file names, and that runs code.

A dataset is a folder with `data/metadata.json` and beside it `main_data.hdf5`. The spaces in the metadata are JSON,
parsed here; of the environment only its name is read, as a word. Datasets stored as Arrow or Parquet are refused: what
they unpack to cannot be measured before it fills the memory.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..support.errors import BadFile, MissingExtra, TomnetError
from . import minigrid
from .bad_recording import BadRecording, said
from .hdf5 import MOST_EPISODES, Found, read_episodes
from .recording import MOST_ACTIONS, Recording, check_action_names
from .scene import Recorder, Scene

METADATA, MAIN_FILE = "metadata.json", "main_data.hdf5"
FORMAT, OTHER_FORMATS = "hdf5", ("arrow", "parquet")
LARGEST_METADATA = 2**22
NAME = re.compile(r"[A-Za-z0-9_.-]+")

Look = Callable[[Any], Scene]


@dataclass(frozen=True)
class Metadata:
    dataset: str  # its name, such as minigrid/fourrooms-v0
    env: str  # the name of the environment; "" where there is none
    episodes: int
    actions: int
    first_action: int
    observations: dict[str, Any]  # the space, as its JSON says


def is_dataset(path: Path) -> bool:
    return (path / "data" / METADATA).is_file()


def read_minari(
    path: str | os.PathLike[str],
    *,
    agent: str | None = None,
    look: Look | None = None,
    actions: tuple[str, ...] | None = None,
) -> Iterator[Recording | TomnetError]:
    """Every episode of a dataset, as those of one agent, named after it unless told otherwise.

    Fully observed MiniGrid is understood; for anything else `look` makes a `Scene` of an observation.
    """
    path = Path(path)
    try:
        about = read_metadata(path)
        names = _action_names(about, actions)
        look = look or _default_look(about, path)
        file, count = path / "data" / MAIN_FILE, 0
        _check_inside(file, path / "data")
        for number, found in read_episodes(file):
            count += 1
            try:
                if isinstance(found, TomnetError):
                    raise found
                yield _recording(found, number, agent or _agent(about, path), names, about, look)
            except BadRecording as fault:
                yield BadRecording(f"episode {number}: {fault.field}", fault.expected, said(fault.found), path=file)
            except TomnetError as error:
                yield error
        if count != about.episodes:
            expected = f"{count}, as many episodes as {MAIN_FILE} holds"
            raise BadRecording("total_episodes", expected, about.episodes, path=path / "data" / METADATA)
    except MissingExtra:
        raise
    except BadRecording as fault:
        yield fault.at(path)
    except TomnetError as error:
        yield error


# --- Metadata


def read_metadata(path: Path) -> Metadata:
    """What a dataset says of itself, checked; nothing in it is believed to be more than words and numbers."""
    file = path / "data" / METADATA
    _check_inside(file, path)
    if file.stat().st_size > LARGEST_METADATA:
        raise BadFile(file, f"expected up to {LARGEST_METADATA} bytes, found {file.stat().st_size}")
    table = _json(file, file.read_bytes())
    _check_format(file, table)
    action_space = _space(file, table, "action_space")
    if (
        action_space.get("type") != "Discrete"
        or not 1 <= _whole(action_space.get("n"), "action_space.n") <= MOST_ACTIONS
    ):
        expected = f"a Discrete space of 1 to {MOST_ACTIONS} actions"
        raise BadRecording("action_space", expected, action_space.get("type"), path=file)
    episodes = _whole(table.get("total_episodes"), "total_episodes")
    if not 0 <= episodes <= MOST_EPISODES:
        raise BadRecording("total_episodes", f"0 to {MOST_EPISODES}", episodes, path=file)
    return Metadata(
        dataset=str(table.get("dataset_id", "")),
        env=_env_name(file, table),
        episodes=episodes,
        actions=action_space["n"],
        first_action=_whole(action_space.get("start", 0), "action_space.start"),
        observations=_space(file, table, "observation_space"),
    )


def _check_format(file: Path, table: dict[str, Any]) -> None:
    """By what the metadata say; where they say nothing, by what lies beside them: an arrow folder for each episode."""
    found = table.get("data_format", FORMAT)
    if found == FORMAT and not (file.parent / MAIN_FILE).exists():
        found = next((name for name in OTHER_FORMATS if any(file.parent.glob(f"*/*.{name}"))), FORMAT)
    if found != FORMAT:
        raise BadRecording("data_format", f"{FORMAT}, in {MAIN_FILE}, the only one that is read", found, path=file)


def _json(file: Path, raw: bytes | str) -> dict[str, Any]:
    try:
        table = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadFile(file, "not JSON") from None
    if not isinstance(table, dict):
        raise BadFile(file, "not a JSON object")
    return table


def _space(file: Path, table: dict[str, Any], name: str) -> dict[str, Any]:
    """A space is JSON within JSON; older datasets leave it to the environment, which nobody builds here."""
    space = table.get(name)
    if not isinstance(space, str):
        raise BadRecording(name, "a space written as JSON", space, path=file)
    return _json(file, space)


def _env_name(file: Path, table: dict[str, Any]) -> str:
    spec = table.get("env_spec")
    if spec is None:
        return ""
    name = _json(file, spec).get("id") if isinstance(spec, str) else None
    if not isinstance(name, str):
        raise BadRecording("env_spec", "JSON with the id of an environment", spec, path=file)
    return name


def _whole(value: Any, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRecording(name, "a whole number", value)
    return value


def _agent(about: Metadata, path: Path) -> str:
    """The dataset's name, in the letters that a folder may have."""
    words = NAME.findall(about.dataset) or NAME.findall(path.resolve().name) or ["minari"]
    return "-".join(words).lstrip(".")[:100] or "minari"


def _action_names(about: Metadata, actions: tuple[str, ...] | None) -> tuple[str, ...]:
    if actions is None and _is_minigrid(about) and about.actions <= len(minigrid.ACTIONS):
        actions = minigrid.ACTIONS[: about.actions]
    names = actions or tuple(f"action-{number}" for number in range(about.actions))
    check_action_names(names)
    if len(names) != about.actions:
        raise BadRecording("actions", f"{about.actions} names", said(str(len(names))))
    return names


def _is_minigrid(about: Metadata) -> bool:
    """By its name; where a wrapper has lost it, by the shape of what is seen, whose codes are then checked."""
    if about.env:
        return about.env.startswith(("MiniGrid-", "BabyAI-"))
    space = about.observations
    if space.get("type") == "Dict" and isinstance(space.get("subspaces"), dict):
        space = space["subspaces"].get("image")
    shape = space.get("shape") if isinstance(space, dict) else None
    return isinstance(shape, list) and len(shape) == 3 and shape[-1] == 3 and about.actions <= len(minigrid.ACTIONS)


def _default_look(about: Metadata, path: Path) -> Look:
    if not _is_minigrid(about):
        why = f"observations of {about.env or 'an unnamed environment'}, and only MiniGrid's are understood"
        raise BadFile(path, why, "read_minari(path, look=…) takes a function that makes a Scene of one")
    return minigrid.look_at_codes


def _recording(found: Found, number: int, agent: str, names: tuple[str, ...], about: Metadata, look: Look) -> Recording:
    observations, actions, terminated = found
    recorder = Recorder(agent, names)
    scene = look(_at(observations, 0))
    recorder.start(scene)
    for time, action in enumerate(actions.tolist()):
        action -= about.first_action
        if not 0 <= action < len(names):
            raise BadRecording("actions", f"numbers between 0 and {len(names) - 1}", action, step=time)
        scene = _with_what_the_agent_hides(look(_at(observations, time + 1)), scene)
        recorder.step(action, scene)
    return recorder.finish(f"{number:06}", terminated)


def _with_what_the_agent_hides(scene: Scene, before: Scene) -> Scene:
    """An agent drawn over an open door or a goal hides it; it is still there."""
    hidden = [(letter, cell) for letter, cell in before.objects if cell == scene.cell]
    shown = [cell for _, cell in scene.objects]
    missing = [pair for pair in hidden if pair[1] not in shown]
    if not missing:
        return scene
    return Scene(walls=scene.walls, cell=scene.cell, objects=(*scene.objects, *missing), heading=scene.heading)


def _at(observations: Any, time: int) -> Any:
    if isinstance(observations, dict):
        return {name: _at(part, time) for name, part in observations.items()}
    return observations[time]


def _check_inside(file: Path, folder: Path) -> None:
    real = os.path.realpath(folder)
    if os.path.commonpath([os.path.realpath(file), real]) != real:
        raise BadFile(file, "is a link that leads out of the folder")
    if not file.is_file():
        raise BadFile(file, "no such file")
