"""The LSTM over many steps, beside the same steps one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.observer.recurrence import Memory, rearranged, step, steps

RANDOM = np.random.default_rng(0)
TIME, AGENTS, SIZE, CHANNELS = 5, 3, 4, 2
REAL = jnp.asarray([[1, 1, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]], bool)  # one looks away and comes back


def drawn(*shape: int) -> jax.Array:
    return jnp.asarray(RANDOM.normal(size=shape), jnp.float32)


def one_by_one(kernel, looked, real, memory: Memory):
    after = []
    for now, is_real in zip(looked, real):
        new = step(memory, now, kernel)
        is_real = is_real[:, None, None, None]
        memory = Memory(*(jnp.where(is_real, one, other) for one, other in zip(new, memory)))
        after.append(memory.hidden)
    return jnp.stack(after), memory


@pytest.fixture(scope="module")
def inputs():
    shape = (AGENTS, SIZE, SIZE)
    memory = Memory(drawn(*shape, CHANNELS), drawn(*shape, CHANNELS))
    return drawn(3, 3, CHANNELS, 4 * CHANNELS), drawn(TIME, *shape, 4 * CHANNELS), REAL, memory


def test_many_steps_are_the_same_as_one_after_the_other(inputs):
    for mine, theirs in zip(jax.tree.leaves(steps(*inputs)), jax.tree.leaves(one_by_one(*inputs))):
        assert np.allclose(mine, theirs, atol=1e-5)


def test_gradients_are_those_of_automatic_differentiation(inputs):
    """Of everything that a loss may see: what is remembered after each step, and the memory that is left."""
    weights = drawn(TIME, AGENTS, SIZE, SIZE, CHANNELS), drawn(2, AGENTS, SIZE, SIZE, CHANNELS)

    def gradients(run):
        def loss(kernel, looked, memory):
            after, last = run(kernel, looked, REAL, memory)
            return (after * weights[0]).sum() + (last.hidden * weights[1][0] + last.cell * weights[1][1]).sum()

        kernel, looked, _, memory = inputs
        return jax.jit(jax.grad(loss, (0, 1, 2)))(kernel, looked, memory)

    for mine, theirs in zip(jax.tree.leaves(gradients(steps)), jax.tree.leaves(gradients(one_by_one))):
        assert np.allclose(mine, theirs, atol=1e-4)
        assert abs(np.asarray(mine)).max() > 0.01


def test_rearranged_frames_get_their_gradients_back_and_others_none():
    frames, there = drawn(4, 2, 2, 3), jnp.asarray([2, 0, 0])  # the third place is nobody's, and only fills up
    back, weights = jnp.asarray([1, -1, 0, -1]), drawn(3, 2, 2, 3)
    assert np.array_equal(rearranged(frames, there, back), frames[there])
    gradient = jax.grad(lambda frames: (rearranged(frames, there, back) * weights).sum())(frames)
    assert np.array_equal(gradient[jnp.asarray([0, 2])], weights[jnp.asarray([1, 0])])
    assert not np.asarray(gradient[jnp.asarray([1, 3])]).any()
