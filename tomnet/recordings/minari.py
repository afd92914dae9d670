"""Minari datasets, read without Minari: its loaders build the environment that a file names, and that runs code.

A dataset is a folder with `data/metadata.json` and beside it `main_data.hdf5`, or one folder of Arrow or Parquet files
an episode. The spaces in the metadata are JSON, parsed here; of the environment only its name is read, as a word.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..support.errors import BadFile, TomnetError, needs_extra
from . import minigrid
from .recording import MOST_ACTIONS, MOST_STEPS, BadRecording, Recording, check_action_names, said
from .scene import Recorder, Scene

METADATA, MAIN_FILE = "metadata.json", "main_data.hdf5"
LARGEST_METADATA = 2**22
MOST_EPISODES = 1_000_000
MOST_BYTES = 2**26  # of one array of one episode
NAME = re.compile(r"[A-Za-z0-9_.-]+")

Look = Callable[[Any], Scene]


@dataclass(frozen=True)
class Metadata:
    dataset: str  # its name, such as minigrid/fourrooms-v0
    env: str  # the name of the environment; "" where there is none
    format: str  # hdf5, arrow or parquet
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
        read = _hdf5_episodes if about.format == "hdf5" else _arrow_episodes
        for number, found in read(path / "data", about):
            try:
                yield _recording(found, number, agent or _agent(about, path), names, about, look)
            except BadRecording as fault:
                yield BadRecording(f"episode {number}: {fault.field}", fault.expected, said(fault.found), path=path)
            except TomnetError as error:
                yield error
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
    action_space = _space(file, table, "action_space")
    if (
        action_space.get("type") != "Discrete"
        or not 1 <= _whole(action_space.get("n"), "action_space.n") <= MOST_ACTIONS
    ):
        expected = f"a Discrete space of 1 to {MOST_ACTIONS} actions"
        raise BadRecording("action_space", expected, action_space.get("type"), path=file)
    format = table.get("data_format", "hdf5")
    if format not in ("hdf5", "arrow", "parquet"):
        raise BadRecording("data_format", "hdf5, arrow or parquet", format, path=file)
    episodes = _whole(table.get("total_episodes"), "total_episodes")
    if not 0 <= episodes <= MOST_EPISODES:
        raise BadRecording("total_episodes", f"0 to {MOST_EPISODES}", episodes, path=file)
    return Metadata(
        dataset=str(table.get("dataset_id", "")),
        env=_env_name(file, table),
        format=format,
        episodes=episodes,
        actions=action_space["n"],
        first_action=_whole(action_space.get("start", 0), "action_space.start"),
        observations=_space(file, table, "observation_space"),
    )


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
    return about.env.startswith(("MiniGrid-", "BabyAI-"))


def _default_look(about: Metadata, path: Path) -> Look:
    if not _is_minigrid(about):
        why = f"observations of {about.env or 'an unnamed environment'}, and only MiniGrid's are understood"
        raise BadFile(path, why, "read_minari(path, look=…) takes a function that makes a Scene of one")
    return minigrid.look_at_codes


def _recording(
    found: tuple[Any, np.ndarray, bool], number: int, agent: str, names: tuple[str, ...], about: Metadata, look: Look
) -> Recording:
    observations, actions, terminated = found
    if actions.ndim != 1 or actions.dtype.kind not in "iu":
        raise BadRecording("actions", "whole numbers, one a step", said(f"{actions.dtype} of shape {actions.shape}"))
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


def _hdf5_episodes(data: Path, about: Metadata) -> Iterator[tuple[int, tuple[Any, np.ndarray, bool]]]:
    with needs_extra("minari"):
        import h5py  # pyright: ignore[reportMissingImports]

    path = data / MAIN_FILE
    _check_inside(path, data)
    try:
        with h5py.File(path, "r") as file:
            for number in range(about.episodes):
                group = _hard(h5py, file, f"episode_{number}", path)
                observations = _hdf5_tree(h5py, _hard(h5py, group, "observations", path), path, 0)
                actions = _hdf5_tree(h5py, _hard(h5py, group, "actions", path), path, 0)
                ended = _hdf5_tree(h5py, _hard(h5py, group, "terminations", path), path, 0)
                yield number, (observations, actions, bool(np.size(ended)) and bool(np.ravel(ended)[-1]))
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise BadFile(path, "cannot be read as HDF5", str(error)[:80]) from error


def _hard(h5py: Any, group: Any, name: str, path: Path) -> Any:
    """A member that lies in this very file: links of HDF5 can lead to any other."""
    if not isinstance(group, h5py.Group) or group.get(name, getlink=True) is None:
        raise BadRecording(name, "it to be there", said("none"), path=path)
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise BadFile(path, f"{name} is a link, which may lead out of the file")
    return group[name]


def _hdf5_tree(h5py: Any, node: Any, path: Path, depth: int) -> Any:
    if isinstance(node, h5py.Group):
        if depth > 4 or len(node) > 64:
            raise BadFile(path, "observations within observations beyond all measure")
        members = {name: _hard(h5py, node, name, path) for name in node}
        # of an observation only pictures and numbers are looked at; the mission is words
        return {name: _hdf5_tree(h5py, each, path, depth + 1) for name, each in members.items() if _is_numbers(each)}
    if not isinstance(node, h5py.Dataset) or not _is_numbers(node):
        raise BadFile(path, f"{getattr(node, 'name', 'an array')} does not hold numbers")
    if node.external or node.is_virtual:
        raise BadFile(path, f"{node.name} is stored in another file")
    if node.size * node.dtype.itemsize > MOST_BYTES or (node.shape and node.shape[0] > MOST_STEPS + 1):
        expected = f"up to {MOST_STEPS} steps and {MOST_BYTES >> 20} MiB"
        raise BadRecording(node.name, expected, said(f"shape {node.shape}"), path=path)
    return node[()]


def _is_numbers(node: Any) -> bool:
    dtype = getattr(node, "dtype", None)
    return dtype is None or dtype.kind in "biuf"


# --- Arrow and Parquet


def _arrow_episodes(data: Path, about: Metadata) -> Iterator[tuple[int, tuple[Any, np.ndarray, bool]]]:
    with needs_extra("arrow"):
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.ipc  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]

    for number in range(about.episodes):
        folder = data / str(number)
        files = sorted(folder.glob(f"*.{about.format}")) if folder.is_dir() else []
        if len(files) != 1:
            raise BadFile(folder, f"expected one {about.format} file, found {len(files)}")
        (file,) = files
        _check_inside(file, data)
        try:
            if file.stat().st_size > MOST_BYTES:
                raise BadFile(file, f"expected up to {MOST_BYTES} bytes, found {file.stat().st_size}")
            table = _arrow_table(pyarrow, file, about.format)
            columns = {
                name: table.column(name).combine_chunks() for name in ("observations", "actions", "terminations")
            }
            observations = _arrow_tree(pyarrow, columns["observations"], about.observations)
            actions = columns["actions"].to_numpy(zero_copy_only=False)[:-1]  # padded to the observations' length
            ended = columns["terminations"].to_numpy(zero_copy_only=False)[:-1]
        except (OSError, KeyError, ValueError, TypeError, pyarrow.ArrowException) as error:
            raise BadFile(file, f"cannot be read as {about.format}", str(error)[:80]) from error
        yield number, (observations, actions, bool(len(ended)) and bool(ended[-1]))


def _arrow_table(pyarrow: Any, file: Path, format: str) -> Any:
    """Its rows, once they are known to be few: what is compressed can be far larger than its file."""
    if format == "arrow":
        with pyarrow.ipc.open_file(str(file)) as reader:
            table = reader.read_all()
    else:
        parquet = pyarrow.parquet.ParquetFile(str(file))
        _check_rows(parquet.metadata.num_rows, file)
        size = sum(
            parquet.metadata.row_group(group).total_byte_size for group in range(parquet.metadata.num_row_groups)
        )
        if size > MOST_BYTES:
            raise BadRecording("observations", f"up to {MOST_BYTES >> 20} MiB", said(f"{size} bytes"), path=file)
        table = parquet.read(columns=["observations", "actions", "terminations"])
    _check_rows(table.num_rows, file)
    return table


def _check_rows(rows: int, file: Path) -> None:
    if rows > MOST_STEPS + 1:
        raise BadRecording("steps", f"1 to {MOST_STEPS} of them", said(str(rows)), path=file)


def _arrow_tree(pyarrow: Any, values: Any, space: dict[str, Any]) -> Any:
    """Arrow keeps arrays flat; their shape is in the metadata."""
    if space.get("type") == "Dict":
        inner = space.get("subspaces", {})
        names = [field.name for field in values.type if field.name in inner and inner[field.name].get("type") != "Text"]
        return {name: _arrow_tree(pyarrow, values.field(name), inner[name]) for name in names}
    if space.get("type") == "Discrete":
        return values.to_numpy(zero_copy_only=False)
    if not pyarrow.types.is_fixed_size_list(values.type):
        raise BadRecording("observations", "arrays of numbers", said(str(values.type)))
    return values.flatten().to_numpy(zero_copy_only=False).reshape(len(values), *space["shape"])
