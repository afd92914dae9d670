"""In which precision networks compute."""

import jax
import jax.numpy as jnp


def usual_dtype():
    """bf16 on a GPU, where it is the fast one; float32 on the CPU, where it is."""
    return jnp.float32 if jax.default_backend() == "cpu" else jnp.bfloat16
