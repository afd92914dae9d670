"""MiniGrid seen whole: headings, keys and doors, from running environments and from their pictures of codes."""

import string

import numpy as np
import pytest

from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.folder import read_recordings, write_recordings
from tomnet.recordings.minigrid import ACTIONS, LETTERS, look_at_codes, object_name
from tomnet.recordings.record import record
from tomnet.recordings.recording import HEADINGS
from tomnet.recordings.transcript import to_transcript

# its pygame asks old packages things that they warn about
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def make():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("minigrid", reason="needs the extra: pip install 'tomnet[minigrid]'")
        import gymnasium
    return gymnasium.make


def random_policy(seed=0, actions=7):
    random = np.random.default_rng(seed)
    return lambda observation: random.integers(actions)


def test_a_room_with_a_goal(make, tmp_path):
    env = make("MiniGrid-Empty-Random-6x6-v0", max_steps=60)
    recordings = record(env, random_policy(actions=3), 10, agent="random")
    first = recordings[0]
    assert first.size == (6, 6)
    assert first.action_names == ACTIONS
    assert first.walls[0].all()
    assert first.headings is not None
    assert {recording.took for recording in recordings} == {(), ("G",)}
    # only walls are in the way here, so that turns and steps tell everything
    assert all(step.cell is None for recording in recordings for step in to_transcript(recording).steps)
    write_recordings(recordings, tmp_path / "room", "text")
    assert read_recordings(tmp_path / "room") == recordings


def test_the_heading_is_what_the_environment_says(make):
    env = make("MiniGrid-Empty-5x5-v0")
    seen = []

    def policy(observation):
        seen.append((tuple(env.unwrapped.agent_pos[::-1]), env.unwrapped.agent_dir))
        return [2, 1, 2, 0][len(seen) % 4]

    (recording,) = record(env, policy, 1, steps=8)
    told = [(divmod(cell, 5), HEADINGS[heading]) for cell, heading in zip(recording.cells, recording.headings)]
    directions = ("right", "down", "left", "up")
    assert told[:8] == [((row, col), directions[direction]) for (row, col), direction in seen]


def test_a_key_is_taken_and_a_door_is_not(make):
    recordings = record(make("MiniGrid-DoorKey-5x5-v0", max_steps=200), random_policy(3), 20)
    taken = {object_name(letter) for recording in recordings for letter in recording.took}
    assert "yellow key" in taken
    assert not any("door" in name for name in taken)


def test_pictures_of_codes_show_the_same_as_the_environment(make):
    from minigrid.wrappers import FullyObsWrapper  # pyright: ignore[reportMissingImports]

    env = FullyObsWrapper(make("MiniGrid-Empty-Random-6x6-v0", max_steps=40))
    whole = record(env, random_policy(1, 3), 5, seed=5)
    codes = record(
        env, random_policy(1, 3), 5, seed=5, look=lambda shown, info, env: look_at_codes(shown), actions=ACTIONS
    )
    assert [recording.cells.tolist() for recording in whole] == [recording.cells.tolist() for recording in codes]
    assert [recording.took for recording in whole] == [recording.took for recording in codes]


def test_what_the_agent_alone_sees_is_not_the_room(make):
    observation, _ = make("MiniGrid-Empty-5x5-v0").reset(seed=0)
    with pytest.raises(BadRecording, match="expected a picture of the whole room with the agent in it"):
        look_at_codes(observation)


# --- Without MiniGrid


def codes(rows=3, cols=4):
    grid = np.ones((cols, rows, 3), np.uint8)
    grid[2, 1] = (10, 0, 3)
    return grid


def test_columns_come_first_in_a_picture():
    scene = look_at_codes({"image": codes()})
    assert scene.walls.shape == (3, 4)
    assert scene.cell == (1, 2)
    assert scene.heading == "up"


def test_every_kind_and_colour_has_a_letter_of_its_own():
    letters = "".join(LETTERS[kind] for kind in (4, 5, 6, 7)) + "GL"
    assert sorted(letters) == list(string.ascii_uppercase)
    assert object_name("B") == "red ball"
    assert object_name("G") == "goal"


@pytest.mark.parametrize(
    ("row", "col", "code", "why"),
    [
        (0, 0, (99, 0, 0), "codes of MiniGrid's kinds and colours, found 99 and 0 at 0 0"),
        (0, 0, (5, 77, 0), "found 5 and 77 at 0 0"),
        (0, 0, (0, 0, 0), "every cell to be seen, found 1 unseen ones"),
        (0, 0, (10, 0, 0), "found 2 agents"),
        (1, 2, (10, 0, 9), "heading: expected a direction between 0 and 3, found 9"),
    ],
)
def test_pictures_that_cannot_be(row, col, code, why):
    grid = codes()
    grid[col, row] = code
    with pytest.raises(BadRecording, match=why):
        look_at_codes(grid)


def test_a_picture_of_colours_is_no_picture_of_codes():
    with pytest.raises(BadRecording, match=r"codes \[col, row, 3\], found float64 of shape \(3, 3\)"):
        look_at_codes(np.zeros((3, 3)))
