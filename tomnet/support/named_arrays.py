"""A PyTree's arrays by readable names, and back: what the files of observers, agents and training states hold."""

import hashlib
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.sharding import NamedSharding

from .errors import BadFile
from .mesh import placed_as, whole
from .trees import on_device


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """Every array of a PyTree under a readable name, such as `character_net.lstm.weight_ih`."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path).lstrip("."): whole(leaf) for path, leaf in leaves}


def digest_of(tree: Any) -> str:
    """Which weights these are, whatever their file is called: enough digits to tell them apart."""
    digest = hashlib.sha256()
    for name, array in sorted(named_arrays(tree).items()):
        digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def with_arrays(template: Any, arrays: dict[str, np.ndarray], path: Path) -> Any:
    """The template with its arrays replaced by those of a file, whose names and shapes must match; they are put where
    those of the template are."""
    shapes, static = eqx.partition(template, lambda leaf: eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct))
    leaves, structure = jax.tree_util.tree_flatten_with_path(shapes)
    expected = {jax.tree_util.keystr(name).lstrip("."): leaf for name, leaf in leaves}
    if expected.keys() != arrays.keys():
        stray = sorted(expected.keys() ^ arrays.keys())[0]
        raise BadFile(path, f"another architecture: {stray} is in only one of file and network")
    for name, leaf in expected.items():
        if leaf.shape != arrays[name].shape:
            raise BadFile(path, f"{name} has shape {arrays[name].shape}, the network needs {leaf.shape}")
    restored = [_put(arrays[name], leaf) for name, leaf in expected.items()]
    return eqx.combine(jax.tree_util.tree_unflatten(structure, restored), static)


def _put(array: np.ndarray, like: Any) -> jax.Array:
    on_mesh = isinstance(getattr(like, "sharding", None), NamedSharding)
    return placed_as(array, like) if on_mesh else on_device(np.asarray(array, like.dtype))
