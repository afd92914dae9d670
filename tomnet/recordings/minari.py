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

import numpy as np

from ..support.errors import BadFile, MissingExtra, TomnetError, needs_extra
from . import minigrid
from .bad_recording import BadRecording, said
from .recording import MOST_ACTIONS, MOST_STEPS, Recording, check_action_names
from .scene import Recorder, Scene

METADATA, MAIN_FILE = "metadata.json", "main_data.hdf5"
FORMAT, OTHER_FORMATS = "hdf5", ("arrow", "parquet")
LARGEST_METADATA = 2**22
MOST_EPISODES = 1_000_000
MOST_BYTES = 2**26  # of the arrays of one episode
MOST_MEMBERS, DEEPEST = 64, 4
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
        for number, found in _episodes(path / "data", about):
            try:
                yield _recording(found, number, agent or _agent(about, path), names, about, look)
            except BadRecording as fault:
                yield BadRecording(f"episode {number}: {fault.field}", fault.expected, said(fault.found), path=path)
            except TomnetError as error:
                yield error
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


def _recording(
    found: tuple[Any, Any, bool], number: int, agent: str, names: tuple[str, ...], about: Metadata, look: Look
) -> Recording:
    observations, actions, terminated = found
    if not isinstance(actions, np.ndarray) or actions.ndim != 1 or actions.dtype.kind not in "iu":
        raise BadRecording("actions", "whole numbers, one a step", said(f"{getattr(actions, 'dtype', 'a group')}"))
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
    if time >= len(observations):
        raise BadRecording("observations", "one more than there are actions", said(str(len(observations))))
    return observations[time]


def _check_inside(file: Path, folder: Path) -> None:
    real = os.path.realpath(folder)
    if os.path.commonpath([os.path.realpath(file), real]) != real:
        raise BadFile(file, "is a link that leads out of the folder")
    if not file.is_file():
        raise BadFile(file, "no such file")


# --- HDF5


def _episodes(data: Path, about: Metadata) -> Iterator[tuple[int, tuple[Any, Any, bool]]]:
    """One episode at a time: what was seen, what was done, and whether it ended by itself."""
    with needs_extra("minari"):
        import h5py  # pyright: ignore[reportMissingImports]

    path = data / MAIN_FILE
    _check_inside(path, data)
    try:
        with h5py.File(path, "r") as file:
            reader = _Reader(h5py, path)
            for number in range(about.episodes):
                group = reader.member(file, f"episode_{number}")
                parts = [reader.member(group, name) for name in ("observations", "actions", "terminations")]
                observations, actions, ended = reader.arrays(parts)
                yield number, (observations, actions, bool(np.size(ended)) and bool(np.ravel(ended)[-1]))
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise BadFile(path, "cannot be read as HDF5", str(error)[:80]) from error


class _Reader:
    """HDF5 without what leads out of the file or unpacks to more than it says."""

    def __init__(self, h5py: Any, path: Path):
        self.h5py, self.path = h5py, path

    def member(self, group: Any, name: str) -> Any:
        link = group.get(name, getlink=True) if isinstance(group, self.h5py.Group) else None
        if link is None:
            raise BadRecording(name, "it to be there", said("none"), path=self.path)
        if not isinstance(link, self.h5py.HardLink):
            raise BadFile(self.path, f"{name} is a link, which may lead out of the file")
        return group[name]

    def arrays(self, parts: list[Any]) -> list[Any]:
        """Of one episode, once they are known to be small enough together."""
        trees = [self._tree(part, 0) for part in parts]
        size = sum(leaf.size * leaf.dtype.itemsize for tree in trees for leaf in _leaves(tree))
        if size > MOST_BYTES:
            raise BadRecording(
                "observations", f"up to {MOST_BYTES >> 20} MiB an episode", said(f"{size} bytes"), path=self.path
            )
        return [_read(tree) for tree in trees]

    def _tree(self, node: Any, depth: int) -> Any:
        if isinstance(node, self.h5py.Group):
            if depth == DEEPEST or len(node) > MOST_MEMBERS:
                raise BadFile(self.path, f"{node.name}: expected up to {MOST_MEMBERS} arrays, {DEEPEST} groups deep")
            members = {name: self.member(node, name) for name in node}
            # a mission is words, and nobody looks at it
            return {name: self._tree(each, depth + 1) for name, each in members.items() if not _is_words(each)}
        if not isinstance(node, self.h5py.Dataset) or node.dtype.kind not in "biuf":
            raise BadFile(self.path, f"{node.name} does not hold numbers")
        if node.external or node.is_virtual:
            raise BadFile(self.path, f"{node.name} is stored in another file")
        if node.id.get_create_plist().get_nfilters():
            # HDF5 unpacks a chunk to whatever size comes out; Minari itself writes them as they are
            raise BadFile(self.path, f"{node.name} is compressed, and its size cannot be known before it is unpacked")
        if node.ndim == 0 or node.shape[0] > MOST_STEPS + 1:
            raise BadRecording(node.name, f"up to {MOST_STEPS} steps", said(f"shape {node.shape}"), path=self.path)
        return node


def _is_words(node: Any) -> bool:
    return getattr(getattr(node, "dtype", None), "kind", "f") in "OSU"


def _leaves(tree: Any) -> list[Any]:
    return [leaf for part in tree.values() for leaf in _leaves(part)] if isinstance(tree, dict) else [tree]


def _read(tree: Any) -> Any:
    return {name: _read(part) for name, part in tree.items()} if isinstance(tree, dict) else tree[()]
