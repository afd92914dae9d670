"""Recordings as arrays: a level that a reader can see, and any recording there can be."""

from dataclasses import replace

import numpy as np
import pytest
from fit.small import random_walks, walk
from helpers import distances_to
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings.made_up import recordings

from tomnet.fit.dataset import QUERIES, make_dataset
from tomnet.fit.distances import UNREACHABLE, walking_distances
from tomnet.recordings.text import parse_text
from tomnet.support.errors import TomnetError

TWO_TAKEN = """
@.A.#
##..B

right
right
took A
right
down
right
took B
"""


def test_distances_and_what_is_taken_next_can_be_read_off_a_level():
    data = make_dataset([parse_text(TWO_TAKEN, "ann", "1")])
    a, b = 0, 1
    assert data.schema.kinds == ("A", "B")
    assert data.times[0].tolist() == [0, 1, 2, 3]
    assert data.distance[0, :, a].tolist() == [2, 1, UNREACHABLE, UNREACHABLE]  # it was taken
    assert data.distance[0, :, b].tolist() == [UNREACHABLE, UNREACHABLE, 3, 2]  # A stands in the way until then
    assert data.outcome[0].tolist() == [a, a, b, b]
    assert data.walked[0].tolist() == [0, 1, 0, 1]  # since the start, then since A was taken
    assert data.detour[0, :, b].tolist() == [0, 0, 0, 0]
    assert not data.nearest_not_taken.any()


def test_a_detour_counts_the_steps_that_did_not_lead_there():
    data = make_dataset([walk("ann", 0, "B")])
    times, a, b = data.times[0], 0, 1
    assert data.detour[0, :, a].tolist() == (2 * times).tolist()
    assert data.detour[0, :, b].tolist() == [0] * QUERIES
    assert data.nearest_not_taken[0, 0]


def test_objects_that_were_walked_over_stand_in_nobodys_way():
    text = "@.*.A\n\nright\nright\nright\nright\n"
    data = make_dataset([parse_text(text, "ann", "1")])
    assert data.schema.walked_over == (True, False)
    assert data.distance[0, 0].tolist() == [2, 4]


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_walking_distances_are_breadth_first(seed):
    random = np.random.default_rng(seed)
    walls = random.random((3, 6, 6)) < 0.3
    closed = random.random((3, 6, 6)) < 0.1
    goals = np.zeros((3, 6, 6), bool)
    for grid, cell in enumerate(random.integers(0, 36, 3)):
        goals[grid].flat[cell], walls[grid].flat[cell], closed[grid].flat[cell] = True, False, False
    found = walking_distances(walls, goals, closed)
    for grid in range(3):
        avoid = set(np.flatnonzero(closed[grid]).tolist())
        expected = distances_to(int(goals[grid].argmax()), walls[grid], avoid)
        for cell in set(range(36)) - avoid:
            assert found[grid].flat[cell] == expected.get(cell, UNREACHABLE)


@given(st.lists(recordings(), min_size=1, max_size=4))
@settings(max_examples=50)
def test_whatever_was_recorded_becomes_arrays(some):
    some = [replace(each, episode=str(number)) for number, each in enumerate(some)]
    data = make_dataset(some)
    episode, query = np.divmod(np.arange(len(some) * QUERIES), QUERIES)
    for array in (data.distance, data.detour, data.nearest, data.action_shares, data.nearest_not_taken):
        assert len(array) == len(some)
    assert np.allclose(data.successor_maps(episode, query).sum((-1, -2)), 1, atol=1e-5)
    assert data.from_agent(episode, query).reshape(len(episode), -1).min(1).tolist() == [0] * len(episode)
    for number, each in enumerate(data.recordings):
        row, col = np.divmod(each.cells[data.times[number]], each.size[1])
        assert (data.cells[number] == row * data.schema.cols + col).all()


def test_padding_is_wall_and_changes_no_distance():
    small = walk("ann", 0, "A")
    (large,) = random_walks(1, 1, size=(5, 9))
    data = make_dataset([small, replace(large, agent="bob")])
    assert data.walls[0, :, 6:].all()
    assert data.walls[0, 3:].all()
    assert (data.distance[0] == make_dataset([small]).distance[0]).all()


def test_what_a_schema_does_not_know_is_named():
    schema = make_dataset([walk("ann", 0, "A")]).schema
    with pytest.raises(TomnetError, match="a maze of 1×7: this observer knows mazes of up to 3×6"):
        schema.check(parse_text("@.....A\n\nright\n", "ann", "1"))
    with pytest.raises(TomnetError, match="object 'C': this observer knows A, B"):
        schema.check(parse_text("@.C\n\nright\n", "ann", "1"))
    with pytest.raises(TomnetError, match="action 'jump': this observer knows up"):
        schema.check(parse_text("actions: jump\n\n@.A\n\njump 0 1\n", "ann", "1"))


@pytest.mark.parametrize("jumps", [False, True])
def test_what_no_way_leads_to_may_be_taken_by_those_who_were_seen_to(jumps):
    jump = "? 0 2\ntook A" if jumps else "stay\ntook nothing"
    data = make_dataset([parse_text(f"@#A\n\n{jump}\n", "ann", "1"), parse_text("@.A\n\nright\nright\n", "ann", "2")])
    assert data.schema.from_afar == jumps
    assert data.possible[:, 0].tolist() == [[jumps, True], [True, True]]
    walled_in = parse_text("@#A\n\nstay\ntook nothing\n", "bob", "1")
    assert make_dataset([walled_in], data.schema).possible[0, 0].tolist() == [jumps, True]
