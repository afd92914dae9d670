"""Both ways of convolution against XLA's own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, made_up_network

from tomnet.agents.matrix_convolution import Convolution, make_ready


def with_weights(seed: int) -> Convolution:
    layer = Convolution(3, 4, key=jax.random.key(seed))
    return eqx.tree_at(lambda layer: layer.bias, layer, jnp.arange(4.0))  # zeros at birth would hide its absence


def reference(frame, layer: Convolution):
    out = jax.lax.conv_general_dilated(
        frame[None], layer.kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return out[0] + layer.bias


@pytest.mark.parametrize("way", ["rows", "patches"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_each_way_is_a_convolution(way, size):
    layer = with_weights(size)
    frame = jax.random.normal(jax.random.key(9), (size, size, 3))
    expected = np.asarray(reference(frame, layer))
    assert np.allclose(layer.ready(size, jnp.float32, way)(frame), expected, atol=1e-5)
    assert np.allclose(layer(frame), expected, atol=1e-5)


def test_the_gradients_of_both_ways_are_those_of_a_convolution():
    layer = with_weights(1)
    frame = jax.random.normal(jax.random.key(9), (4, 4, 3))

    def squared(kernel, frame, way):
        changed = eqx.tree_at(lambda layer: layer.kernel, layer, kernel)
        out = reference(frame, changed) if way == "xla" else changed.ready(4, jnp.float32, way)(frame)
        return jnp.square(out).sum()

    gradients = jax.jit(jax.grad(squared, argnums=(0, 1)), static_argnums=2)
    expected = gradients(layer.kernel, frame, "xla")
    for way in ("rows", "patches"):
        for mine, theirs in zip(gradients(layer.kernel, frame, way), expected, strict=True):
            assert np.allclose(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", ["rows", "patches"])
def test_all_convolutions_of_a_network_are_made_ready_in_the_dtype_asked_for(way):
    network = make_ready(made_up_network(), NETWORK.size, jnp.bfloat16, way)
    for layer in (*network.encoder, network.look_gates, network.memory_gates, *network.belief):
        assert layer.way == way
        assert layer.matrix.dtype == layer.bias.dtype == jnp.bfloat16
    assert network.policy.weight.dtype == jnp.float32
