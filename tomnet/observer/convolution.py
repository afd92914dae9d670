"""A 3×3 convolution."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Frames = Float[Array, "frame row col channel_in"]
Kernel = Float[Array, "3 3 channel_in channel_out"]
Maps = Float[Array, "frame row col channel_out"]


def convolve(frames: Frames, kernel: Kernel) -> Maps:
    return jax.lax.conv_general_dilated(frames, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def convolve_in_loop(frames: Frames, kernel: Kernel) -> Maps:
    """The same for use in a loop, where XLA's CPU backend computes a convolution with one slow thread: there, the
    nine neighbours of each cell side by side, and one matrix product."""
    if jax.default_backend() != "cpu":
        return convolve(frames, kernel)
    rows, cols = frames.shape[1:3]
    wide = jnp.pad(frames, ((0, 0), (1, 1), (1, 1), (0, 0)))
    around = jnp.concatenate([wide[:, r : r + rows, c : c + cols] for r in range(3) for c in range(3)], -1)
    return around @ kernel.reshape(-1, kernel.shape[-1])
