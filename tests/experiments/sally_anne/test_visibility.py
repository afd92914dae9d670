"""What an agent has seen, on a drawn level, and how far apart distributions are."""

import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.episodes.episode import NONE, Episode
from tomnet.experiments.analysis.divergence import jensen_shannon
from tomnet.experiments.sally_anne.visibility import (
    EATEN,
    MOVED,
    SEEN,
    UNSEEN,
    distance,
    objects_in_view,
    statuses,
    visibility_map,
)

# The agent walks along the top row, seeing one cell far, and eats the subgoal in the third column:
#     @ . * . .
#     A . . B .
#     . . . . .
#     . . . . .
#     C . . . .
A, B, C = 5, 8, 20


def episode(object_cells: list[list[int]]) -> Episode:
    time = len(object_cells)
    return Episode(
        walls=jnp.zeros((5, 5), bool),
        agent_cells=jnp.arange(time, dtype=jnp.int16),
        object_cells=jnp.asarray(object_cells, jnp.int16),
        actions=jnp.full(time, 3, jnp.int8),
        consumed=jnp.full(time, NONE, jnp.int8),
        final_cell=jnp.int16(time),
        length=jnp.int16(time),
    )


NO_SWAP = episode([[A, B, C, 2], [A, B, C, 2], [A, B, C, NONE], [A, B, C, NONE]])


def test_objects_are_in_view_within_a_square_around_the_agent():
    seen = objects_in_view(NO_SWAP, reach=1)
    assert seen.tolist() == [
        [True, False, False, False],
        [True, False, False, True],
        [False, True, False, False],  # the subgoal is gone: what is absent is never in view
        [False, True, False, False],
    ]
    assert objects_in_view(NO_SWAP, reach=4)[0].all()


def test_an_object_once_seen_stays_seen_and_an_eaten_one_is_eaten():
    assert statuses(NO_SWAP, reach=1).tolist() == [
        [SEEN, UNSEEN, UNSEEN, UNSEEN],
        [SEEN, UNSEEN, UNSEEN, SEEN],
        [SEEN, SEEN, UNSEEN, EATEN],
        [SEEN, SEEN, UNSEEN, EATEN],
    ]


def test_an_object_that_a_swap_took_away_unseen_is_moved_until_it_is_seen_again():
    """A and C change places behind the agent's back; C now lies in a cell that was seen, but not C in it."""
    swapped = episode([[A, B, C, 2], [A, B, C, 2], [C, B, A, NONE], [C, B, A, NONE]])
    assert statuses(swapped, reach=1)[2:].tolist() == [[MOVED, SEEN, UNSEEN, EATEN]] * 2
    back = episode([[A, B, C, 2], [A, B, C, 2], [B, A, C, NONE], [B, A, C, NONE]])
    assert statuses(back, reach=1)[1:3].tolist() == [[SEEN, UNSEEN, UNSEEN, SEEN], [SEEN, UNSEEN, UNSEEN, EATEN]]


def test_the_blind_have_seen_nothing_and_know_what_they_ate():
    assert set(statuses(NO_SWAP, reach=-1)[:2].reshape(-1)) == {UNSEEN}
    assert statuses(NO_SWAP, reach=-1)[3].tolist() == [UNSEEN, UNSEEN, UNSEEN, EATEN]


def test_batches_are_as_one_by_one():
    both = Episode(*(jnp.stack([leaf, leaf]) for leaf in vars(NO_SWAP).values()))
    assert np.array_equal(statuses(both, 1), np.stack([statuses(NO_SWAP, 1)] * 2))


def test_distances_are_those_of_squares():
    assert distance(np.array(0), np.array([0, 1, 5, 6, 12, 4, 24]), 5).tolist() == [0, 1, 1, 1, 2, 4, 4]
    assert distance(np.array(0), np.array([NONE]), 5).tolist() == [5]


def test_the_map_shows_what_was_never_seen_seen_before_and_in_view_now():
    picture = """
        11222
        11222
        00000
        00000
        00000
    """
    expected = [[int(code) for code in line.strip()] for line in picture.strip().splitlines()]
    assert visibility_map(np.array([0, 1, 2, 3]), reach=1, size=5).tolist() == expected


# --- Divergence


def test_equal_distributions_are_exactly_nothing_apart():
    random = np.random.default_rng(0).dirichlet(np.ones(122), 50).astype(np.float32)
    assert (jensen_shannon(random, random) == 0).all()
    assert jensen_shannon([1.0, 0.0], [1.0, 0.0]) == 0


def test_distributions_without_overlap_are_log_2_apart():
    assert jensen_shannon([0.5, 0.5, 0, 0], [0, 0, 0.1, 0.9]) == pytest.approx(np.log(2))


def test_a_divergence_worked_by_hand():
    """Of (1, 0) and (½, ½), around (¾, ¼)."""
    by_hand = 0.5 * np.log(4 / 3) + 0.5 * (0.5 * np.log(2 / 3) + 0.5 * np.log(2))
    assert jensen_shannon([1, 0], [0.5, 0.5]) == pytest.approx(by_hand)
    assert jensen_shannon([0.5, 0.5], [1, 0]) == pytest.approx(by_hand)
