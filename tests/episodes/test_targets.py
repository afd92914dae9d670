"""What the observer is asked, worked out by hand (appendix B)."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.episodes.episode import NONE, Episode
from tomnet.episodes.targets import GAMMAS, targets_from

A, B, C, END = (1, 5), (2, 5), (1, 4), (0, 4)  # places on a grid of 7 with four objects
PATH = (A, B, A, C)  # then END; A is visited twice

ask = eqx.filter_jit(targets_from)


def cell(place: tuple[int, int]) -> int:
    return place[0] * 7 + place[1]


def episode(padding_cell: int = cell(END), padding_consumed: int = NONE, padding_action: int = NONE) -> Episode:
    """Four steps and two of padding; the third action eats object 2 (a subgoal), the fourth object 1."""
    return Episode(
        walls=jnp.zeros((7, 7), bool),
        agent_cells=jnp.array([*map(cell, PATH), padding_cell, padding_cell], jnp.int16),
        object_cells=jnp.zeros((6, 4), jnp.int16),
        actions=jnp.array([1, 0, 2, 0, padding_action, padding_action], jnp.int8),
        consumed=jnp.array([NONE, NONE, 2, 1, padding_consumed, padding_consumed], jnp.int8),
        final_cell=jnp.int16(cell(END)),
        length=jnp.int16(4),
    )


def successor(time: int, **padding) -> np.ndarray:
    return np.asarray(ask(episode(**padding), jnp.int32(time)).successor)


def expected_maps(weights: dict[tuple[int, int], list[int]]) -> np.ndarray:
    """Maps with the sum of gamma to each of the listed powers at each place, normalised."""
    maps = np.zeros((3, 7, 7))
    for which, gamma in enumerate((0.5, 0.9, 0.99)):
        for (row, col), powers in weights.items():
            maps[which, row, col] = sum(gamma**power for power in powers)
        maps[which] /= maps[which].sum()
    return maps


def test_the_discounts_are_the_papers():
    assert GAMMAS == (0.5, 0.9, 0.99)


def test_successor_maps_count_every_visit_and_the_final_cell():
    """From the start: A at times 0 and 2, B at 1, C at 3, the end at 4."""
    assert np.allclose(successor(0), expected_maps({A: [0, 2], B: [1], C: [3], END: [4]}), atol=1e-6)


def test_a_successor_map_in_numbers():
    """gamma = 0.5: 1 + 1/4, 1/2, 1/8, 1/16 of 31/16."""
    half = successor(0)[0]
    assert np.isclose(half[1, 5], 20 / 31)
    assert np.isclose(half[2, 5], 8 / 31)
    assert np.isclose(half[1, 4], 2 / 31)
    assert np.isclose(half[0, 4], 1 / 31)


@pytest.mark.parametrize(
    ("time", "weights"),
    [(1, {B: [0], A: [1], C: [2], END: [3]}), (2, {A: [0], C: [1], END: [2]}), (3, {C: [0], END: [1]})],
)
def test_from_a_later_time_only_the_rest_counts(time, weights):
    assert np.allclose(successor(time), expected_maps(weights), atol=1e-6)


@pytest.mark.parametrize("time", range(4))
def test_successor_maps_sum_to_one(time):
    assert np.allclose(successor(time).sum((1, 2)), 1, atol=1e-6)


def test_rows_and_cols_are_not_confused():
    assert (successor(0)[:, 2, 5] > 0).all()
    assert (successor(0)[:, 5, 2] == 0).all()


@pytest.mark.parametrize(("time", "eaten"), [(0, [0, 1, 1, 0]), (2, [0, 1, 1, 0]), (3, [0, 1, 0, 0])])
def test_only_what_is_eaten_from_then_on_counts_as_consumed(time, eaten):
    assert ask(episode(), jnp.int32(time)).consumption.tolist() == eaten


@pytest.mark.parametrize("time", range(4))
def test_the_action_is_the_one_taken_then(time):
    assert int(ask(episode(), jnp.int32(time)).action) == [1, 0, 2, 0][time]


def test_padding_changes_no_successor_map():
    assert np.array_equal(successor(1), successor(1, padding_cell=3))


def test_padding_changes_no_consumption():
    garbage = episode(padding_consumed=3, padding_action=4)
    assert ask(garbage, jnp.int32(0)).consumption.tolist() == [0, 1, 1, 0]


def test_an_episode_without_padding_ends_in_its_final_cell():
    full = Episode(
        walls=jnp.zeros((7, 7), bool),
        agent_cells=jnp.full(6, cell(A), jnp.int16),
        object_cells=jnp.zeros((6, 4), jnp.int16),
        actions=jnp.full(6, 4, jnp.int8),
        consumed=jnp.full(6, NONE, jnp.int8),
        final_cell=jnp.int16(cell(B)),
        length=jnp.int16(6),
    )
    assert np.allclose(ask(full, jnp.int32(0)).successor, expected_maps({A: range(6), B: [6]}), atol=1e-6)
