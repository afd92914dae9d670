"""What was done beside what was expected: numbers worked out by hand."""

import math

import numpy as np
import pytest
from watch.small import straight

from tomnet.recordings.recording import ACTIONS
from tomnet.watch.surprise import compare, surprise_interval, violations
from tomnet.watch.watcher import Forecast


class Mute:
    """What a watcher knows, without ever watching."""

    name, actions, outcomes, least_past, max_past = "mute", ACTIONS, ("A", "nothing"), 1, 5

    def check(self, recording):
        pass

    def foretell(self, agents, read):
        return iter(())


WATCHER = Mute()


def forecast(*probabilities: float, past: int = 1) -> Forecast:
    """Of `up` with this probability at each step, and all other actions alike."""
    action = np.array([[p, *[(1 - p) / 4] * 4] for p in probabilities])
    return Forecast(past, action, np.tile([0.9, 0.1], (len(action), 1)))


def test_surprise_is_minus_the_logarithm_of_what_was_done():
    episode = compare(WATCHER, straight("ann", 0, "A"), forecast(1.0, 0.5, 0.25, 0.0))
    assert [step.done for step in episode.steps] == ["up"] * 4
    assert [step.nats for step in episode.steps] == pytest.approx([0, math.log(2), math.log(4), math.log(1e9)])
    assert episode.nats == pytest.approx((math.log(8) + math.log(1e9)) / 4)
    assert (episode.counted, episode.took, episode.steps[0].taken) == (True, ["A"], {"A": 0.9, "nothing": 0.1})


def test_unknown_actions_are_skipped():
    episode = compare(WATCHER, straight("ann", 0, "A", unknown=(1, 2)), forecast(0.5, 0.1, 0.1, 0.5))
    assert [step.nats is None for step in episode.steps] == [False, True, True, False]
    assert episode.nats == pytest.approx(math.log(2))
    nobody_knows = compare(WATCHER, straight("ann", 0, "A", unknown=(0, 1, 2, 3)), forecast(*[0.5] * 4))
    assert nobody_knows.nats is None


def test_a_past_shorter_than_any_in_training_does_not_count():
    assert not compare(WATCHER, straight("ann", 0, "A"), forecast(*[0.5] * 4, past=0)).counted


def test_the_most_surprising_step_of_an_episode_stands_for_it_and_what_may_well_happen_surprises_nobody():
    ann = [straight("ann", number, goal) for number, goal in enumerate("ABCD")]  # always up
    said = [forecast(0.9, 0.01, 0.02, 0.9), forecast(*[0.06] * 4), forecast(0.9, 0.9, 0.9, 0.001)]
    unseen = forecast(*[1e-6] * 4, past=0)
    watched = [compare(WATCHER, each, one) for each, one in zip(ann, [*said, unseen])]
    found = violations([ann], [watched])
    assert [(moment.episode, moment.step.time) for moment in found] == [("002", 3), ("000", 1)]
    assert found[1].path == [60, 49]
    assert dict(found[1].objects) == {"A": 16, "B": 104, "C": 56, "D": 64}


def test_only_a_few_are_shown():
    ann = [straight("ann", number, "ABCD"[number % 4]) for number in range(9)]  # always up
    watched = [compare(WATCHER, each, forecast(*[1e-4] * 4)) for each in ann]
    assert len(violations([ann], [watched])) == 6


def test_intervals_stay_above_nothing():
    assert surprise_interval([0.0, 0.0, 3.0]).low == 0
    assert surprise_interval([]).count == 0
