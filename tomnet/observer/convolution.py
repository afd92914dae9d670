"""A 3×3 convolution."""

import jax
from jaxtyping import Array, Float


def convolve(
    frames: Float[Array, "frame row col channel_in"], kernel: Float[Array, "3 3 channel_in channel_out"]
) -> Float[Array, "frame row col channel_out"]:
    return jax.lax.conv_general_dilated(frames, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
