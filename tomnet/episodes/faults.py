"""What is wrong with an episode, a snapshot or a state, in a line that begins with the field.

An observer indexes with what it reads, and an index outside an array does not fail in JAX: it lands somewhere else, or
gives NaN. So whatever comes from outside, a file or a person's own arrays, is looked at before it becomes an input. All
of this is numpy on values at hand; nothing of it belongs into a traced function.
"""

from collections.abc import Mapping

import numpy as np

from ..support.errors import TomnetError
from ..world.gridworld import LARGEST_SIZE, LONGEST_EPISODE
from .episode import ACTION_COUNT, NONE, Episode, QueryState, Snapshot

MOST_OBJECTS = 2**7 - 1  # what `consumed` can hold
AXES = {
    QueryState: {"agent_cell": (), "walls": ("row", "col"), "object_cells": ("object",)},
    Snapshot: {"agent_cell": (), "walls": ("row", "col"), "object_cells": ("object",), "action": ()},
    Episode: {
        "length": (),
        "walls": ("row", "col"),
        "object_cells": ("time", "object"),
        "agent_cells": ("time",),
        "actions": ("time",),
        "consumed": ("time",),
        "final_cell": (),
    },
}
"""The fields of each kind and their axes, those of the batch left out; the first field has no others."""
MOST = {"row": LARGEST_SIZE, "time": LONGEST_EPISODE, "object": MOST_OBJECTS}
MEANS = {"row": "size", "time": "number of steps", "object": "number of objects"}

Arrays = Mapping[str, np.ndarray]


def arrays_of(where: str, thing: Episode | Snapshot | QueryState) -> dict[str, np.ndarray]:
    """The fields in numpy, whatever was put into them."""
    arrays = {}
    for name in AXES[type(thing)]:
        try:
            arrays[name] = np.asarray(getattr(thing, name))
        except ValueError:
            raise TomnetError(f"{where}.{name}: rows of different lengths are no array") from None
    return arrays


def find_fault(kind: type, arrays: Arrays, *, least_length: int = 1) -> str | None:
    """The first fault, if there is any; each check may rely on those before it."""
    return find_misfit(kind, arrays) or find_wrong_value(kind, arrays, least_length=least_length)


def find_misfit(kind: type, arrays: Arrays) -> str | None:
    """Arrays that hold something else, or do not fit each other."""
    return _wrong_dtype(kind, arrays) or _wrong_shape(kind, arrays)


def _wrong_dtype(kind: type, arrays: Arrays) -> str | None:
    for name in AXES[kind]:
        kinds, wanted = ("b", "true or false") if name == "walls" else ("iu", "whole numbers")
        if arrays[name].dtype.kind not in kinds:
            return f"{name} holds {arrays[name].dtype}, not {wanted}"
    return None


def _wrong_shape(kind: type, arrays: Arrays) -> str | None:
    axes = AXES[kind]
    batch = arrays[next(iter(axes))].shape
    lengths: dict[str, int] = {}
    for name in ("walls", "object_cells"):
        inner = axes[name]
        if arrays[name].ndim < len(inner):
            return f"{name} has shape {arrays[name].shape}, and needs the axes [{', '.join(inner)}]"
        lengths |= dict(zip(inner, arrays[name].shape[arrays[name].ndim - len(inner) :]))
    lengths["col"] = lengths["row"]  # grids are square
    for name, inner in axes.items():
        shape = (*batch, *(lengths[axis] for axis in inner))
        if arrays[name].shape != shape:
            return f"{name} has shape {arrays[name].shape}, where the other arrays ask for {shape}"
    for axis, most in MOST.items():
        if axis in lengths and not 1 <= lengths[axis] <= most:
            return f"the {MEANS[axis]} is {lengths[axis]}; between 1 and {most} is possible"
    return None


def find_wrong_value(kind: type, arrays: Arrays, *, least_length: int = 1) -> str | None:
    """A number that stands for nothing."""
    cells, objects = arrays["walls"].shape[-1] ** 2, arrays["object_cells"].shape[-1]
    ranges = {"object_cells": (NONE, cells - 1)}
    if kind is not Episode:
        ranges |= {"agent_cell": (0, cells - 1)} | ({"action": (0, ACTION_COUNT - 1)} if kind is Snapshot else {})
        return _outside_ranges(arrays, ranges)
    steps, length = arrays["object_cells"].shape[-2], arrays["length"]
    ranges |= {"length": (least_length, steps), "final_cell": (0, cells - 1), "consumed": (NONE, objects - 1)}
    fault = _outside_ranges(arrays, ranges)
    if fault:
        return fault
    real = np.arange(steps) < length[..., None].astype(np.int64)
    for name, most in {"agent_cells": cells - 1, "actions": ACTION_COUNT - 1}.items():
        # NONE may stand in the padding after the end, and only there
        fault = _outside_ranges({name: arrays[name][real]}, {name: (0, most)})
        fault = fault or _outside_ranges(arrays, {name: (NONE, most)})
        if fault:
            return fault
    return None


def _outside_ranges(arrays: Arrays, ranges: Mapping[str, tuple[int, int]]) -> str | None:
    for name, (least, most) in ranges.items():
        values = arrays[name]
        if values.size and (values.min() < least or values.max() > most):
            found = values[(values < least) | (values > most)].reshape(-1)[0]
            return f"{name} must lie between {least} and {most}, and {found} does not"
    return None


def find_blocked(kind: type, arrays: Arrays) -> str | None:
    """An agent or an object in a wall, of what `find_fault` has passed; batch axes are merged into one."""
    walls = arrays["walls"].reshape(-1, arrays["walls"].shape[-1] ** 2)
    agent = "agent_cells" if kind is Episode else "agent_cell"
    if not len(walls):
        return None
    for name in (agent, "object_cells"):
        cells = arrays[name].reshape(len(walls), -1).astype(np.int64)
        there = cells != NONE
        if kind is Episode:
            real = np.arange(arrays["actions"].shape[-1]) < arrays["length"].reshape(-1, 1)
            there &= np.repeat(real, cells.shape[1] // real.shape[1], axis=1)
        blocked = there & np.take_along_axis(walls, np.where(there, cells, 0), axis=1)
        if blocked.any():
            row, col = divmod(int(cells[blocked][0]), arrays["walls"].shape[-1])
            return f"{name} holds the cell in row {row}, col {col}, which is a wall"
    return None
