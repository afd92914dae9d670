"""Parts of PyTrees, and several as one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import compiled_programs

from tomnet.support.trees import concatenate, concatenate_on_host, on_device, pick, pick_on_host, stack, stack_on_host

TREE = {"a": jnp.arange(6).reshape(3, 2), "b": (jnp.arange(3),)}


@pytest.mark.parametrize("index", [0, slice(1, 3), (1, ...), None, np.array([2, 0]), jnp.array([[1], [2]])])
def test_a_part_is_that_part_of_every_array(index):
    part = pick(TREE, index)
    assert np.array_equal(part["a"], np.asarray(TREE["a"])[index])
    assert np.array_equal(part["b"][0], np.asarray(TREE["b"][0])[index])


def test_a_part_is_picked_without_a_program_for_its_shape():
    jax.clear_caches()  # of what other tests picked
    with compiled_programs() as names:
        part = pick_on_host(TREE, np.array([2, 0]))
    assert names == []
    assert isinstance(part["a"], jax.Array)
    assert part["a"].tolist() == [[4, 5], [0, 1]]


@pytest.mark.parametrize("count", [1, 64, 100_000])
def test_what_is_on_the_device_no_longer_depends_on_the_host(count):
    for _ in range(50):  # a write is seen only where it comes before the copy, and so not each time
        array = np.zeros(count, np.float32)
        there = on_device({"a": array})
        array[:] = 1
        assert not np.asarray(there["a"]).any()


@pytest.mark.parametrize(("stack", "kind"), [(stack, jnp.ndarray), (stack_on_host, np.ndarray)])
def test_several_become_one_along_a_new_axis(stack, kind):
    both = stack([TREE, TREE])
    assert both["a"].shape == (2, 3, 2)
    assert isinstance(both["a"], kind)


@pytest.mark.parametrize(("concatenate", "kind"), [(concatenate, jnp.ndarray), (concatenate_on_host, np.ndarray)])
def test_several_become_one_along_an_axis_they_have(concatenate, kind):
    one = concatenate(tree for tree in (TREE, pick(TREE, slice(1))))
    assert one["b"][0].tolist() == [0, 1, 2, 0]
    assert isinstance(one["b"][0], kind)
    assert concatenate([TREE["a"], TREE["a"][:, :1]], axis=1).shape == (3, 3)
