"""What an observer met in training, by what its file says of it."""

import pytest

import tomnet
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.observer.domain import Domain
from tomnet.zoo import names

DEEP = tuple(name for name, experiment in EXPERIMENTS.items() if experiment.section in ("3.3", "3.4", "3.5"))


@pytest.mark.parametrize("name", names())
def test_every_pretrained_observer_says_what_it_met(name):
    domain = tomnet.load(name).domain
    assert domain is not None
    deep = name.startswith(DEEP)
    subgoal, most_walls = (True, 66) if deep else (False, 44)
    assert (domain.objects, domain.subgoal, domain.swaps, domain.most_walls) == (
        4,
        subgoal,
        deep and not name.endswith("no-swaps"),
        most_walls,
    )


def test_numbers_are_those_of_its_training():
    greedy, random = tomnet.load("greedy-agents/greedy").domain, tomnet.load("random-agents/alpha-1").domain
    assert (greedy.min_past, greedy.max_past, greedy.step_limit) == (0, 5, 31)
    assert (random.min_past, random.max_past, random.step_limit) == (0, 10, 1)


@pytest.mark.parametrize("about", [{}, {"met": None}, {"met": {"version": 1, "steps": 1}}, {"met": "everyone"}])
def test_where_nothing_is_said_nothing_is_known(about):
    assert Domain.of(about) is None
