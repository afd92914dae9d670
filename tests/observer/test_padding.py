"""Padding never changes an answer: not an embedding, a prediction, a moment or a gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import pick, random_encounters, spoilt

from tomnet.episodes.episode import Episode
from tomnet.observer.layers import BatchNorm
from tomnet.observer.tomnet import observe


def differing(one, other, tolerance: float = 0.0) -> list[str]:
    """The names of the arrays of two PyTrees that are not the same, or not nearly."""
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(one)]
    pairs = zip(names, jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return [name for name, a, b in pairs if not np.allclose(a, b, rtol=tolerance, atol=tolerance)]


def norms(observer) -> list[BatchNorm]:
    leaves = jax.tree.leaves(observer, is_leaf=lambda node: isinstance(node, BatchNorm))
    return [leaf for leaf in leaves if isinstance(leaf, BatchNorm)]


def test_the_rubbish_differs_from_the_padding_it_replaces(kind, encounters_of):
    """Else the tests below would prove nothing."""
    clean, rubbish = encounters_of(kind).past, spoilt(encounters_of(kind)).past
    for field in ("walls", "object_cells", "agent_cells" if kind == "episodes" else "agent_cell"):
        assert not np.array_equal(getattr(clean, field), getattr(rubbish, field))


def test_rubbish_in_the_padding_changes_no_embedding_and_no_prediction(kind, encounters_of, observer_of, thinks):
    clean = thinks(observer_of(kind), encounters_of(kind))
    assert differing(clean, thinks(observer_of(kind), spoilt(encounters_of(kind)))) == []


def test_rubbish_in_the_padding_changes_no_prediction_moment_or_gradient_in_training(
    kind, encounters_of, observer_of, learns
):
    clean = learns(observer_of(kind), encounters_of(kind))
    assert differing(clean, learns(observer_of(kind), spoilt(encounters_of(kind)))) == []


def test_what_is_real_does_change_the_answer(kind, encounters_of, observer_of, thinks):
    def actions(encounters):
        return encounters.past.actions if kind == "episodes" else encounters.past.action

    other = eqx.tree_at(actions, encounters_of(kind), (actions(encounters_of(kind)) + 1) % 5)
    before = thinks(observer_of(kind), encounters_of(kind))[0]
    after = thinks(observer_of(kind), other)[0]
    assert (np.abs(before - after)[1:].max(1) > 1e-4).all()


def test_more_room_for_frames_changes_nothing(encounters_of, observer_of, learns):
    observer, encounters = observer_of("episodes"), encounters_of("episodes")
    assert differing(learns(observer, encounters), learns(observer, encounters, 80), 1e-5) == []


def test_more_room_for_episodes_and_steps_changes_nothing(kind, encounters_of, observer_of, thinks):
    """Two more steps in every episode and one more episode for every agent, none of them real."""
    encounters, observer = encounters_of(kind), observer_of(kind)
    past, capacity = encounters.past, [(0, 0), (0, 1), (0, 2)]
    if kind == "episodes":
        wider = Episode(
            walls=jnp.pad(past.walls, [*capacity[:2], (0, 0), (0, 0)], constant_values=True),
            agent_cells=jnp.pad(past.agent_cells, capacity, constant_values=3),
            object_cells=jnp.pad(past.object_cells, [*capacity, (0, 0)], constant_values=4),
            actions=jnp.pad(past.actions, capacity, constant_values=2),
            consumed=jnp.pad(past.consumed, capacity),
            final_cell=jnp.pad(past.final_cell, capacity[:2]),
            length=jnp.pad(past.length, capacity[:2], constant_values=1),
        )
    else:
        wider = jax.tree.map(lambda leaf: jnp.pad(leaf, capacity[:2] + [(0, 0)] * (leaf.ndim - 2)), past)
    padded = eqx.tree_at(
        lambda e: (e.past, e.past_real), encounters, (wider, jnp.pad(encounters.past_real, capacity[:2]))
    )
    assert differing(thinks(observer, encounters)[:2], thinks(observer, padded)[:2], 1e-5) == []


def test_an_agent_never_seen_has_the_embedding_zero(kind, encounters_of, observer_of, thinks):
    character, predictions, _ = thinks(observer_of(kind), encounters_of(kind))
    assert (np.asarray(character)[0] == 0).all()
    assert (np.asarray(character)[1:] != 0).any(1).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(predictions))


def nothing_seen(encounters):
    return eqx.tree_at(lambda e: e.past_real, encounters, jnp.zeros_like(encounters.past_real))


def test_a_batch_of_agents_never_seen_gives_zeros_and_finite_gradients(
    kind, encounters_of, observer_of, thinks, learns
):
    unseen = nothing_seen(encounters_of(kind))
    assert (np.asarray(thinks(observer_of(kind), unseen)[0]) == 0).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(learns(observer_of(kind), unseen)[2]))


@pytest.mark.parametrize("name", ["episodes", "snapshots"])
def test_a_batch_of_agents_never_seen_leaves_the_running_moments_of_the_character_net_alone(
    name, encounters_of, observer_of, learns
):
    """Nothing was seen, so there is nothing to learn about how it looks."""
    before = observer_of(name).character_net
    after = learns(observer_of(name), nothing_seen(encounters_of(name)))[1].character_net
    for old, new in zip(norms(before), norms(after), strict=True):
        assert np.array_equal(new.running_mean, old.running_mean)
        assert np.array_equal(new.running_variance, old.running_variance)


def test_observers_work_where_there_is_no_room_for_a_past(kind, encounters_of, observer_of):
    """An encounter of `EncounterSpec(0, 0)`: the axis of past episodes has length 0."""
    encounters = encounters_of(kind)
    no_axis = jax.tree.map(lambda leaf: leaf[:, :0], (encounters.past, encounters.past_real))
    encounters = eqx.tree_at(lambda e: (e.past, e.past_real), encounters, no_axis)
    character, _ = observe(observer_of(kind), encounters)
    assert character.shape == (5, 3)
    assert (np.asarray(character) == 0).all()


@pytest.mark.parametrize("name", ["episodes", "snapshots"])
def test_the_order_of_past_episodes_does_not_matter(name, encounters_of, observer_of, thinks):
    encounters = encounters_of(name)
    turned = jax.tree.map(lambda leaf: leaf[:, jnp.array([2, 0, 1])], (encounters.past, encounters.past_real))
    other = eqx.tree_at(lambda e: (e.past, e.past_real), encounters, turned)
    before, after = thinks(observer_of(name), encounters)[0], thinks(observer_of(name), other)[0]
    assert np.allclose(before, after, atol=1e-5)


@pytest.mark.parametrize("name", ["episodes", "snapshots"])
def test_an_embedding_is_the_sum_of_what_each_episode_gives(name, encounters_of, observer_of, thinks):
    """Appendix A: each past episode adds its contribution."""
    encounters = encounters_of(name)
    each = 0
    for episode in range(3):
        only = encounters.past_real & (jnp.arange(3) == episode)
        each += thinks(observer_of(name), eqx.tree_at(lambda e: e.past_real, encounters, only))[0]
    assert np.allclose(thinks(observer_of(name), encounters)[0], each, atol=1e-5)


# --- Normalisation in inference mode


def test_a_prediction_does_not_depend_on_the_other_encounters_of_its_batch(kind, encounters_of, observer_of, thinks):
    encounters, strangers = encounters_of(kind), random_encounters(seed=7, snapshots=kind != "episodes")
    mixed = jax.tree.map(lambda mine, other: jnp.concatenate([mine[2:3], other[1:]]), encounters, strangers)
    alone, among = thinks(observer_of(kind), encounters)[:2], thinks(observer_of(kind), mixed)[:2]
    assert differing(pick(alone, 2), pick(among, 0), 1e-5) == []


def test_in_training_a_prediction_does_depend_on_its_batch(encounters_of, observer_of, learns):
    """So the test above would notice normalisation left in training mode."""
    encounters, strangers = encounters_of("episodes"), random_encounters(seed=7)
    mixed = jax.tree.map(lambda mine, other: jnp.concatenate([mine[2:3], other[1:]]), encounters, strangers)
    alone, among = (learns(observer_of("episodes"), met)[0] for met in (encounters, mixed))
    assert len(differing(pick(alone, 2), pick(among, 0), 1e-3)) == 3


def test_looking_moves_no_running_moment(kind, encounters_of, observer_of, thinks):
    observer = observer_of(kind)
    assert eqx.tree_equal(thinks(observer, encounters_of(kind))[2], observer.character_net)


def test_training_moves_every_running_moment(encounters_of, observer_of, learns):
    observer = observer_of("episodes")
    after = learns(observer, random_encounters(seed=7))[1]
    assert len(norms(after)) == 6  # three convolutions in the character net, three in the torso
    for old, new in zip(norms(observer), norms(after), strict=True):
        assert (np.asarray(new.running_mean) != np.asarray(old.running_mean)).all()
        assert float(new.updates) == float(old.updates) + 1


def test_running_moments_have_no_gradient(encounters_of, observer_of, learns):
    for gradient in norms(learns(observer_of("episodes"), encounters_of("episodes"))[2]):
        assert (np.asarray(gradient.running_mean) == 0).all()
        assert (np.asarray(gradient.running_variance) == 0).all()
        assert (np.asarray(gradient.scale) != 0).any()
