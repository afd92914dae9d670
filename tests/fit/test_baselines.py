"""Observers without a network, against what can be worked out by hand, and agents whose parameters are known."""

import jax.numpy as jnp
import numpy as np
import pytest
from fit.small import two_kinds, walk

from tomnet.fit.baselines import Favourite, Nearest
from tomnet.fit.dataset import make_dataset
from tomnet.fit.inverse_planner import InversePlanner, draws, fit_inverse_planner, particles_of
from tomnet.fit.observer_protocol import Asked, ask_all, together
from tomnet.fit.steps import StepModel, fit_steps, nearer
from tomnet.recordings.text import parse_text

NO_STEPS = StepModel(np.zeros(5), 0.0)
A, B, NOTHING = range(3)


@pytest.fixture(scope="module")
def data():
    return make_dataset([walk("ann", number, goal) for number, goal in enumerate("ABBBA")])


def asked_after(past: list[int], episode: int, query: int = 0) -> Asked:
    return Asked(np.array([past], int).reshape(1, -1), np.array([episode]), np.array([query]))


def test_the_nearest_is_the_nearest(data):
    said = Nearest(0.3, NO_STEPS).outcomes(data, asked_after([], 0))
    assert said[0] == pytest.approx([0.8, 0.1, 0.1])


def test_the_favourite_is_what_was_taken_most_often(data):
    said = Favourite(1.0, 0.0, NO_STEPS).outcomes(data, asked_after([0, 1, 2, 3], 4))
    assert said[0] == pytest.approx(np.array([2, 4, 1]) / 7)  # taken once, thrice and never, and one of each
    unknown = Favourite(1.0, 0.0, NO_STEPS).outcomes(data, asked_after([-1, -1], 4))
    assert unknown[0] == pytest.approx(np.full(3, 1 / 3))


def test_lapses_are_fitted_to_how_often_the_rule_fails(data):
    every = ask_all(data, np.ones(5, bool), 0)
    assert Nearest.fitted(data, every, NO_STEPS).lapse == pytest.approx(0.9)  # 2 of 5 are the nearest: (1 - l) + l / 3


def test_steps_lead_to_the_goal_and_not_over_other_objects():
    data = make_dataset([parse_text(".B\n@A\n..\n\nup\nright\ntook B\n", "ann", "1")])
    ahead = dict(zip(data.schema.action_names, nearer(data, asked_after([], 0))[0].T))
    assert ahead["up"].tolist() == [-1, 1, 0]
    assert ahead["right"].tolist() == [1, -2, 0]  # A stands there
    assert ahead["left"].tolist() == ahead["stay"].tolist() == [0, 0, 0]


def test_a_step_model_has_the_haste_of_the_agents():
    data = make_dataset([walk("ann", number, "AB"[number % 2]) for number in range(20)])
    asked = ask_all(data, np.ones(20, bool), 0, queries=range(4))
    steps = fit_steps(data, asked)
    likely = steps.given_goal(data, asked_after([], 0))[0]
    left, right = (data.schema.action_names.index(name) for name in ("left", "right"))
    assert likely[A, left] > 0.9
    assert likely[B, right] > 0.9


def test_where_actions_lead_nowhere_known_only_how_usual_they_are_is_left():
    text = "actions: hop jump\n\n@.A\n\nhop 0 1\njump 0 1\nhop 0 2\n"
    data = make_dataset([parse_text(text, "ann", "1")])
    steps = fit_steps(data, ask_all(data, np.ones(1, bool), 0, queries=range(4)))
    said = steps.given_goal(data, asked_after([], 0))[0]
    assert (said == said[0]).all()
    assert said[0].sum() == pytest.approx(1)


def test_the_posterior_of_the_planner_is_bayes(data):
    parameters = np.array([0.5, 0.0, -2.0, -1.0, -1.5, -1.0, -0.5, -3.0])
    planner = InversePlanner(parameters, 1.0, NO_STEPS)
    preference, cost, lapse = (np.asarray(each) for each in particles_of(jnp.asarray(parameters), draws(2, 4096)))
    value = preference - np.concatenate([cost[:, None] * [2, 3], np.zeros((4096, 1))], 1)
    chosen = np.exp(value) / np.exp(value).sum(1, keepdims=True)
    chosen = (1 - lapse) * chosen + lapse / 3
    likely = chosen[:, A] * chosen[:, B] ** 2
    expected = (likely[:, None] * chosen).sum(0) / likely.sum()
    assert planner.outcomes(data, asked_after([0, 1, 2], 4))[0] == pytest.approx(expected, rel=1e-3)


def test_the_way_so_far_tells_the_planner_the_goal(data):
    planner = InversePlanner(np.array([0.0, 0.0, -5.0, -1.0, -2.0, -1.0, -1.0, -3.0]), 2.0, NO_STEPS)
    said = [planner.outcomes(data, asked_after([], 1, query))[0, B] for query in range(4)]
    assert said == sorted(said)
    assert said[0] < 0.5 < 0.95 < said[-1]


def test_where_nothing_can_be_reached_the_planner_expects_nothing():
    walled_in = parse_text("A#@#B\n\nstay\ntook nothing\n", "ann", "1")
    planner = InversePlanner(np.array([0.0, 0.0, -5.0, -1.0, -2.0, -1.0, -1.0, -3.0]), 2.0, NO_STEPS)
    said = planner.outcomes(make_dataset([walled_in]), asked_after([], 0))
    assert said[0, NOTHING] > 0.95


def test_a_fitted_planner_knows_who_wants_what():
    data = make_dataset(two_kinds(10, 6))
    planner = fit_inverse_planner(data, data.agent < 8)
    asked = ask_all(data, data.agent >= 8, 4, least=4)
    said = planner.outcomes(data, asked)
    assert (said.argmax(1) == data.outcome[asked.place]).all()
    assert -np.log(said[np.arange(len(said)), data.outcome[asked.place]]).mean() < 0.2
    before = planner.outcomes(data, ask_all(data, data.agent >= 8, 0))
    assert before[:, :2].min() > 0.25  # half of the population wants either


def test_asked_together_keeps_every_row_and_pads_behind(data):
    both = together([asked_after([], 3), asked_after([0, 1], 4)])
    assert both.past.tolist() == [[-1, -1], [0, 1]]
    assert both.episode.tolist() == [3, 4]
    every = ask_all(data, np.array([False, True, False, False, True]), 2)
    assert every.past.tolist() == [[0, -1], [2, 3]]
