"""A 3×3 convolution as one plain matrix product.

A population has weights of its own for every network, and side by side (`vmap`) their convolutions would become one
grouped convolution: slow on a CPU, and on a GPU not even safe (its gradient crashed there). Matrix products stay
matrix products. A convolution is therefore made ready once for many frames:

- "rows" (GPU): three neighbouring rows as one vector, times a banded matrix. It multiplies by many zeros, in shapes
  that tensor cores like.
- "patches" (CPU): the nine neighbours of each cell as one vector, times the kernel. No zeros, more copying.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, Scalar

Way = Literal["rows", "patches"]


def usual_way() -> Way:
    return "patches" if jax.default_backend() == "cpu" else "rows"


class ReadyConvolution(eqx.Module):
    matrix: Float[Array, "neighbourhood out"]
    bias: Float[Array, "channel_out"]
    way: Way = eqx.field(static=True)

    def __call__(self, frame: Float[Array, "row col channel_in"]) -> Float[Array, "row col channel_out"]:
        size = frame.shape[0]
        if self.way == "rows":
            rows = jnp.pad(frame.reshape(size, -1), ((1, 1), (0, 0)))
            around = jnp.concatenate([rows[:-2], rows[1:-1], rows[2:]], axis=-1)
        else:
            wide = jnp.pad(frame, ((1, 1), (1, 1), (0, 0)))
            shifts = [wide[r : r + size, c : c + size] for r in range(3) for c in range(3)]
            around = jnp.concatenate(shifts, axis=-1)
        return (around @ self.matrix).reshape(size, size, -1) + self.bias


class Convolution(eqx.Module):
    """A 3×3 convolution that keeps the size of the map; `ready` for a square map of a given size."""

    kernel: Float[Array, "3 3 channel_in channel_out"]
    bias: Float[Array, "channel_out"]

    def __init__(self, channels_in: int, channels_out: int, *, key: Key[Scalar, ""]):
        scale = (2 / (9 * channels_in)) ** 0.5
        self.kernel = scale * jax.random.normal(key, (3, 3, channels_in, channels_out))
        self.bias = jnp.zeros(channels_out)

    def __call__(self, frame: Float[Array, "row col channel_in"]) -> Float[Array, "row col channel_out"]:
        """For a single frame; made ready before, many are faster."""
        return self.ready(frame.shape[0], frame.dtype)(frame)

    def ready(self, size: int, dtype, way: Way | None = None) -> ReadyConvolution:
        way = way or usual_way()
        kernel = self.kernel.astype(dtype)
        if way == "patches":
            matrix = kernel.reshape(-1, kernel.shape[-1])
        else:
            # band[dr, col, c, col', o] = kernel[dr, dc, c, o] where col = col' + dc - 1
            banded = jnp.einsum("rdio,dab->raibo", kernel, jnp.asarray(_selector(size), dtype))
            matrix = banded.reshape(3 * size * kernel.shape[2], size * kernel.shape[3])
        return ReadyConvolution(matrix, self.bias.astype(dtype), way)


def _selector(size: int) -> np.ndarray:
    """Which column a kernel's column reads for each column of the map."""
    kernel_col, read, written = np.ogrid[:3, :size, :size]
    return (read == written + kernel_col - 1).astype(np.float32)


def make_ready(network: eqx.Module, size: int, dtype, way: Way | None = None):
    """A network with all its convolutions ready, for as long as its weights do not change."""
    return jax.tree.map(
        lambda layer: layer.ready(size, dtype, way) if isinstance(layer, Convolution) else layer,
        network,
        is_leaf=lambda layer: isinstance(layer, Convolution),
    )
