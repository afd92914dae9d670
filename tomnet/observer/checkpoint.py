"""Observers and training states on disk: safetensors with checksums, read back into the shapes they came from."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import BadFile, TomnetError
from ..files import load_arrays, save_arrays
from .tomnet import ObserverConfig, ToMnet

OBSERVER_FORMAT, STATE_FORMAT = "tomnet observer", "tomnet training state"
VERSION = 1


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """Every array of a PyTree under a readable name, such as `character_net.lstm.weight_ih`."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path).lstrip("."): np.asarray(leaf) for path, leaf in leaves}


def with_arrays(template: Any, arrays: dict[str, np.ndarray], path: Path) -> Any:
    """The template with its arrays replaced by those of a file, whose names and shapes must match."""
    shapes, static = eqx.partition(template, lambda leaf: eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct))
    leaves, structure = jax.tree_util.tree_flatten_with_path(shapes)
    expected = {jax.tree_util.keystr(name).lstrip("."): leaf for name, leaf in leaves}
    if expected.keys() != arrays.keys():
        stray = sorted(expected.keys() ^ arrays.keys())[0]
        raise BadFile(path, f"another architecture: {stray} is in only one of file and observer")
    for name, leaf in expected.items():
        if leaf.shape != arrays[name].shape:
            raise BadFile(path, f"{name} has shape {arrays[name].shape}, the observer needs {leaf.shape}")
    restored = [jnp.asarray(arrays[name], leaf.dtype) for name, leaf in expected.items()]
    return eqx.combine(jax.tree_util.tree_unflatten(structure, restored), static)


def blank_observer(config: ObserverConfig) -> ToMnet:
    """Shapes only: nothing is computed."""
    return eqx.filter_eval_shape(lambda: ToMnet(config, key=jax.random.key(0)))


def save_observer(path: Path, observer: ToMnet, about: dict, dtype=np.float32) -> None:
    """Weights and architecture, with `about`: what it was trained on, how, for how long."""
    arrays = {name: array.astype(dtype) for name, array in named_arrays(observer).items()}
    header = {"config": dataclasses.asdict(observer.config), "about": about}
    save_arrays(path, arrays, header, format=OBSERVER_FORMAT, version=VERSION)


def load_observer(path: Path) -> tuple[ToMnet, dict]:
    """The observer and what it says about itself."""
    arrays, header = load_arrays(path, OBSERVER_FORMAT, VERSION)
    try:
        config = ObserverConfig(**dict(header["config"], heads=tuple(header["config"]["heads"])))
        about = dict(header["about"])
    except (KeyError, TypeError, ValueError, TomnetError) as error:
        raise BadFile(path, "its header describes no observer that this tomnet can build") from error
    return with_arrays(blank_observer(config), arrays, path), about


def save_state(path: Path, state: Any, header: dict) -> None:
    save_arrays(path, named_arrays(state), header, format=STATE_FORMAT, version=VERSION, keep_previous=True)


def load_state(path: Path, template: Any, check: Callable[[dict], None] | None = None) -> tuple[Any, dict]:
    """The state and its header, after `check` has had a look at the header."""
    arrays, header = load_arrays(path, STATE_FORMAT, VERSION)
    if check is not None:
        check(header)
    return with_arrays(template, arrays, path), header
