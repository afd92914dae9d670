"""What the observer sees of an episode, when it does not see everything."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import within

from tomnet.episodes.episode import NONE, Episode
from tomnet.episodes.observer_view import MissedSteps, NearObjectsOnly, NoisyActions, OneOf, sees_all
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


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_of_a_missed_step_nothing_is_seen_and_of_the_others_everything(probability, episode):
    seen = viewed(MissedSteps(probability), episode)
    missed = np.asarray(seen.agent_cells) == NONE
    assert within(missed.mean(), probability, probability * (1 - probability), STEPS + PADDING)
    for steps in ("actions", "object_cells", "consumed"):
        true, told = np.asarray(getattr(episode, steps)), np.asarray(getattr(seen, steps))
        assert (told[missed] == NONE).all()
        assert np.array_equal(told[~missed], true[~missed])
    assert int(seen.final_cell) == (NONE if missed[STEPS - 1] else 0)
    assert np.array_equal(seen.walls, episode.walls)
    assert seen.length == episode.length


def test_each_of_several_views_has_its_turn(episode):
    """Each episode through one of them: all of its actions are mistaken, or all of its steps missed, or nothing."""
    either = OneOf((sees_all, NoisyActions(1.0), MissedSteps(1.0)))
    seen = jax.jit(jax.vmap(either, in_axes=(0, None)))(jax.random.split(jax.random.key(0), 60), episode)
    true = episode.actions[:STEPS]
    plain, missed = (np.asarray((seen.actions[:, :STEPS] == each).all(1)) for each in (true, NONE))
    mistaken = np.asarray((seen.actions[:, :STEPS] != true).all(1)) & ~missed
    assert (plain.astype(int) + mistaken + missed == 1).all()
    assert min(plain.sum(), mistaken.sum(), missed.sum()) > 8


@pytest.mark.parametrize(
    ("view", "setting"),
    [(NoisyActions, -0.1), (NoisyActions, 1.1), (MissedSteps, -0.1), (MissedSteps, 1.1), (NearObjectsOnly, -1)],
)
def test_a_view_that_makes_no_sense_is_refused(view, setting):
    with pytest.raises(BadSetting):
        view(setting)
