"""An observer that is given a bottleneck: it predicts as before at the means, and says how sure it is."""

import dataclasses

import numpy as np
import pytest
from helpers import made_up
from observer.test_mental_net import CONFIG, LENGTHS, current_episodes, encounters_with

from tomnet.observer.config import ObserverConfig
from tomnet.observer.tomnet import read
from tomnet.observer.widening import CHARACTER, MENTAL, with_bottleneck

PAST = 3


@pytest.mark.parametrize(
    "changed",
    [{}, {"mental": False}, {"character": "none"}, {"torso_plain": True}],
    ids=["both", "char", "mental", "plain torso"],
)
def test_a_bottleneck_changes_no_prediction_at_the_means(changed):
    config: ObserverConfig = dataclasses.replace(CONFIG, **changed)
    observer, encounters = made_up(config), encounters_with(current_episodes())
    widened = with_bottleneck(observer, encounters)
    assert widened.config == dataclasses.replace(config, bottleneck=True)
    before, after = read(observer, encounters), read(widened, encounters)
    for head in config.heads:
        told = getattr(before.predictions, head)
        np.testing.assert_allclose(getattr(after.predictions, head), told, rtol=1e-3, atol=1e-4)


def test_embeddings_are_as_large_as_the_prior_is_wide_and_as_sure_as_was_said():
    encounters = encounters_with(current_episodes())
    widened = read(with_bottleneck(made_up(CONFIG), encounters), encounters)
    assert np.mean(widened.character.mean**2, 0) == pytest.approx(1, rel=1e-3)
    assert np.mean(widened.mental.mean**2, (0, 1, 2)) == pytest.approx(1, rel=1e-3)
    past = np.asarray(encounters.past_real.sum(1))
    log_variance = np.asarray(widened.character.log_variance)
    assert log_variance == pytest.approx(np.repeat(past[:, None] * CHARACTER / PAST, CONFIG.embedding, 1))
    acted = np.array(LENGTHS) > 0
    assert np.asarray(widened.mental.log_variance)[acted] == pytest.approx(MENTAL)


def test_an_embedding_that_tells_nothing_is_left_at_its_scale():
    """As of an observer that was asked before anybody acted."""
    encounters = encounters_with(current_episodes(lengths=(0,) * len(LENGTHS)))
    reading = read(with_bottleneck(made_up(CONFIG), encounters), encounters)
    assert all(np.isfinite(each).all() for each in (reading.mental.mean, reading.predictions.action))
