"""The observer as a whole: what it predicts, which parts it has, what it refuses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import made_up, random_encounters

from tomnet.observer.character_net import EpisodeNet, SequenceNet, SnapshotNet
from tomnet.observer.config import HEADS, ObserverConfig
from tomnet.observer.prediction_net import PooledHead, SuccessorHead
from tomnet.observer.tomnet import ToMnet, observe
from tomnet.support.errors import BadSetting

TINY = {
    "size": 5,
    "objects": 2,
    "channels": 2,
    "character_channels": 2,
    "character_depth": 1,
    "torso_depth": 1,
}


def shape_of(**settings) -> ToMnet:
    """An observer as shapes only: nothing is computed."""
    return eqx.filter_eval_shape(lambda: ToMnet(ObserverConfig(**TINY | settings), key=jax.random.key(0)))


# --- What it predicts


def test_predictions_are_probabilities_of_the_right_shape(encounters_of, observer_of, thinks):
    character, predictions, _ = thinks(observer_of("episodes"), encounters_of("episodes"))
    assert character.shape == (5, 3)
    assert predictions.action.shape == (5, 5)
    assert predictions.consumption.shape == (5, 2)
    assert predictions.successor.shape == (5, 3, 5, 5)
    assert np.allclose(np.exp(predictions.action).sum(-1), 1, atol=1e-5)
    assert np.allclose(np.exp(predictions.successor).sum((-2, -1)), 1, atol=1e-5)


def test_observing_is_characterising_and_predicting(kind, encounters_of, observer_of, thinks):
    character, predictions = observe(observer_of(kind), encounters_of(kind))
    expected, expected_predictions, _ = thinks(observer_of(kind), encounters_of(kind))
    assert np.allclose(character, expected, atol=1e-5)
    assert np.allclose(predictions.action, expected_predictions.action, atol=1e-5)


def test_half_precision_says_nearly_the_same(encounters_of, observer_of):
    """What a GPU computes with: three digits are left, and every read-out is in full precision."""
    exact = observe(observer_of("episodes"), encounters_of("episodes"))
    rough = observe(observer_of("episodes"), encounters_of("episodes"), jnp.bfloat16)
    for one, other in zip(jax.tree.leaves(exact), jax.tree.leaves(rough), strict=True):
        assert other.dtype == jnp.float32
        assert np.abs(one - other).mean() < 0.02
        assert np.abs(one - other).max() < 0.2


def test_an_observer_of_another_size_or_number_of_objects_is_refused(observer_of):
    with pytest.raises(BadSetting, match="size = 7: this observer knows grids of 5"):
        observe(observer_of("episodes"), random_encounters(size=7))
    with pytest.raises(BadSetting, match="objects = 3: this observer knows 2"):
        observe(observer_of("episodes"), random_encounters(objects=3))


def test_snapshots_are_not_taken_for_episodes_nor_episodes_for_snapshots(observer_of, encounters_of, learns):
    """Neither in asking nor in training."""
    for kind, other, why in (
        ("episodes", "snapshots", "past = snapshots: this observer reads whole episodes"),
        ("snapshots", "episodes", "past = episodes: this observer reads snapshots of them"),
        ("sequence", "episodes", "past = episodes: this observer reads snapshots of them"),
    ):
        for read in (observe, learns):
            with pytest.raises(BadSetting, match=why):
                read(observer_of(kind), encounters_of(other))


def test_an_observer_is_not_confused_where_rows_planes_and_agents_differ_in_number():
    """Size 7, six planes, three agents: a transposed axis would not fit."""
    observer = shape_of(size=7, objects=4, embedding=8)
    encounters = random_encounters(past_counts=(0, 2, 3), size=7, objects=4)
    character, predictions = eqx.filter_eval_shape(lambda: observe_shapes(observer, encounters))
    assert character.shape == (3, 8)
    assert predictions.consumption.shape == (3, 4)
    assert predictions.successor.shape == (3, 3, 7, 7)


def observe_shapes(observer: ToMnet, encounters):
    weights = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), eqx.filter(observer, is_shape))
    observer = eqx.combine(weights, eqx.filter(observer, is_shape, inverse=True))
    character, _ = observer.characterise(encounters.past, encounters.past_real, capacity=40)
    return character.mean, observer.predict(character.mean, encounters.query)


def is_shape(leaf) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


# --- Which parts it has


@pytest.mark.parametrize("heads", [("action",), ("consumption", "successor"), HEADS])
def test_only_the_heads_asked_for_exist(heads):
    net = shape_of(heads=heads).prediction_net
    assert {head for head in HEADS if getattr(net, head) is not None} == set(heads)


def test_an_observer_of_one_head_makes_one_prediction(encounters_of, observer_of, thinks):
    _, predictions, _ = thinks(observer_of("sequence"), encounters_of("sequence"))
    assert predictions.action is not None
    assert predictions.consumption is None
    assert predictions.successor is None


@pytest.mark.parametrize(
    ("character", "net"), [("episodes", EpisodeNet), ("snapshots", SnapshotNet), ("sequence", SequenceNet)]
)
def test_each_kind_of_past_has_its_character_net(character, net):
    assert isinstance(shape_of(character=character).character_net, net)


def test_the_papers_observer_of_goal_driven_agents():
    """Appendix A: 5-layer resnets with 32 channels, an LSTM with 64, batch-norm, three heads."""
    observer = eqx.filter_eval_shape(lambda: ToMnet(ObserverConfig(), key=jax.random.key(0)))
    assert len(observer.character_net.resnet.layers) == len(observer.prediction_net.torso.resnet.layers) == 5
    assert observer.character_net.lstm.hidden_size == 64
    assert observer.character_net.resnet.layers[0].convolution.kernel.shape == (3, 3, 4 + 2 + 5, 32)
    assert observer.prediction_net.torso.resnet.layers[0].convolution.kernel.shape == (3, 3, 4 + 2 + 2, 32)
    assert observer.prediction_net.successor.second.kernel.shape == (3, 3, 32, 3)


@pytest.mark.parametrize("normalise", ["layer", "none"])
def test_other_normalisations_train_and_predict(normalise, encounters_of, learns):
    config = ObserverConfig(**TINY | {"normalise": normalise, "heads": ("action",), "character": "snapshots"})
    fresh = made_up(config)
    predictions, moved, gradients = learns(fresh, encounters_of("snapshots"))
    assert np.allclose(np.exp(predictions.action).sum(-1), 1, atol=1e-5)
    assert eqx.tree_equal(moved, fresh)  # there are no running moments to move
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))


# --- Heads


def test_a_head_may_read_the_features_where_the_agent_stands():
    head = PooledHead(3, 4, "agent", key=jax.random.key(0), convolution=False)
    features = np.random.default_rng(0).normal(size=(2, 5, 5, 3)).astype(np.float32)
    cells = np.array([1 * 5 + 3, 4 * 5 + 0])
    here = features[[0, 1], [1, 4], [3, 0]]
    pooled = np.concatenate([features.mean((1, 2)), here], -1)
    expected = pooled @ np.asarray(head.dense.weight) + np.asarray(head.dense.bias)
    assert np.allclose(head(jnp.asarray(features), jnp.asarray(cells)), expected, atol=1e-5)


def test_a_pooled_head_reads_the_average_only():
    head = PooledHead(3, 4, "pool", key=jax.random.key(0), convolution=False)
    features = np.random.default_rng(0).normal(size=(2, 5, 5, 3)).astype(np.float32)
    expected = features.mean((1, 2)) @ np.asarray(head.dense.weight)
    assert np.allclose(head(jnp.asarray(features), jnp.array([0, 7])), expected, atol=1e-5)


def test_successor_maps_are_a_softmax_over_the_map_for_each_discount():
    head = SuccessorHead(3, key=jax.random.key(0))
    features = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4, 5, 3)), jnp.float32)
    maps = np.asarray(head(features))
    logits = np.moveaxis(np.asarray(head.second(jax.nn.relu(head.first(features)))), -1, 1)
    expected = logits - np.log(np.exp(logits).sum((2, 3), keepdims=True))
    assert maps.shape == (2, 3, 4, 5)
    assert np.allclose(maps, expected, atol=1e-5)


# --- Bad settings


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ({"heads": ("action", "mood")}, "ObserverConfig.heads"),
        ({"heads": ()}, "ObserverConfig.heads"),
        ({"character_depth": 4}, "ObserverConfig.character_depth"),
        ({"character_depth": 0}, "ObserverConfig.character_depth"),
        ({"torso_depth": 2}, "ObserverConfig.torso_depth"),
        ({"torso_depth": -1}, "ObserverConfig.torso_depth"),
        ({"torso_depth": 0, "torso_plain": True}, "ObserverConfig.torso_depth"),
        ({"size": 0}, "ObserverConfig.size"),
        ({"objects": 0}, "ObserverConfig.objects"),
        ({"embedding": 0}, "ObserverConfig.embedding"),
        ({"channels": 0}, "ObserverConfig.channels"),
        ({"character_channels": -8}, "ObserverConfig.character_channels"),
    ],
)
def test_an_architecture_that_cannot_be_built_is_refused_by_name(setting, field):
    with pytest.raises(BadSetting) as refused:
        ObserverConfig(**setting)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("field", "word", "known"),
    [
        ("character", "episode", "'episodes', 'snapshots', 'sequence', 'none'"),
        ("normalise", None, "'batch', 'layer', 'none'"),
        ("character_read_out", "mean", "'pool', 'agent', 'directions'"),
        ("read_out", "Agent", "'pool', 'agent', 'directions'"),
    ],
)
def test_an_unknown_word_is_answered_with_those_there_are(field, word, known):
    """By hand, because the types that are checked in tests alone would refuse it before."""
    config = ObserverConfig()
    object.__setattr__(config, field, word)
    with pytest.raises(BadSetting) as refused:
        config.__post_init__()
    assert str(refused.value) == f"ObserverConfig.{field} = {word!r}: must be one of {known}"


def test_a_plain_torso_may_have_an_even_depth():
    assert ObserverConfig(torso_depth=2, torso_plain=True).torso_depth == 2


@pytest.mark.parametrize("read_out", ["agent", "directions"])
def test_whatever_a_head_reads_it_begins_nearly_undecided(read_out):
    features = jax.nn.relu(3 * jax.random.normal(jax.random.key(0), (64, 11, 11, 32)))
    head = PooledHead(32, 5, read_out, key=jax.random.key(1))
    said = jax.nn.log_softmax(head(features, jnp.arange(64)))
    assert float(said.max(1).mean()) < np.log(0.95)
