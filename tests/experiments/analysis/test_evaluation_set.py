"""Everyone is met equally often, batches change nothing, and shuffling gives everyone somebody else's embedding."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, WORLD, made_up_population
from helpers import made_up, random_encounters

from tomnet.agents.population import save_population
from tomnet.episodes.encounter import EncounterSpec
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.analysis.evaluation_set import (
    draw_evaluation_set,
    in_batches,
    losses_of,
    predict_everything,
    read_everything,
    shuffled_losses,
    somebody_else,
)
from tomnet.experiments.experiment import ObserverSpec
from tomnet.observer.config import ObserverConfig, TrainingConfig
from tomnet.observer.tomnet import read
from tomnet.support.trees import pick

OBSERVER = ObserverConfig(
    size=5,
    objects=2,
    embedding=3,
    channels=4,
    character_channels=4,
    mental_channels=4,
    character_depth=1,
    mental_depth=1,
    torso_depth=1,
    mental=True,
)


@pytest.fixture(scope="module")
def encounters():
    """With current episodes of 0 to 4 steps."""
    made = random_encounters(past_counts=(3, 1, 2, 3, 3))
    recent = pick(made.past, (slice(None), 0))
    recent = eqx.tree_at(lambda e: e.length, recent, jnp.asarray([0, 1, 2, 4, 3], jnp.int16))
    return eqx.tree_at(lambda e: e.recent, made, recent, is_leaf=lambda leaf: leaf is None)


@pytest.fixture(scope="module")
def observer():
    return made_up(OBSERVER)


def test_reading_in_batches_is_reading(observer, encounters):
    whole, parts = read(observer, encounters), read_everything(observer, encounters, batch=2)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


@pytest.mark.parametrize("shuffled", [("character",), ("mental",), ("character", "mental")])
def test_predictions_are_then_made_with_the_embeddings_of_others(observer, encounters, shuffled):
    neighbour = np.roll(np.arange(5), 1)
    ours = shuffled_losses(observer, read_everything(observer, encounters), encounters, shuffled, neighbour)
    reading = read(observer, encounters)
    character, mental = (
        each.mean[neighbour] if name in shuffled else each.mean
        for name, each in (("character", reading.character), ("mental", reading.mental))
    )
    theirs = losses_of(observer.predict(character, encounters.query, mental), encounters.targets)
    plain = losses_of(reading.predictions, encounters.targets)
    for head, loss in theirs.items():
        np.testing.assert_allclose(ours[head], loss, atol=2e-5)
        assert np.abs(loss - plain[head]).max() > 1e-3  # it is felt


def test_predictions_without_a_mental_state_are_those_of_an_agent_that_has_not_acted(observer, encounters):
    reading = read(observer, encounters)
    alone = predict_everything(observer, np.asarray(reading.character.mean), encounters.query)
    np.testing.assert_allclose(alone.action[0], reading.predictions.action[0], atol=2e-5)  # its episode is empty
    assert np.abs(alone.action[3] - reading.predictions.action[3]).max() > 1e-3


@pytest.mark.parametrize(("count", "batch", "shape"), [(5, 2, (3, 2)), (4, 2, (2, 2)), (3, 256, (1, 3))])
def test_batches_are_equal_and_leave_nobody_out(count, batch, shape):
    index = in_batches(count, batch)
    assert index.shape == shape
    assert index.reshape(-1)[:count].tolist() == list(range(count))


def test_everyone_gets_somebody_elses_and_nobodys_is_lost():
    other = somebody_else(jax.random.key(0), 50)
    assert sorted(other.tolist()) == list(range(50))
    assert (other != np.arange(50)).all()
    assert (np.abs(other - np.arange(50)) > 1).mean() > 0.8  # not just the neighbour, who is of the same species


# --- Encounters


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """Two conditions of three networks, the second of each held out; three preferences each."""
    folder = tmp_path_factory.mktemp("agents")
    for seed, condition in enumerate(("blind", "3x3")):
        save_population(folder / f"{condition}.safetensors", made_up_population(condition, config=NETWORK, seed=seed))
    pool = AgentPool(("blind", "3x3"), folder=folder)
    spec = ObserverSpec(
        "tiny", pool, WORLD, EncounterSpec(2, 2, query_at_start=False), OBSERVER, TrainingConfig(steps=1), reuse=3
    )
    return {part: draw_evaluation_set(jax.random.key(1), spec, part, 12) for part in ("training", "held out")}


@pytest.fixture(scope="module")
def observer_here():
    return made_up(dataclasses.replace(OBSERVER, objects=WORLD.kinds, size=WORLD.size))


def test_everyone_is_met_equally_often(met):
    assert (met["held out"].count, met["held out"].times) == (6, 2 * 3)
    assert (met["training"].count, met["training"].times) == (12, 3)
    assert met["held out"].species.tolist() == [0] * 3 + [1] * 3
    assert met["held out"].preferred.tolist() == [0, 1, 2] * 2
    assert met["training"].network.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3


def test_an_encounter_is_with_whom_it_is_said_to_be(met):
    """The three encounters of a group are each about another of the agent's three episodes."""
    one = met["held out"]
    assert one.currents == 3
    assert one.who.tolist() == list(np.repeat(np.arange(6), 3)) * 2
    assert one.first.tolist() == [0, 3, 6, 9, 12, 15]
    past, asked = one.encounters.past.walls, one.encounters.query.walls  # the levels of the episodes
    for number, (level, seen) in enumerate(zip(asked, one.encounters.past_real)):
        encounter_spec, query = divmod(number, 3)
        np.testing.assert_array_equal(level, past[encounter_spec, query])
        assert seen.tolist() == [episode != query for episode in range(3)]


def test_reading_meetings_in_batches_is_reading(observer_here, met):
    encounters = met["training"].encounters
    whole, parts = read(observer_here, encounters), read_everything(observer_here, encounters, batch=7)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_means_are_over_each_agents_encounters(met):
    one = met["held out"]
    assert one.means(one.who).tolist() == list(range(one.count))
    assert one.by_agent(np.arange(len(one.who)))[2].tolist() == [6, 7, 8, 24, 25, 26]
