"""What the observer sees of an episode, when it does not see everything."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import within

from tomnet.episodes.episode import NONE, Episode
from tomnet.episodes.observer_view import NearObjectsOnly, NoisyActions, sees_all
from tomnet.support.errors import BadSetting

STEPS, PADDING = 4000, 500


@pytest.fixture(scope="module")
def episode():
    random = np.random.default_rng(0)
    time = STEPS + PADDING
    actions = np.where(np.arange(time) < STEPS, random.integers(0, 5, time), NONE)
    objects = random.integers(0, 49, (time, 3))
    objects[random.random(time) < 0.2, 1] = NONE
    return Episode(
        walls=jnp.zeros((7, 7), bool),
        agent_cells=jnp.asarray(random.integers(0, 49, time), jnp.int16),
        object_cells=jnp.asarray(objects, jnp.int16),
        actions=jnp.asarray(actions, jnp.int8),
        consumed=jnp.full(time, NONE, jnp.int8),
        final_cell=jnp.int16(0),
        length=jnp.int16(STEPS),
    )


def viewed(view, episode: Episode) -> Episode:
    return eqx.filter_jit(lambda key, episode: view(key, episode))(jax.random.key(0), episode)


def test_by_default_everything_is_seen(episode):
    assert sees_all(jax.random.key(0), episode) is episode


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_actions_are_mistaken_as_often_as_asked(probability, episode):
    """A mistaken action is never the true one, not even by luck: with probability 1 all are wrong."""
    seen, true = np.asarray(viewed(NoisyActions(probability), episode).actions), np.asarray(episode.actions)
    assert within((seen != true)[:STEPS].mean(), probability, probability * (1 - probability), STEPS)
    assert set(seen[:STEPS].tolist()) == set(range(5))
    assert (seen[STEPS:] == NONE).all()


def test_an_action_is_taken_for_each_of_the_others_alike(episode):
    seen, true = np.asarray(viewed(NoisyActions(1.0), episode).actions), np.asarray(episode.actions)
    shares = np.bincount((seen - true)[:STEPS] % 5) / STEPS
    assert shares[0] == 0
    assert all(within(share, 1 / 4, 3 / 16, STEPS) for share in shares[1:])


def test_noise_on_actions_changes_nothing_else(episode):
    seen = viewed(NoisyActions(1.0), episode)
    restored = eqx.tree_at(lambda e: e.actions, seen, episode.actions)
    assert eqx.tree_equal(restored, episode)


@pytest.mark.parametrize("reach", [0, 2, 6])
def test_only_objects_near_the_agent_are_seen(reach, episode):
    seen = np.asarray(viewed(NearObjectsOnly(reach), episode).object_cells)
    cells, agents = np.asarray(episode.object_cells), np.asarray(episode.agent_cells)[:, None]
    rows, cols = np.abs(cells // 7 - agents // 7), np.abs(cells % 7 - agents % 7)
    near = (np.maximum(rows, cols) <= reach) & (cells != NONE)
    assert np.array_equal(seen, np.where(near, cells, NONE))


@pytest.mark.parametrize(("view", "setting"), [(NoisyActions, -0.1), (NoisyActions, 1.1), (NearObjectsOnly, -1)])
def test_a_view_that_makes_no_sense_is_refused(view, setting):
    with pytest.raises(BadSetting):
        view(setting)
