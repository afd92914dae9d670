"""The network: padding changes nothing, kinds are exchangeable, the order of episodes is seen."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fit.brief import BRIEF
from fit.small import random_walks
from watch.small import straight

from tomnet.fit.dataset import make_dataset
from tomnet.fit.features import equally_far, planes_of, table_of, views_of
from tomnet.fit.network import Network, NetworkConfig
from tomnet.fit.network_observer import NetworkObserver
from tomnet.fit.observer_protocol import Asked
from tomnet.fit.symmetry import turned, turned_actions
from tomnet.fit.training import draw_batch, losses_of, validation_batch
from tomnet.recordings.text import parse_text

SIZES = {"memory": 4, "embedding": 3, "hidden": 8, "channels": 4, "depth": 1}


@pytest.fixture(scope="module")
def data():
    return make_dataset(random_walks(3, 6))


@pytest.fixture(scope="module")
def observer(data):
    config = NetworkConfig.of(table_of(data), len(data.schema.action_names), **SIZES)
    return NetworkObserver(eqx.filter_jit(Network)(config, key=jax.random.key(0)))


def asked(past: list[int], episode: int, query: int = 0) -> Asked:
    return Asked(np.array([past], int).reshape(1, -1), np.array([episode]), np.array([query]))


def test_padding_behind_the_past_changes_no_answer(data, observer):
    for say in (observer.outcomes, observer.actions, observer.successor_maps):
        plain, padded = say(data, asked([0, 1], 2)), say(data, asked([0, 1, -1, -1], 2))
        assert plain == pytest.approx(padded, abs=1e-6)


def test_answers_are_probabilities(data, observer):
    assert observer.outcomes(data, asked([], 2)).sum() == pytest.approx(1, abs=1e-5)
    assert observer.actions(data, asked([], 2)).sum() == pytest.approx(1, abs=1e-5)
    assert observer.successor_maps(data, asked([0], 2)).sum((-1, -2)) == pytest.approx(1, abs=1e-5)


def test_nothing_is_what_a_walled_in_agent_is_thought_to_take(data, observer):
    walled_in = parse_text("@#A.\n##..\n...B\n\nstay\ntook nothing\n", "ann", "walled in")
    assert not data.schema.from_afar
    for schema, sure in ((data.schema, True), (replace(data.schema, from_afar=True), False)):
        said = observer.outcomes(make_dataset([walled_in], schema), asked([], 0))
        assert (said[0, -1] == pytest.approx(1)) == sure


def test_the_order_of_past_episodes_matters_and_so_do_they(data, observer):
    said = [observer.outcomes(data, asked(past, 5)) for past in ([0, 1], [1, 0], [0, 2], [])]
    for number, one in enumerate(said):
        for other in said[:number]:
            assert np.abs(one - other).max() > 1e-5


def test_an_agent_never_seen_is_the_same_for_all(data, observer):
    embeddings = observer.embeddings(data, np.array([[-1], [-1], [0]]))
    assert (embeddings[0] == embeddings[1]).all()
    assert (embeddings[0] != embeddings[2]).any()


def test_characters_tell_whom_from_whom_though_embeddings_know_no_names():
    """An agent after A and one after B, in the same mazes with both names exchanged."""
    cross = "..A..\n.....\n..@..\n.....\n..B..\n\n{}\n{}\ntook {}\n"
    walks = [parse_text(cross.format(way, way, goal), goal, "1") for goal, way in (("A", "up"), ("B", "down"))]
    data = make_dataset(walks)
    config = NetworkConfig.of(table_of(data), len(data.schema.action_names), **SIZES)
    observer = NetworkObserver(eqx.filter_jit(Network)(config, key=jax.random.key(0)))
    found = observer.characters(data, past := np.array([[0], [1]]))
    assert observer.embeddings(data, past) == pytest.approx(found[:, : SIZES["embedding"]], abs=1e-6)
    (one, wants), (other, wants_other) = (np.split(each, [SIZES["embedding"]]) for each in found)
    assert one == pytest.approx(other, abs=1e-6)
    assert wants.sum() == pytest.approx(1, abs=1e-5)
    assert wants == pytest.approx(wants_other[[1, 0, 2]], abs=1e-6)
    assert abs(wants[0] - wants[1]) > 1e-4


def test_things_equally_far_are_asked_about_as_in_a_maze_where_they_are():
    data = make_dataset([straight("ann", 0, "A", reach=5)])
    assert (np.asarray(table_of(data).asked[0, 0]) == np.asarray(equally_far(4))).all()


def test_what_is_learned_of_one_kind_holds_for_all(data, observer):
    """All objects renamed: the same is said of them under their new names."""
    table, net = table_of(data), observer.network
    episodes = np.array([0, 1, 2])
    real = jnp.ones(3, bool)
    character = eqx.filter_jit(net.character_net)
    outcome = eqx.filter_jit(net.outcome_head)

    def said(order):
        known = character(table.seen[episodes][:, order], table.episode[episodes], real)
        last = jax.tree.map(lambda leaf: leaf[-1], known)
        return last.embedding, outcome(last, table.asked[3, 0][order], table.possible[3, 0])

    (one, first), (other, second) = said(np.array([0, 1])), said(np.array([1, 0]))
    assert np.asarray(one) == pytest.approx(np.asarray(other), abs=1e-6)
    assert np.asarray(first)[[1, 0, 2]] == pytest.approx(np.asarray(second), abs=1e-5)


def test_a_state_turned_over_is_seen_turned_over(data):
    """Planes of the turned maze are the turned planes, but for those that name a direction; actions turn with them."""
    episode, query = np.array([4]), np.array([1])
    outcomes = jnp.array([0.5, 0.3, 0.2])
    plain = views_of(data, episode, query)
    for symmetry in (1, 2, 3):
        other = views_of(data, episode, query, np.array([symmetry]))
        pairs = [np.asarray(planes_of(_one(views), outcomes))[..., :7] for views in (plain, other)]
        assert np.moveaxis(turned(symmetry, np.moveaxis(pairs[0], -1, 0)), 0, -1) == pytest.approx(pairs[1])
        actions = turned_actions(symmetry, data.schema.action_names, False)
        assert int(other.action[0]) == actions[int(plain.action[0])]
        assert turned(symmetry, np.asarray(plain.successor)) == pytest.approx(np.asarray(other.successor))


def _one(views):
    return jax.tree.map(lambda leaf: leaf[0], views)


def test_a_batch_depends_on_the_seed_and_the_step_alone(data):
    train = data.agent < 2
    one, same, other = (draw_batch(data, train, BRIEF, 7, step) for step in (3, 3, 4))
    assert eqx.tree_equal(one, same)
    assert not eqx.tree_equal(one, other)
    assert train[np.asarray(one.episodes)[np.asarray(one.episodes) >= 0]].all()


def test_validation_asks_about_every_wanted_episode_once(data):
    wanted = data.agent == 1
    batch = validation_batch(data, wanted, BRIEF)
    counted = np.asarray(batch.episodes)[np.asarray(batch.counted)]
    assert sorted(counted.tolist()) == np.flatnonzero(wanted).tolist()
    for row, real in zip(np.asarray(batch.episodes), np.asarray(batch.counted)):
        assert (np.diff(row[row >= 0]) == 1).all()
        assert real.any()


def test_what_is_not_counted_changes_no_loss_of_the_outcome(data, observer):
    batch = draw_batch(data, data.agent < 2, BRIEF, 0, 0)
    losses = eqx.filter_jit(losses_of)
    half = eqx.tree_at(lambda batch: batch.counted, batch, batch.counted.at[1].set(False))
    rubbish = eqx.tree_at(lambda batch: batch.episodes, half, half.episodes.at[1].set(0))
    one, other = (losses(observer.network, table_of(data), each)["outcome"] for each in (half, rubbish))
    assert float(one) == pytest.approx(float(other), abs=1e-6)
    assert float(one) != float(losses(observer.network, table_of(data), batch)["outcome"])
