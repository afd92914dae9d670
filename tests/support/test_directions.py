"""What lies which way from a cell."""

import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.support.directions import LEAST, most_each_way


def test_one_knows_which_way_things_lie():
    """Above, below, left and right of the agent: the most on all that side, then in a beam three cells wide."""
    map = np.array([
        [0, 0, 0, 0, 9],
        [0, 0, 0, 0, 0],  # the agent stands in the fourth cell of this row
        [3, 0, 0, 0, 0],
        [0, 7, 0, 2, 0],
        [0, 0, 0, 0, 1],
    ])  # fmt: skip
    own = np.zeros((5, 5), bool)
    own[1, 3] = True
    most = most_each_way(jnp.asarray(map, jnp.float32)[..., None], jnp.asarray(own))[:, 0]
    assert most.tolist() == [9, 9, 7, 2, 7, 3, 9, 9]


@pytest.mark.parametrize("way", range(4))
def test_off_the_edge_there_is_less_than_nothing(way):
    row, col = [(0, 2), (4, 2), (2, 0), (2, 4)][way]
    own = np.zeros((5, 5), bool)
    own[row, col] = True
    most = np.asarray(most_each_way(jnp.zeros((5, 5, 1)), jnp.asarray(own)))[:, 0].reshape(4, 2)
    assert (most[way] == LEAST).all()
    assert (np.delete(most, way, 0) == 0).all()


def test_who_does_not_know_where_it_is_knows_no_directions():
    assert (np.asarray(most_each_way(jnp.ones((5, 5, 3)), jnp.zeros((5, 5), bool))) == LEAST).all()
