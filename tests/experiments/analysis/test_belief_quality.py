"""Beliefs that are known to be right, wrong or unsure, and what is said of their quality."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.episodes.episode import NONE, Episode
from tomnet.experiments.analysis.belief_quality import (
    Reported,
    Statements,
    belief_quality,
    reported,
)
from tomnet.world.gridworld import World, reset_to_level
from tomnet.world.levels import parse_level

WORLD = World(size=3, objects=1, subgoal=True, max_walls=0)


class Believer(eqx.Module):
    """Believes what its memory says."""

    def belief(self, memory, world):
        return memory


def test_a_report_is_set_against_the_true_place_of_each_object():
    state = reset_to_level(parse_level("@.A\n...\n...", WORLD))  # no subgoal: it is nowhere, the tenth place
    belief = jnp.full((2, 10), 0.05).at[0, 2].set(0.55).at[1, 0].set(0.55)
    told = reported(WORLD)(Believer(), belief, state)
    assert np.allclose(told.surprise, [-np.log(0.55), -np.log(0.05)])
    assert np.allclose(told.confidence, 0.55)
    assert told.right.tolist() == [True, False]


def test_certainty_of_what_is_wrong_is_a_finite_surprise():
    state = reset_to_level(parse_level("@.A\n...\n..*", WORLD))
    told = reported(WORLD)(Believer(), jnp.zeros((2, 10)).at[:, 0].set(1.0), state)
    assert np.isfinite(told.surprise).all()
    assert (np.asarray(told.surprise) > 80).all()


def one_episode(length: int) -> Episode:
    """The agent stands in a corner of an empty room; one object beside it, one far away; three steps, some padding."""
    return Episode(
        walls=jnp.zeros((1, 3, 3), bool),
        agent_cells=jnp.zeros((1, 3), jnp.int16),
        object_cells=jnp.asarray([[[1, 8]] * 3], jnp.int16),
        actions=jnp.full((1, 3), 4, jnp.int8),
        consumed=jnp.full((1, 3), NONE, jnp.int8),
        final_cell=jnp.zeros(1, jnp.int16),
        length=jnp.asarray([length], jnp.int16),
    )


def told(surprise: list[list[float]]) -> Reported:
    shape = (1, 3, 2)
    return Reported(jnp.asarray([surprise]), jnp.full(shape, 0.5), jnp.ones(shape, bool))


def test_seen_and_unseen_objects_are_measured_apart_and_padding_not_at_all():
    rows = [[1.0, 5.0], [3.0, 7.0], [100.0, 100.0]]
    table = belief_quality([Statements(one_episode(2), told(rows), reach=1)], WORLD)
    assert table.seen.cross_entropy.mean == pytest.approx(2.0)
    assert table.unseen.cross_entropy.mean == pytest.approx(6.0)
    assert table.seen.statements == table.unseen.statements == 2
    assert table.moved is None
    assert table.eaten is None
    assert table.uniform == pytest.approx(np.log(10))


def test_intervals_are_over_networks_that_have_something_to_say():
    rows = [[1.0, 5.0]] * 3
    networks = [
        Statements(one_episode(3), told(rows), reach=1),
        Statements(one_episode(3), told([[2.0, 5.0]] * 3), reach=1),
        Statements(one_episode(3), told(rows), reach=-1),  # has seen nothing
    ]
    table = belief_quality(networks, WORLD)
    assert table.seen.cross_entropy.count == 2
    assert table.seen.cross_entropy.mean == pytest.approx(1.5)
    assert table.seen.cross_entropy.low == pytest.approx(1.5 - np.tan(0.475 * np.pi) * 0.5)  # Student's t of two
    assert table.unseen.cross_entropy.count == 3
