"""Recordings as checksummed safetensors files: thousands of episodes in one, their steps end to end.

Nothing that is read back is believed: sizes are compared before an array is cut, and every episode passes the check of
`Recording` again.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..support.array_files import load_arrays, save_arrays, stored_format
from ..support.errors import TomnetError
from .bad_recording import BadRecording, said
from .recording import DTYPES, LARGEST_SIDE, MOST_STEPS, Recording

SUFFIX = ".safetensors"
FORMAT, VERSION = "tomnet recordings", 1
LARGEST_FILE = 2**28  # bytes
SHARD_EPISODES, SHARD_BYTES = 5_000, 2**26
# which name, which set of actions and objects, how long and how large: one number an episode
NUMBERS = {"agent": np.int32, "action_set": np.int32, "object_set": np.int32, "length": np.int32, "rows": np.uint8}
NUMBERS |= {"cols": np.uint8, "faces": np.bool_}


# --- Writing


def shards(recordings: Iterable[Recording]) -> Iterator[list[Recording]]:
    """In their order, as many together as a file is to hold."""
    shard: list[Recording] = []
    size = 0
    for recording in recordings:
        if shard and (len(shard) == SHARD_EPISODES or size + recording.nbytes > SHARD_BYTES):
            yield shard
            shard, size = [], 0
        shard.append(recording)
        size += recording.nbytes
    if shard:
        yield shard


def write_shard(path: Path, recordings: Sequence[Recording]) -> None:
    agents, action_sets, object_sets = _Numbers(), _Numbers(), _Numbers()
    rows = [
        (
            agents.of(each.agent),
            action_sets.of(each.action_names),
            object_sets.of(each.objects),
            len(each),
            *each.size,
            each.headings is not None,
        )
        for each in recordings
    ]
    arrays = {name: np.array(column, dtype) for (name, dtype), column in zip(NUMBERS.items(), zip(*rows))}
    for name, dtype in DTYPES.items():
        parts = [getattr(each, name) for each in recordings]
        arrays[name] = _end_to_end([part for part in parts if part is not None], dtype)
    arrays["walls"] = np.packbits(arrays["walls"])
    header = {
        "agents": list(agents.known),
        "episodes": [each.episode for each in recordings],
        "action_sets": list(action_sets.known),
        "object_sets": ["".join(objects) for objects in object_sets.known],
    }
    save_arrays(path, arrays, header, FORMAT, VERSION)


class _Numbers:
    """Each thing once, and by a number afterwards."""

    def __init__(self):
        self.known: dict[Any, int] = {}

    def of(self, thing: Any) -> int:
        return self.known.setdefault(thing, len(self.known))


def _end_to_end(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    return np.concatenate([part.reshape(-1) for part in parts]) if parts else np.zeros(0, dtype)


# --- Reading


def read_shard(path: Path) -> Iterator[Recording | TomnetError]:
    """Every episode of a file, those of our own worlds included; a file that cannot be used is one error."""
    try:
        if stored_format(path) == "tomnet episodes":
            from .worlds import read_episodes  # which needs JAX

            yield from read_episodes(path)
            return
        arrays, header = load_arrays(path, FORMAT, VERSION)
        names = _check_header(header)
        _check_arrays(arrays, names)
    except TomnetError as error:
        yield error.at(path) if isinstance(error, BadRecording) else error
        return
    for number, fields in enumerate(_cut(arrays)):
        try:
            yield _recording(names, number, fields)
        except BadRecording as fault:
            field = f"episode {number + 1}: {fault.field}"
            yield BadRecording(field, fault.expected, said(fault.found), path=path, step=fault.step)


def _check_header(header: dict[str, Any]) -> dict[str, list[Any]]:
    names = {name: header.get(name) for name in ("agents", "episodes", "action_sets", "object_sets")}
    for name, given in names.items():
        if not isinstance(given, list):
            raise BadRecording(name, "a list in the header", given)
    for name in ("agents", "episodes", "object_sets"):
        for word in names[name] or []:
            if not isinstance(word, str):
                raise BadRecording(name, "text", word)
    for actions in names["action_sets"] or []:
        if not isinstance(actions, list) or not all(isinstance(word, str) for word in actions):
            raise BadRecording("action_sets", "lists of words", actions)
    return {name: given or [] for name, given in names.items()}


def _check_arrays(arrays: dict[str, np.ndarray], names: dict[str, list[Any]]) -> None:
    """That they are all there and as long as the numbers say, so that each episode can be cut out."""
    for name in sorted((NUMBERS | DTYPES).keys() ^ arrays.keys()):
        raise BadRecording(name, "the arrays of recordings", said("none" if name not in arrays else "one more"))
    for name, dtype in (NUMBERS | DTYPES | {"walls": np.uint8}).items():
        if arrays[name].ndim != 1 or arrays[name].dtype != dtype:
            found = said(f"{arrays[name].dtype} of {arrays[name].ndim} axes")
            raise BadRecording(name, f"one axis of {np.dtype(dtype)}", found)
    episodes = len(names["episodes"])
    most = {"agent": len(names["agents"]), "action_set": len(names["action_sets"])}
    most |= {"object_set": len(names["object_sets"])}
    for name in NUMBERS:
        if len(arrays[name]) != episodes:
            raise BadRecording(name, f"one for each of {episodes} episodes", said(str(len(arrays[name]))))
    for name, count in most.items():
        _check_between(name, arrays[name], 0, count - 1)
    for name, largest in {"length": MOST_STEPS, "rows": LARGEST_SIDE, "cols": LARGEST_SIDE}.items():
        _check_between(name, arrays[name], 1, largest)
    for name, count in _sizes(arrays, names["object_sets"]).items():
        wanted = -(-int(count.sum()) // 8) if name == "walls" else int(count.sum())
        if len(arrays[name]) != wanted:
            raise BadRecording(name, f"{wanted} numbers", said(str(len(arrays[name]))))
    arrays["objects_of"] = _objects_of(arrays, names["object_sets"])


def _check_between(name: str, values: np.ndarray, least: int, most: int) -> None:
    if values.size and not (least <= values.min() and values.max() <= most):
        raise BadRecording(name, f"numbers between {least} and {most}", said(f"{values.min()} to {values.max()}"))


def _objects_of(arrays: dict[str, np.ndarray], object_sets: list[str]) -> np.ndarray:
    return np.array([len(letters) for letters in object_sets], np.int64)[arrays["object_set"]]


def _sizes(arrays: dict[str, np.ndarray], object_sets: list[str]) -> dict[str, np.ndarray]:
    """How many numbers of each array every episode has."""
    steps = arrays["length"].astype(np.int64)
    return {
        "walls": arrays["rows"].astype(np.int64) * arrays["cols"],
        "actions": steps,
        "cells": steps + 1,
        "object_cells": (steps + 1) * _objects_of(arrays, object_sets),
        "taken": steps,
        "headings": (steps + 1) * arrays["faces"],
    }


def _cut(arrays: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    steps, objects = arrays["length"].tolist(), arrays["objects_of"].tolist()
    size = list(zip(arrays["rows"].tolist(), arrays["cols"].tolist()))
    walls = np.unpackbits(arrays["walls"]).astype(bool)
    numbers = zip(*(arrays[name].tolist() for name in ("agent", "action_set", "object_set")))
    where = dict.fromkeys(DTYPES, 0)

    def take(name: str, *shape: int) -> np.ndarray:
        start, count = where[name], math.prod(shape)
        where[name] = start + count
        return (walls if name == "walls" else arrays[name])[start : start + count].reshape(shape)

    for number, (agent, action_set, object_set) in enumerate(numbers):
        time = steps[number]
        yield {
            "agent": agent,
            "action_set": action_set,
            "object_set": object_set,
            "walls": take("walls", *size[number]),
            "actions": take("actions", time),
            "cells": take("cells", time + 1),
            "object_cells": take("object_cells", time + 1, objects[number]),
            "taken": take("taken", time),
            "headings": take("headings", time + 1) if arrays["faces"][number] else None,
        }


def _recording(names: dict[str, list[Any]], number: int, fields: dict[str, Any]) -> Recording:
    return Recording(
        agent=names["agents"][fields.pop("agent")],
        episode=names["episodes"][number],
        action_names=tuple(names["action_sets"][fields.pop("action_set")]),
        objects=tuple(names["object_sets"][fields.pop("object_set")]),
        **fields,
    )
