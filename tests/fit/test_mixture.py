"""The mixture against what is known of means of probabilities, whoever was right."""

import numpy as np
import pytest

from tomnet.fit.mixture import fit_weights, mixed, mixed_without

HAPPENED = np.array([0, 1, 0, 1])
RIGHT, WRONG = np.eye(2)[HAPPENED] * 0.8 + 0.1, 0.9 - np.eye(2)[HAPPENED] * 0.8
EVEN = np.full((4, 2), 0.5)
ONE = np.ones(4, int)  # past episodes


def nats(said, happened):
    return -np.log(said[np.arange(len(happened)), happened])


def test_whoever_was_right_is_trusted():
    assert fit_weights(RIGHT, EVEN, HAPPENED, ONE) == {1: 1}
    assert fit_weights(EVEN, RIGHT, HAPPENED, ONE) == {1: 0}
    assert fit_weights(EVEN[:0], RIGHT[:0], HAPPENED[:0], ONE[:0]) == {0: 0.5}


def test_the_weight_is_the_share_of_those_that_each_is_right_about():
    happened = np.zeros(100, int)
    sure = np.tile([1.0, 0.0], (100, 1))
    network, planner = sure.copy(), sure[:, ::-1].copy()
    network[:30], planner[:30] = planner[:30].copy(), network[:30].copy()
    assert fit_weights(network, planner, happened, np.ones(100, int)) == {1: pytest.approx(0.7)}


def test_a_weight_is_for_as_much_past_as_there_is():
    past = np.array([0, 0, 5, 5])
    network = np.where(past[:, None] == 5, RIGHT, WRONG)
    weights = fit_weights(network, EVEN, HAPPENED, past)
    assert weights == {0: 0, 5: 1}
    said = mixed(weights, RIGHT, EVEN, np.array([0, 4, 5, 50]))
    assert said[:2] == pytest.approx(EVEN[:2])
    assert said[2:] == pytest.approx(RIGHT[2:])
    assert mixed({1: 1.0}, RIGHT, EVEN, np.zeros(4, int)) == pytest.approx(RIGHT)


def test_what_happened_after_about_as_much_past_counts_as_well():
    """One row against the network after one episode, a hundred for it after two and none else."""
    happened, past = np.zeros(101, int), np.array([1, *[2] * 100])
    network = np.tile([0.9, 0.1], (101, 1))
    network[0] = [0.1, 0.9]
    even = np.full((101, 2), 0.5)
    weights = fit_weights(network, even, happened, past)
    assert weights[1] > 0.8
    assert fit_weights(network[:1], even[:1], happened[:1], past[:1]) == {1: 0}


@pytest.mark.parametrize("seed", range(5))
def test_no_mixture_is_worse_than_the_worse_of_its_parts_even_with_agents_unlike_those_it_is_fitted_to(seed):
    random = np.random.default_rng(seed)
    network, planner = random.dirichlet([0.3] * 4, 60), random.dirichlet([0.3] * 4, 60)
    happened, past = random.integers(4, size=60), random.choice([0, 1, 5], 60)
    few = slice(0, 6)  # which any sharpening would believe
    weights = fit_weights(network[few], planner[few], happened[few], past[few])
    for level in np.unique(past):
        rows = past == level
        parts = [nats(part[rows], happened[rows]).mean() for part in (network, planner)]
        assert nats(mixed(weights, network, planner, past)[rows], happened[rows]).mean() <= max(parts)


def test_an_agent_is_judged_by_weights_that_others_gave():
    """The network is right about one agent alone: there the others' weight denies it, and its weight is all for it."""
    agent = np.array([0, 1, 1, 1])
    network = np.where(agent[:, None] == 0, RIGHT, WRONG)
    left_out = mixed_without(agent, network, EVEN, HAPPENED, ONE)
    assert left_out[0] == pytest.approx(EVEN[0])
    assert left_out[1:] == pytest.approx(WRONG[1:])
    alone = mixed_without(np.zeros(4, int), network, EVEN, HAPPENED, ONE)
    assert alone == pytest.approx((network + EVEN) / 2)  # nobody is left to tell
