"""Work over several devices: a program is written for one, and told here where its arrays lie.

Inside `over(mesh)` every array is on all devices, until `spread` shares it out; what has to be sent from one device to
another is the compiler's affair. Without a mesh all of this does nothing, and a program is the one it always was. The
draws are the same on any mesh: a number drawn depends on the key and on its place in the whole array.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .errors import BadSetting, TomnetError

AXIS = "devices"


def mesh_of(devices: int | None) -> Mesh | None:
    """So many of the devices there are; with None all of them. A single one needs no mesh."""
    found = jax.devices()
    count = len(found) if devices is None else devices
    if not 1 <= count <= len(found):
        raise BadSetting("devices", count, f"must lie between 1 and {len(found)}, which is what JAX finds here")
    return None if count == 1 else Mesh(np.array(found[:count]), (AXIS,))


def size_of(mesh: Mesh | None) -> int:
    return 1 if mesh is None else mesh.size


def check_divides(mesh: Mesh | None, count: int, what: str) -> None:
    """Where some devices had more to do than others, these would wait."""
    if count % size_of(mesh):
        raise BadSetting("devices", size_of(mesh), f"must divide {count}, {what}")


@contextmanager
def over(mesh: Mesh | None) -> Iterator[None]:
    """Whatever is computed in here is computed on the mesh."""
    if mesh is None:
        yield
    else:
        with jax.set_mesh(mesh):
            yield


def spread(tree: Any, axis: int = 0) -> Any:
    """Every array shared out over the devices along this axis."""
    if jax.sharding.get_abstract_mesh().empty:
        return tree
    arrays, rest = eqx.partition(tree, eqx.is_array)
    return eqx.combine(jax.lax.with_sharding_constraint(arrays, PartitionSpec(*[None] * axis, AXIS)), rest)


def flattened(array: jax.Array) -> jax.Array:
    """The first two axes as one, in any order: the second, shared out, comes first, so that it stays where it is."""
    if not jax.sharding.get_abstract_mesh().empty:
        array = array.swapaxes(0, 1)
    return array.reshape(-1, *array.shape[2:])


def whole(array: jax.Array | np.ndarray) -> np.ndarray:
    """An array on the host. Of one that several processes share, each must ask for it."""
    if isinstance(array, jax.Array) and not array.is_fully_addressable and not array.is_fully_replicated:
        assert isinstance(array.sharding, NamedSharding)
        array = _sent_to(NamedSharding(array.sharding.mesh, PartitionSpec()))(array)
    return np.asarray(array)


@cache
def _sent_to(sharding: NamedSharding):
    return jax.jit(lambda array: array, out_shardings=sharding)


def placed_as(array: np.ndarray, like: jax.Array) -> jax.Array:
    """An array from the host where another lies: each device is given its own part and no more."""
    return jax.make_array_from_callback(like.shape, like.sharding, lambda part: np.asarray(array[part], like.dtype))


@contextmanager
def in_memory(name: str, value: int, remedy: str) -> Iterator[None]:
    """Around work that grows with a setting: where a device runs out of memory, it says which."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        device = jax.local_devices()[0].device_kind
        raise TomnetError(f"out of memory on {device} with {name} = {value}; {remedy}") from error
