"""Fitted observers watch: all recordings at once, and what is said is what they answer when asked one by one."""

import dataclasses
import warnings

import numpy as np
import pytest
from fit.brief import BRIEF
from fit.small import random_walks, two_kinds
from helpers import made_up

from tomnet.fit.dataset import schema_of
from tomnet.fit.fitted_observer import load_fitted
from tomnet.fit.run import fit
from tomnet.fit.tomnet_observer import ToMnetObserver
from tomnet.observer.config import ObserverConfig
from tomnet.recordings.text import parse_text
from tomnet.support.errors import TomnetError
from tomnet.support.warn import BeyondTraining
from tomnet.watch.choice import check_all, named
from tomnet.watch.fitted import FittedWatcher

SMALL = ObserverConfig(size=4, objects=2, channels=2, character_channels=2, character_depth=1, torso_depth=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit") / "run"
    fit(two_kinds(10, 6), folder, training=BRIEF)
    return folder


def test_each_episode_is_foretold_as_if_asked_after_the_episodes_before_it(folder):
    observer, heard = load_fitted(folder), []
    recordings = two_kinds(2, 6)
    agents = [recordings[:6], recordings[6:]]
    said = list(FittedWatcher("fitted", observer).foretell(agents, heard.append))
    assert sum(heard) == 12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondTraining)
        for own, forecasts in zip(agents, said):
            for number, time in ((0, 0), (1, 1), (5, 1)):
                answer = observer.ask(own[max(number - 3, 0) : number], own[number], time=time)
                forecast = forecasts.episodes[number]
                assert forecast.past == min(number, 3)
                assert forecast.action[time] == pytest.approx(answer.action.array, abs=1e-5)
                assert forecast.taken[time] == pytest.approx(answer.outcome.array, abs=1e-5)
        last = observer.ask(agents[1][-3:], agents[1][0]).character.mean
    assert said[1].character.mean == pytest.approx(last, abs=1e-5)


def test_what_was_not_met_in_fitting_is_said(folder):
    long = [parse_text("A.@..B\n######\n......\n\n" + "stay\n" * 7, "ann", "1")]
    (said,) = FittedWatcher("fitted", load_fitted(folder)).foretell([long], lambda more: None)
    assert said.beyond == ("an episode of 7 steps, at most 3 there",)
    assert np.isfinite(said.episodes[0].action).all()


def test_what_does_not_fit_is_refused_with_the_episode(folder):
    watcher = named(str(folder))
    with pytest.raises(TomnetError, match=r"ann/1: object 'C': this observer knows A, B"):
        check_all(watcher, [parse_text("@.C\n\nright\n", "ann", "1")])


def test_one_whose_network_is_a_tomnet_watches_as_any_and_refuses_what_that_cannot_read(folder):
    walks = random_walks(2, 3, size=(4, 4))
    tomnet = made_up(SMALL)
    fitted = dataclasses.replace(
        load_fitted(folder), schema=schema_of(walks), neural=ToMnetObserver(tomnet), recommended="network", domain=None
    )
    watcher = FittedWatcher("started", fitted)
    check_all(watcher, walks)
    said = list(watcher.foretell([walks[:3], walks[3:]], lambda more: None))
    for number, time in ((0, 0), (2, 1)):
        answer = fitted.ask(walks[3 : 3 + number], walks[3 + number], time=time)
        assert said[1].episodes[number].action[time] == pytest.approx(answer.action.array, abs=1e-5)
        assert said[1].episodes[number].taken[time] == pytest.approx(answer.outcome.array, abs=1e-5)
    assert said[1].character.mean == pytest.approx(fitted.ask(walks[3:], walks[0]).character.mean, abs=1e-5)
    with pytest.raises(TomnetError, match=r"ann/1: walls: expected 4×4.*, found 1×3"):
        check_all(watcher, [parse_text("@.A\n\nright\n", "ann", "1")])
    unknown = parse_text("@..A\n....\n....\nB...\n\n? 0 1\n", "ann", "1")
    assert fitted.ask([], unknown).action.likeliest in tuple(watcher.actions)  # not seen, only asked about
    with pytest.raises(TomnetError, match="action 1: expected one of up"):
        fitted.ask([unknown], walks[0])
