"""Episodes on disk: checksummed safetensors, and nothing believed that is read back."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..support.array_files import load_arrays, save_arrays
from ..support.errors import BadFile
from ..support.files import FilePath
from .episode import Episode
from .faults import find_fault

FORMAT, VERSION = "tomnet episodes", 1
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
    why = _wrong_fields(arrays) or find_fault(Episode, arrays)
    if why is not None:
        raise BadFile(Path(path), why)
    return Episode(**{name: jnp.asarray(arrays[name].astype(dtype)) for name, dtype in DTYPES.items()}), header


def _wrong_fields(arrays: Mapping[str, np.ndarray]) -> str | None:
    for name in sorted(DTYPES.keys() ^ arrays.keys()):
        return f"{name} is missing" if name in DTYPES else f"{name} is not a part of an episode"
    return None
