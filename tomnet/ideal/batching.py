"""Large batches in chunks of one size, which share a compiled program."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from ..support.trees import pick


def side_by_side(*, cpu: int, gpu: int) -> int:
    """What fits a processor's caches, and what keeps a GPU busy."""
    return cpu if jax.default_backend() == "cpu" else gpu


def chunks(count: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def in_chunks(function: Callable[..., Any], size: int, batched: tuple[Any, ...], *shared: Any) -> Any:
    """`function(*batched, *shared)`, `size` of the batch at a time: bounded memory, one compiled shape.

    The last chunk is filled up with copies of its last element, whose results are dropped.
    """
    batched = jax.tree.map(np.asarray, batched)
    count = jax.tree.leaves(batched)[0].shape[0]
    results = []
    for part in chunks(count, size):
        index = np.minimum(np.arange(part.start, part.start + size), count - 1)
        results.append(function(*pick(batched, index), *shared))
    return jax.tree.map(lambda *parts: np.concatenate([np.asarray(part) for part in parts])[:count], *results)
