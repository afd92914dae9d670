"""PyTrees whose arrays share a leading axis: parts of one, and several as one."""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def pick(tree: Any, index: Any) -> Any:
    """One element, or a part, of every array."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def pick_on_host(tree: Any, index: Any) -> Any:
    """The same of arrays of which each has a shape of its own: chosen by NumPy, no program is compiled for any."""
    return on_device(pick(on_host(tree), index))


def on_host(tree: Any) -> Any:
    """As NumPy holds it, where a part is taken without a compiled program for its shape."""
    return jax.tree.map(np.asarray, tree)


def on_device(tree: Any) -> Any:
    """As JAX holds it. Unlike `jnp.asarray`, without a compiled program for each shape; and of NumPy's arrays a copy,
    or whoever changes one later might change what JAX reads."""
    return jax.device_put(jax.tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, tree))


def stack(trees: Iterable[Any]) -> Any:
    """Side by side, along a new first axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def stack_on_host(trees: Iterable[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def concatenate(trees: Iterable[Any], axis: int = 0) -> Any:
    """One after the other, along an axis they have."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis), *trees)


def concatenate_on_host(trees: Iterable[Any], axis: int = 0) -> Any:
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, axis), *trees)
