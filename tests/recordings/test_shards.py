"""Safetensors files of recordings: what goes in comes out, and nothing that is read back is believed."""

import equinox as eqx
import jax
import numpy as np
import pytest
from helpers import random_encounters
from hypothesis import given
from hypothesis import strategies as st
from recordings.made_up import recordings, simple

from tomnet.episodes.store import save_episodes
from tomnet.recordings import shards
from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.shards import FORMAT, VERSION, read_shard, write_shard
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.errors import TomnetError


@given(given=st.lists(recordings(), min_size=1, max_size=5))
def test_what_is_written_comes_back_as_it_was(given, tmp_path_factory):
    path = tmp_path_factory.mktemp("shard") / "a.safetensors"
    write_shard(path, given)
    assert list(read_shard(path)) == given


def test_shards_hold_so_many_episodes_or_bytes(monkeypatch):
    three = [simple(episode=str(number)) for number in range(3)]
    monkeypatch.setattr(shards, "SHARD_EPISODES", 2)
    assert [len(shard) for shard in shards.shards(three)] == [2, 1]
    monkeypatch.setattr(shards, "SHARD_BYTES", three[0].nbytes)
    assert [len(shard) for shard in shards.shards(three)] == [1, 1, 1]


def rewritten(folder, header=None, **changed):
    """The file with parts replaced; its checksum is right."""
    path = folder / "a.safetensors"
    write_shard(path, [simple(), simple(episode="2", headings=np.array([1, 1, 1]))])
    arrays, told = load_arrays(path, FORMAT, VERSION)
    arrays = {name: array for name, array in (arrays | changed).items() if array is not None}
    save_arrays(path, arrays, told | (header or {}), FORMAT, VERSION)
    return path


def test_rewriting_alone_does_no_harm(tmp_path):
    assert next(iter(read_shard(rewritten(tmp_path)))) == simple()


HUGE = np.array([2**31 - 1, 2], np.int32)
BAD = [
    ({"cells": None}, "cells: expected the arrays of recordings, found none"),
    ({"rewards": np.zeros(3)}, "rewards: expected the arrays of recordings, found one more"),
    ({"cells": np.zeros(6)}, "cells: expected one axis of int16, found float64 of 1 axes"),
    ({"cells": np.full(6, np.nan)}, "cells: expected one axis of int16"),
    ({"cells": np.zeros((2, 3), np.int16)}, "found int16 of 2 axes"),
    ({"cells": np.zeros(5, np.int16)}, "cells: expected 6 numbers, found 5"),
    ({"length": HUGE}, "length: expected numbers between 1 and 10000"),
    ({"length": np.array([2], np.int32)}, "length: expected one for each of 2 episodes, found 1"),
    ({"rows": np.array([0, 2], np.uint8)}, "rows: expected numbers between 1 and 32"),
    ({"cols": np.array([255, 3], np.uint8)}, "cols: expected numbers between 1 and 32"),
    ({"agent": np.array([0, 1], np.int32)}, "agent: expected numbers between 0 and 0"),
    ({"object_set": np.array([-1, 0], np.int32)}, "object_set: expected numbers between 0 and 0"),
    ({"header": {"agents": "ann"}}, "agents: expected a list in the header"),
    ({"header": {"episodes": [1, 2]}}, "episodes: expected text, found 1"),
    ({"header": {"action_sets": [["up", 3]]}}, "action_sets: expected lists of words"),
    ({"header": {"object_sets": ["A"]}}, "object_cells: expected 6 numbers, found 12"),
]


@pytest.mark.parametrize(("changed", "why"), BAD, ids=[why[:40] for _, why in BAD])
def test_arrays_that_do_not_fit_together_are_one_fault(changed, why, tmp_path):
    path = rewritten(tmp_path, **changed)
    (fault,) = read_shard(path)
    assert isinstance(fault, TomnetError)
    assert str(fault).startswith(f"{path}: ")
    assert why in str(fault)


def test_one_bad_episode_leaves_the_others_readable(tmp_path):
    first, second = read_shard(rewritten(tmp_path, cells=np.array([0, 1, 99, 0, 1, 2], np.int16)))
    assert "episode 1: cells after step 2: expected numbers between 0 and 5, found 99" in str(first)
    assert second == simple(episode="2", headings=np.array([1, 1, 1]))


def test_a_name_that_leads_elsewhere_is_a_fault(tmp_path):
    for fault in read_shard(rewritten(tmp_path, header={"agents": ["../ann"]})):
        assert isinstance(fault, BadRecording)
        assert "agent: expected a name" in str(fault)


@pytest.mark.parametrize("raw", [b"", b"\x80\x04pickle", b"PK\x03\x04", b"\xff" * 100, b"\x08\0\0\0\0\0\0\0{}      "])
def test_other_files_are_refused(raw, tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(raw)
    (fault,) = read_shard(path)
    assert str(fault).startswith(f"{path}: ")


def test_flipped_bits_are_noticed(tmp_path):
    path = rewritten(tmp_path)
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)
    (fault,) = read_shard(path)
    assert "checksum" in str(fault)


def test_episodes_of_our_own_are_read_too(tmp_path):
    """5 agents × 3 episodes: walls may lie under what was drawn at random, and then an episode is refused."""
    episodes = random_encounters(time=4).past
    episodes = eqx.tree_at(lambda each: each.walls, episodes, np.zeros_like(episodes.walls))
    save_episodes(tmp_path / "own.safetensors", episodes, {})
    found = list(read_shard(tmp_path / "own.safetensors"))
    assert len(found) == 15
    good = [each for each in found if not isinstance(each, TomnetError)]
    assert good
    assert all(each.agent.startswith("agent-") for each in good)
    one = jax.tree.map(lambda leaf: np.asarray(leaf[0, 0]), episodes)
    first = next(each for each in found if getattr(each, "episode", "") == "0001" and each.agent == "agent-0001")
    assert first.actions.tolist() == one.actions[: one.length].tolist()
    assert first.cells.tolist() == [*one.agent_cells[: one.length].tolist(), one.final_cell]
