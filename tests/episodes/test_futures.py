"""Policies corrected for when agents are asked about, on numbers worked out by hand."""

import numpy as np

from tomnet.episodes.futures import queried_policy


def test_an_action_after_which_episodes_are_short_is_asked_about_more_often():
    """Of six rollouts, two begin with the first action and last one step, four with the second and last four. With one
    more of the usual weight 1/2: (2 + 1/2) / 3 and (1 + 1/2) / 5."""
    policy, began, weight_began = np.array([[[1 / 3, 2 / 3]], [[2, 4]], [[2.0, 1.0]]], float)
    odds = np.array([1 / 3 * 2.5 / 3, 2 / 3 * 1.5 / 5])
    np.testing.assert_allclose(queried_policy(policy, began, weight_began, np.array([0.5])), [odds / odds.sum()])


def test_an_action_that_begins_no_rollout_has_the_usual_weight():
    policy, began, weight_began = np.array([[0.9, 0.1], [3, 0], [0.75, 0]], float)
    np.testing.assert_allclose(queried_policy(policy, began, weight_began, np.array(0.25)), policy)


def test_where_all_weights_are_the_same_the_policy_stays():
    policy, began = np.array([0.5, 0.3, 0.2]), np.array([4.0, 1.0, 3.0])
    np.testing.assert_allclose(queried_policy(policy, began, began / 7, np.array(1 / 7)), policy)
