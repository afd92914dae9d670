"""Episodes on disk: what goes in comes out, and what could not have gone in is refused in one line."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import random_encounters

from tomnet.episodes.store import FORMAT, VERSION, load_episodes, save_episodes
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.errors import BadFile

EPISODES = random_encounters(time=4).past  # 5 agents × 3 episodes of 4 steps on 5×5, with 2 objects
HEADER = {"who": "made up", "seed": 0}


def test_episodes_come_back_as_they_were(tmp_path):
    save_episodes(tmp_path / "episodes.safetensors", EPISODES, HEADER)
    loaded, header = load_episodes(tmp_path / "episodes.safetensors")
    assert eqx.tree_equal(loaded, EPISODES)
    assert header == HEADER


def test_a_single_episode_has_no_batch_axis(tmp_path):
    one = jax.tree.map(lambda leaf: leaf[0, 0], EPISODES)
    save_episodes(tmp_path / "one.safetensors", one, {})
    assert eqx.tree_equal(load_episodes(tmp_path / "one.safetensors")[0], one)


def test_wider_numbers_are_taken_if_their_values_fit(tmp_path):
    path = rewritten(tmp_path, actions=np.asarray(EPISODES.actions, np.int64))
    assert eqx.tree_equal(load_episodes(path)[0], EPISODES)


def test_padding_may_hold_nothing(tmp_path):
    real = np.asarray(EPISODES.real)
    blank = np.where(real, np.asarray(EPISODES.agent_cells), -1)
    loaded, _ = load_episodes(rewritten(tmp_path, agent_cells=blank))
    assert (np.asarray(loaded.agent_cells)[~real] == -1).all()


def rewritten(folder, **changed):
    """The file with some arrays replaced, or taken out where they are None; its checksum is right."""
    path = folder / "episodes.safetensors"
    save_episodes(path, EPISODES, HEADER)
    arrays = load_arrays(path, FORMAT, VERSION)[0] | changed
    save_arrays(path, {name: array for name, array in arrays.items() if array is not None}, {}, FORMAT, VERSION)
    return path


def with_one(name, value):
    """An array of the episodes whose first number is another."""
    array = np.array(getattr(EPISODES, name), np.int64)
    array.reshape(-1)[0] = value
    return {name: array}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"actions": None}, "actions is missing"),
        ({"rewards": np.zeros(3)}, "rewards is not a part of an episode"),
        ({"actions": np.asarray(EPISODES.actions, np.float32)}, "actions holds float32"),
        ({"walls": np.asarray(EPISODES.walls, np.int8)}, "walls holds int8"),
        ({"actions": np.asarray(EPISODES.actions)[..., :3]}, "actions has shape (5, 3, 3)"),
        ({"walls": np.asarray(EPISODES.walls)[..., :4]}, "walls has shape (5, 3, 5, 4)"),
        ({"length": np.asarray(EPISODES.length)[0]}, "has shape"),
        ({"object_cells": np.zeros(4, np.int16)}, "object_cells has shape (4,), and needs the axes [time, object]"),
        ({"object_cells": np.zeros((5, 3, 4, 0), np.int16)}, "number of objects is 0"),
        (with_one("length", 0), "length must lie between 1 and 4"),
        (with_one("length", 5), "length must lie between 1 and 4"),
        (with_one("actions", 5), "actions must lie between 0 and 4"),
        (with_one("actions", -1), "actions must lie between 0 and 4"),
        (with_one("actions", 2**40), "actions must lie between 0 and 4"),
        (with_one("agent_cells", 25), "agent_cells must lie between 0 and 24"),
        (with_one("agent_cells", -1), "agent_cells must lie between 0 and 24"),
        (with_one("object_cells", -2), "object_cells must lie between -1 and 24, and -2 does not"),
        (with_one("final_cell", 25), "final_cell must lie between 0 and 24, and 25 does not"),
        (with_one("consumed", 2), "consumed must lie between -1 and 1"),
    ],
)
def test_what_no_episode_can_be_is_refused_in_one_line(changed, why, tmp_path):
    path = rewritten(tmp_path, **changed)
    with pytest.raises(BadFile) as refused:
        load_episodes(path)
    assert str(path) in str(refused.value)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_something_else_is_refused(tmp_path):
    save_arrays(tmp_path / "weights", {"kernel": jnp.ones(3)}, {}, "tomnet observer", 1)
    with pytest.raises(BadFile, match="'tomnet observer', not 'tomnet episodes'"):
        load_episodes(tmp_path / "weights")


def test_no_episodes_at_all_are_fine(tmp_path):
    none = jax.tree.map(lambda leaf: leaf[:0], EPISODES)
    save_episodes(tmp_path / "none.safetensors", none, {})
    assert load_episodes(tmp_path / "none.safetensors")[0].length.shape == (0, 3)
