"""The mental net: what it sees of the current episode, what it does not, and that nothing is spent on padding."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import random_encounters

from tomnet.episodes.encounter import Encounter
from tomnet.episodes.episode import Episode
from tomnet.episodes.history import History
from tomnet.observer.config import ObserverConfig
from tomnet.observer.frames import WAVE, Capacity, capacity_for, recent_waves
from tomnet.observer.losses import losses_each, mean_losses
from tomnet.observer.tomnet import ToMnet, read
from tomnet.observer.training_step import divergences

CONFIG = ObserverConfig(
    size=5,
    objects=2,
    channels=4,
    character_channels=4,
    character_depth=1,
    torso_depth=1,
    embedding=3,
    mental=True,
    mental_channels=4,
    mental_depth=1,
    heads=("action", "belief"),
)
LENGTHS = (0, 3, 20, 9, 1)
TIME = 20


def current_episodes(key=0, lengths=LENGTHS) -> Episode:
    cells = jax.random.split(jax.random.key(key), 4)
    count = len(lengths)
    return Episode(
        walls=jax.random.bernoulli(cells[0], 0.2, (count, 5, 5)),
        agent_cells=jax.random.randint(cells[1], (count, TIME), 0, 25, jnp.int16),
        object_cells=jax.random.randint(cells[2], (count, TIME, 2), -1, 25, jnp.int16),
        actions=jax.random.randint(cells[3], (count, TIME), 0, 5, jnp.int8),
        consumed=jnp.full((count, TIME), -1, jnp.int8),
        final_cell=jnp.zeros(count, jnp.int16),
        length=jnp.asarray(lengths, jnp.int16),
    )


def encounters_with(recent: Episode):
    return eqx.tree_at(lambda e: e.recent, random_encounters(), recent, is_leaf=lambda leaf: leaf is None)


@pytest.fixture(scope="module")
def observer() -> ToMnet:
    return ToMnet(CONFIG, key=jax.random.key(3))


@pytest.fixture(scope="module")
def reading(observer):
    return read(observer, encounters_with(current_episodes()))


def test_waves_count_who_is_still_acting():
    assert recent_waves(current_episodes()).tolist() == [4, 2, 1]
    assert WAVE == 8


def test_room_is_made_for_real_frames_only():
    capacity = capacity_for(encounters_with(current_episodes()).history)
    assert capacity.recent < 2 * sum(LENGTHS)
    assert all(least <= width <= len(LENGTHS) for least, width in zip((4, 2, 1), capacity.waves, strict=True))


def test_an_agent_that_has_not_acted_yet_has_an_empty_mind(reading):
    assert not np.asarray(reading.mental.mean[0]).any()
    assert all(np.asarray(reading.mental.mean[i]).any() for i in range(1, 5))


def test_more_room_than_needed_changes_nothing(observer, reading):
    encounters = encounters_with(current_episodes())
    roomy, _ = eqx.filter_jit(observer.read)(encounters.history, encounters.query, Capacity(96, 96, (5, 5, 5)))
    np.testing.assert_allclose(roomy.mental.mean, reading.mental.mean, atol=1e-5)
    np.testing.assert_allclose(roomy.predictions.action, reading.predictions.action, atol=1e-5)


def test_each_mind_is_read_by_itself(observer, reading):
    """In another order, and so in other waves, every agent is read the same."""
    order = jnp.asarray([2, 0, 4, 1, 3])
    shuffled = jax.tree.map(lambda leaf: leaf[order], encounters_with(current_episodes()))
    other = read(observer, shuffled)
    np.testing.assert_allclose(other.mental.mean, reading.mental.mean[order], atol=1e-5)


def test_what_comes_after_the_cut_is_not_seen(observer, reading):
    """Padding of the current episode may hold anything."""
    recent, other = current_episodes(), current_episodes(key=9)
    real = recent.real

    def mixed(mine, theirs):
        return jnp.where(real.reshape(*real.shape, *[1] * (mine.ndim - 2)), mine, theirs)

    tampered = eqx.tree_at(
        lambda e: (e.agent_cells, e.object_cells, e.actions),
        recent,
        tuple(mixed(getattr(recent, n), getattr(other, n)) for n in ("agent_cells", "object_cells", "actions")),
    )
    again = read(observer, encounters_with(tampered))
    np.testing.assert_array_equal(again.mental.mean, reading.mental.mean)


def test_what_was_done_long_ago_is_remembered(observer, reading):
    """The first of twenty steps still shows in the mind of the agent that took it."""
    recent = current_episodes()
    changed = recent.actions.at[2, 0].set((recent.actions[2, 0] + 1) % 5)
    other = read(observer, encounters_with(eqx.tree_at(lambda e: e.actions, recent, changed)))
    moved = np.abs(np.asarray(other.mental.mean - reading.mental.mean)).max((1, 2, 3))
    assert moved[2] > 0
    assert not moved[[0, 1, 3, 4]].any()


def test_beliefs_are_distributions_over_cells_and_nowhere(reading):
    assert reading.predictions.belief.shape == (5, 2, 26)
    np.testing.assert_allclose(np.exp(reading.predictions.belief).sum(-1), 1, rtol=1e-5)


def test_the_belief_loss_is_the_cross_entropy_with_what_the_agent_says(reading):
    encounters = encounters_with(current_episodes())
    said = jax.nn.softmax(jax.random.normal(jax.random.key(1), (5, 2, 26)))
    targets = eqx.tree_at(lambda t: t.belief, encounters.targets, said, is_leaf=lambda leaf: leaf is None)
    by_hand = -sum((np.asarray(said[2, k]) * np.asarray(reading.predictions.belief[2, k])).sum() for k in range(2))
    assert losses_each(reading.predictions, targets)["belief"][2] == pytest.approx(by_hand, rel=1e-5)


def test_queries_that_share_episodes_are_read_as_if_each_had_its_own(observer):
    """Six queries about two agents' episodes: the same as six encounters, with the episodes told three times over."""
    some = random_encounters(past_counts=(3, 1, 2, 3, 0, 1))
    seen = some.past_real, current_episodes(lengths=(0, 3, 20, 9, 1, 5))
    asked = some.query, some.targets
    past = jax.tree.map(lambda leaf: leaf[:2], some.past)
    of_each = jax.tree.map(lambda leaf: jnp.repeat(leaf, 3, axis=0), past)
    seen_by, asked_of = jax.tree.map(lambda leaf: leaf.reshape(2, 3, *leaf.shape[1:]), (seen, asked))
    in_groups = Encounter(History(past, *seen_by), *asked_of).one_by_one()
    shared = read(observer, in_groups)
    alone = read(observer, Encounter(History(of_each, *seen), *asked))
    for one, other in zip(jax.tree.leaves(shared), jax.tree.leaves(alone), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert np.abs(np.asarray(alone.character.mean[0] - alone.character.mean[1])).max() > 1e-4


# --- Several queries about one episode


TIMES = jnp.array([[0, 0, 0], [0, 2, 3], [1, 12, 20], [8, 9, 9], [0, 1, 1]])  # within LENGTHS; 8 is where a wave ends


def asked_at(times, lengths=LENGTHS) -> tuple[Encounter, Encounter]:
    """Several queries about each current episode: from one history, and each with a history of its own."""
    asked = random_encounters(seed=4, past_counts=(3,) * times.size)
    said = jax.nn.softmax(jax.random.normal(jax.random.key(1), (times.size, 2, 26)))
    targets = eqx.tree_at(lambda t: t.belief, asked.targets, said, is_leaf=lambda leaf: leaf is None)
    some, recent = random_encounters(), current_episodes(lengths=lengths)
    together = Encounter(History(some.past, some.past_real, recent, times), asked.query, targets)

    def each(tree):
        return jax.tree.map(lambda leaf: jnp.repeat(leaf, times.shape[1], axis=0), tree)

    cut = jax.vmap(Episode.until)(each(recent), times.reshape(-1))
    return together, Encounter(History(each(some.past), each(some.past_real), cut), asked.query, targets)


@eqx.filter_jit
def learn(observer: ToMnet, encounters: Encounter, capacity: Capacity):
    """What training computes, the price of embeddings included; normalisation, which looks at frames as often as they
    come, in inference mode."""

    def loss(observer: ToMnet):
        reading, _ = observer.read(encounters.history, encounters.query, capacity)
        losses = mean_losses(reading.predictions, encounters.targets) | divergences(reading)
        return sum(losses.values()), (losses, reading)

    return eqx.filter_grad(loss, has_aux=True)(observer)


@pytest.mark.parametrize("bottleneck", [False, True])
def test_queries_about_one_episode_are_answered_as_if_each_had_been_asked_alone(bottleneck):
    config = dataclasses.replace(CONFIG, bottleneck=bottleneck, heads=("action", "consumption", "successor", "belief"))
    observer = ToMnet(config, key=jax.random.key(3))
    together, alone = asked_at(TIMES)
    once, often = (learn(observer, one, capacity_for(one.history)) for one in (together, alone))
    (gradients, (losses, reading)), (other_gradients, (other_losses, other_reading)) = once, often
    assert losses.keys() == other_losses.keys()
    for name, loss in losses.items():
        np.testing.assert_allclose(loss, other_losses[name], rtol=1e-5)
    np.testing.assert_allclose(reading.mental.mean, other_reading.mental.mean, atol=1e-5)
    np.testing.assert_array_equal(reading.mental.mean[TIMES.ravel() == 0], 0)
    for one, other in zip(jax.tree.leaves(gradients), jax.tree.leaves(other_gradients), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert any(np.abs(np.asarray(leaf)).max() > 1e-3 for leaf in jax.tree.leaves(gradients.mental_net))


def test_the_frames_of_an_episode_are_read_once_however_often_it_is_asked_about():
    together, alone = asked_at(TIMES)
    assert capacity_for(together.history).waves == capacity_for(encounters_with(current_episodes()).history).waves
    assert capacity_for(alone.history).recent > capacity_for(together.history).recent


def test_nobody_has_acted_yet(observer):
    """No frame, no wave: all minds are empty."""
    together, _ = asked_at(jnp.zeros((5, 2), jnp.int32), lengths=(0,) * 5)
    assert set(capacity_for(together.history).waves) == {0}
    assert not np.asarray(read(observer, together).mental.mean).any()


def test_the_character_is_drawn_once_for_an_episode_and_the_mind_for_each_query():
    observer = ToMnet(dataclasses.replace(CONFIG, bottleneck=True), key=jax.random.key(3))
    drawn = read(observer, asked_at(TIMES)[0], key=jax.random.key(0))
    assert drawn.character.mean.shape == (5, 3)
    assert drawn.mental.mean.shape == (15, 5, 5, 4)
    nats = divergences(drawn)
    assert nats["character_nats"] == pytest.approx(float(drawn.character.divergence().sum()) / 5, rel=1e-5)
    assert nats["mental_nats"] == pytest.approx(float(drawn.mental.divergence().sum()) / 15, rel=1e-5)
