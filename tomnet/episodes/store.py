"""Episodes on disk: checksummed safetensors, and nothing believed that is read back.

An observer indexes with what it reads, and an index outside an array does not fail in JAX: it lands somewhere
else. So a file is checked in full before it becomes an `Episode`.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..support.errors import BadFile
from ..support.files import FilePath, load_arrays, save_arrays
from ..world.gridworld import LARGEST_SIZE, LONGEST_EPISODE
from .episode import ACTION_COUNT, NONE, Episode

FORMAT, VERSION = "tomnet episodes", 1
MOST_OBJECTS = 2**7 - 1  # what `consumed` can hold
DTYPES = {
    "walls": np.bool_,
    "agent_cells": np.int16,
    "object_cells": np.int16,
    "actions": np.int8,
    "consumed": np.int8,
    "final_cell": np.int16,
    "length": np.int16,
}


def save_episodes(path: FilePath, episodes: Episode, header: Mapping[str, Any]) -> None:
    """Episodes with any leading axes, and a header of the caller's own, such as who acted where."""
    arrays = {field.name: np.asarray(getattr(episodes, field.name)) for field in dataclasses.fields(Episode)}
    save_arrays(path, arrays, header, format=FORMAT, version=VERSION)


def load_episodes(path: FilePath) -> tuple[Episode, dict[str, Any]]:
    arrays, header = load_arrays(path, FORMAT, VERSION)
    why = _fault(arrays)
    if why is not None:
        raise BadFile(Path(path), why)
    return Episode(**{name: jnp.asarray(arrays[name].astype(dtype)) for name, dtype in DTYPES.items()}), header


def _fault(arrays: dict[str, np.ndarray]) -> str | None:
    """What is wrong with these arrays, if anything; each check may rely on those before it."""
    return _wrong_fields(arrays) or _wrong_shapes(arrays) or _wrong_values(arrays)


def _wrong_fields(arrays: dict[str, np.ndarray]) -> str | None:
    for name in sorted(DTYPES.keys() ^ arrays.keys()):
        return f"{name} is missing" if name in DTYPES else f"{name} is not a part of an episode"
    for name in DTYPES:
        kinds, wanted = ("b", "true or false") if name == "walls" else ("iu", "whole numbers")
        if arrays[name].dtype.kind not in kinds:
            return f"{name} holds {arrays[name].dtype}, not {wanted}"
    return None


def _wrong_shapes(arrays: dict[str, np.ndarray]) -> str | None:
    batch = arrays["length"].shape
    if arrays["object_cells"].ndim < 2 or arrays["walls"].ndim < 2:
        return "object_cells and walls need two axes or more"
    (steps, objects), (size, _) = arrays["object_cells"].shape[-2:], arrays["walls"].shape[-2:]
    expected = {
        "walls": (*batch, size, size),
        "agent_cells": (*batch, steps),
        "object_cells": (*batch, steps, objects),
        "actions": (*batch, steps),
        "consumed": (*batch, steps),
        "final_cell": batch,
    }
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            return f"{name} has shape {arrays[name].shape}, where the other arrays ask for {shape}"
    for name, value, most in (
        ("size", size, LARGEST_SIZE),
        ("number of steps", steps, LONGEST_EPISODE),
        ("number of objects", objects, MOST_OBJECTS),
    ):
        if not 1 <= value <= most:
            return f"the {name} is {value}; between 1 and {most} is possible"
    return None


def _wrong_values(arrays: dict[str, np.ndarray]) -> str | None:
    steps, objects = arrays["object_cells"].shape[-2:]
    cells, length = arrays["walls"].shape[-1] ** 2, arrays["length"]
    if _outside(length, 1, steps):
        return f"length must lie between 1 and {steps}"
    if _outside(arrays["final_cell"], 0, cells - 1):
        return "final_cell lies outside the grid"
    if _outside(arrays["object_cells"], NONE, cells - 1):
        return "object_cells lie outside the grid"
    if _outside(arrays["consumed"], NONE, objects - 1):
        return f"consumed must lie between {NONE} and {objects - 1}"
    real = np.arange(steps) < length[..., None].astype(np.int64)
    for name, most in {"agent_cells": cells - 1, "actions": ACTION_COUNT - 1}.items():
        # NONE may stand in the padding after the end, and only there
        if _outside(arrays[name], NONE, most) or _outside(arrays[name][real], 0, most):
            return f"{name} must lie between 0 and {most}"
    return None


def _outside(values: np.ndarray, least: int, most: int) -> bool:
    return bool(values.size) and (int(values.min()) < least or int(values.max()) > most)
