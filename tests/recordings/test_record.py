"""Recorders: any Python function as the policy, in our own worlds, in Gymnasium's environments and in many at once."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.folder import read_recordings, write_recordings
from tomnet.recordings.record import record
from tomnet.recordings.recording import NOTHING
from tomnet.recordings.scene import Recorder, Scene
from tomnet.recordings.transcript import to_transcript
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import World
from tomnet.world.gymnasium_env import GridworldEnv

WORLD = World(size=5, objects=2, subgoal=True, max_walls=1, step_limit=12, swap_probability=0.5)


def towards(letter):
    """Plain Python: along the rows, then along the cols, whatever stands in the way."""

    def policy(scene):
        (row, col), goal = scene.cell, dict(scene.objects).get(letter, scene.cell)
        if row != goal[0]:
            return "down" if row < goal[0] else "up"
        return "right" if col < goal[1] else "left" if col > goal[1] else "stay"

    return policy


def obey_the_rules(recordings) -> bool:
    """Every cell follows from the action: an episode that ran into the next one would have a jump."""
    return all(step.cell is None for recording in recordings for step in to_transcript(recording).steps)


# --- Our own worlds


def test_an_if_else_plays_our_own_world():
    world = World(size=5, objects=2, max_walls=0, step_limit=20)
    recordings = record(world, towards("B"), 8, agent="b")
    assert [(recording.agent, recording.episode) for recording in recordings][:2] == [("b", "0001"), ("b", "0002")]
    assert all(recording.took[-1] in "AB" for recording in recordings)
    assert sum(recording.took[-1] == "B" for recording in recordings) >= 6  # A may lie on the way
    assert obey_the_rules(recordings)


def test_what_the_world_does_is_recorded(tmp_path):
    """Subgoals are eaten, objects swapped; written and read again it is the same."""
    random = np.random.default_rng(0)
    recordings = record(WORLD, lambda scene: random.integers(5), 40, seed=3)
    assert any("*" in recording.took for recording in recordings)
    moved = [recording.object_cells for recording in recordings if recording.took[:1] == ("*",)]
    assert any((cells[0, 1:] != cells[-2, 1:]).any() for cells in moved)  # `*` comes first by letter
    assert obey_the_rules(recordings)
    write_recordings(recordings, tmp_path / "out", "text")
    assert read_recordings(tmp_path / "out") == recordings


def test_the_seed_draws_the_levels():
    one, same, other = (record(WORLD, towards("A"), 2, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other


def test_an_episode_is_cut_after_so_many_steps():
    (recording,) = record(World(size=5, objects=1, max_walls=0), lambda scene: "stay", 1, steps=3)
    assert len(recording) == 3
    assert recording.taken.tolist() == [NOTHING] * 3


@pytest.mark.parametrize("answer", ["jump", 9, -1, None, 1.5, float("nan"), True, np.array([1, 2]), "5"])
def test_an_answer_that_is_no_action_is_refused(answer):
    with pytest.raises(BadSetting, match="policy = .*must answer with one of up, down, left, right, stay, or a number"):
        record(WORLD, lambda scene: answer, 1)


@pytest.mark.parametrize("answer", ["right", 3, np.int64(3), np.array(3), np.array([3])])
def test_ways_to_name_an_action(answer):
    (recording,) = record(WORLD, lambda scene: answer, 1, steps=1)
    assert recording.actions.tolist() == [3]


# --- Gymnasium


def test_our_own_environment(tmp_path):
    env = GridworldEnv(WORLD)
    random = np.random.default_rng(1)
    recordings = record(env, lambda planes: random.integers(5), 20, agent="random")
    assert recordings[0].action_names == ("up", "down", "left", "right", "stay")
    assert obey_the_rules(recordings)
    assert any(recording.took for recording in recordings)


def test_the_policy_sees_what_the_environment_shows():
    shown = []
    record(GridworldEnv(WORLD, field_of_view=3), lambda view: shown.append(view.shape) or 4, 1, steps=2)
    assert shown == [(3, 3)] * 2


def look_at_lake(observation, info, env):
    rows, cols = env.desc.shape
    holes = [(np.str_("H"), (row, col)) for row in range(rows) for col in range(cols) if env.desc[row, col] == b"H"]
    goal = [("G", (rows - 1, cols - 1))]
    return Scene(walls=np.zeros((rows, cols), bool), cell=divmod(int(observation), cols), objects=[*holes, *goal])


def test_any_environment_with_a_look(tmp_path):
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    random = np.random.default_rng(0)
    names = ("left", "down", "right", "up")
    recordings = record(env, lambda cell: random.integers(4), 10, look=look_at_lake, actions=names)
    assert all(recording.took in (("H",), ("G",)) for recording in recordings)
    assert {recording.objects for recording in recordings} == {("G", "H", "H", "H", "H")}
    assert {type(name) for each in recordings for name in (*each.objects, *each.action_names)} == {str}
    assert not obey_the_rules(recordings)  # the ice is slippery, and the cells tell
    write_recordings(recordings, tmp_path / "lake", "text")
    assert read_recordings(tmp_path / "lake") == recordings


def test_an_environment_that_nobody_can_see_into_is_refused():
    with pytest.raises(BadSetting, match="look = None: FrozenLakeEnv: nobody knows how to see a maze in there"):
        record(gymnasium.make("FrozenLake-v1"), lambda cell: 0, 1)


def test_actions_without_names_have_numbers():
    (recording,) = record(gymnasium.make("FrozenLake-v1"), lambda cell: 0, 1, look=look_at_lake, steps=2)
    assert recording.action_names == ("action-0", "action-1", "action-2", "action-3")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"env": 3}, "env = int: must be a World, or have reset and step"),
        ({"episodes": 0}, "episodes = 0: must lie between 1"),
        ({"steps": 0}, "steps = 0: must lie between 1"),
        ({"seed": -1}, "seed = -1"),
        ({"actions": ("a", "b")}, "the environment has 4"),
        ({"look": lambda *seen: "a maze"}, "look = str: must give a Scene"),
        ({"env": gymnasium.make("FrozenLake-v1", map_name=None, desc=["SFFFFFFG"] * 33)}, "1 to 32 rows and cols"),
    ],
)
def test_what_cannot_be_recorded_is_refused(changes, why):
    given = {"env": gymnasium.make("FrozenLake-v1"), "policy": lambda cell: 0, "episodes": 1, "look": look_at_lake}
    with pytest.raises((BadSetting, BadRecording), match=why):
        record(**(given | changes))


def test_an_agent_needs_a_name_that_a_folder_can_have():
    with pytest.raises(BadRecording, match="agent: expected a name"):
        record(WORLD, towards("A"), 1, agent="../a")


# --- Many at once


def many(mode):
    return SyncVectorEnv([lambda: GridworldEnv(WORLD)] * 3, autoreset_mode=mode)


def batch_policy(seed):
    random = np.random.default_rng(seed)
    return lambda planes: random.integers(5, size=len(planes))


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_many_environments_share_the_episodes(mode):
    recordings = record(many(mode), batch_policy(0), 10)
    assert len(recordings) == len({recording.episode for recording in recordings}) == 10
    assert sorted(recording.episode[:3] for recording in recordings) == ["001"] * 4 + ["002"] * 3 + ["003"] * 3
    assert obey_the_rules(recordings)
    assert all(len(recording) <= WORLD.step_limit for recording in recordings)
    # an episode ends where an object was taken, or the time was up
    assert all(len(recording) == WORLD.step_limit or recording.taken[-1] != NOTHING for recording in recordings)


def look_at_planes(planes, info, env):
    planes = np.asarray(planes).astype(bool)
    objects = [
        (letter, tuple(cell)) for letter, plane in zip("AB*", range(1, 4)) for cell in np.argwhere(planes[..., plane])
    ]
    return Scene(walls=planes[..., 0], cell=tuple(np.argwhere(planes[..., -1])[0]), objects=objects)


def test_the_last_observation_is_found_where_the_next_episode_begins_at_once():
    recordings = record(many(AutoresetMode.SAME_STEP), batch_policy(0), 10, look=look_at_planes)
    assert len(recordings) == 10
    assert obey_the_rules(recordings)
    assert all(len(recording) == WORLD.step_limit or recording.taken[-1] != NOTHING for recording in recordings)


def test_without_a_look_of_ones_own_it_could_not_be_seen():
    with pytest.raises(BadSetting, match="begins anew before its last cell is seen"):
        record(many(AutoresetMode.SAME_STEP), batch_policy(0), 1)


def many_lakes(kind, **more):
    return kind([lambda: gymnasium.make("FrozenLake-v1")] * 2, **more)


def never_looked_into(cells):
    return [1, 2]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_a_look_is_given_the_environment_of_each(mode):
    assert len(record(many_lakes(SyncVectorEnv, autoreset_mode=mode), never_looked_into, 4, look=look_at_lake)) == 4


@pytest.mark.parametrize(
    ("kind", "more"),
    [(AsyncVectorEnv, {"context": "spawn"}), (SyncVectorEnv, {"autoreset_mode": AutoresetMode.SAME_STEP})],
)
def test_a_look_that_needs_the_environment_hears_where_there_is_none(kind, more):
    env = many_lakes(kind, **more)
    with pytest.raises(BadSetting, match="asks its env, which is None, for desc: there is no environment to give it"):
        record(env, never_looked_into, 4, look=look_at_lake)
    env.close()


def test_faults_of_a_look_are_its_own():
    with pytest.raises(AttributeError, match="nonsense"):
        record(many_lakes(SyncVectorEnv), never_looked_into, 4, look=lambda cell, info, env: env.nonsense)


def test_one_answer_for_each_environment():
    with pytest.raises(BadSetting, match="must answer with one for each of 3 environments"):
        record(many(AutoresetMode.NEXT_STEP), lambda planes: [0, 0], 1)


def test_one_of_many_cannot_be_stopped():
    with pytest.raises(BadSetting, match="set a time limit"):
        record(many(AutoresetMode.NEXT_STEP), lambda planes: [4, 4, 4], 3, steps=2)


# --- What happened to objects


@pytest.mark.parametrize("cell", [3, (1,), (1.5, 0), (float("nan"), 0), None])
def test_a_cell_is_a_row_and_a_col(cell):
    with pytest.raises(BadRecording, match="cell: expected a row and a col"):
        Scene(walls=np.zeros((2, 2), bool), cell=cell)


ROOM = np.zeros((2, 4), bool)


def seen(cell, *objects, **more):
    return Scene(walls=ROOM, cell=cell, objects=objects, **more)


def test_what_vanishes_beside_the_agent_was_taken_and_elsewhere_was_not():
    recorder = Recorder("a", ("pickup", "toggle"))
    recorder.start(seen((0, 0), ("A", (0, 1)), ("B", (1, 3)), ("C", (1, 0))))
    recorder.step(0, seen((0, 0), ("B", (1, 3)), ("C", (1, 0))))
    recorder.step(0, seen((0, 0), ("C", (1, 0))))
    recorder.step(1, seen((0, 0)))  # opened, not taken
    recording = recorder.finish("1")
    assert recording.taken.tolist() == [0, NOTHING, NOTHING]


def test_of_two_with_a_letter_the_one_that_stays_is_the_same():
    recorder = Recorder("a", ("stay",))
    recorder.start(seen((0, 0), ("A", (0, 2)), ("A", (1, 2))))
    recorder.step(0, seen((0, 0), ("A", (1, 2)), ("A", (0, 3))))
    assert recorder.finish("1").object_cells.tolist() == [[2, 6], [3, 6]]


@pytest.mark.parametrize(
    ("scene", "why"),
    [
        ({"cell": (0, 9)}, "cell: expected a cell of 2 rows and 4 cols, counted from 0, found 0 9"),
        ({"cell": (-1, 3)}, "cell: expected a cell of 2 rows and 4 cols, counted from 0, found -1 3"),
        ({"walls": np.zeros(4, bool)}, "walls: expected a grid of 1 to 32 rows and cols, found shape (4,)"),
        ({"walls": np.zeros((2, 33), bool)}, "walls: expected a grid of 1 to 32 rows and cols, found shape (2, 33)"),
        ({"walls": np.full((2, 4), np.nan)}, "walls: expected true or false, found float64 that are neither 0 nor 1"),
        ({"walls": np.full((2, 4), 2)}, "walls: expected true or false, found int64 that are neither 0 nor 1"),
        ({"objects": [("AB", (0, 1))]}, "objects: expected a single letter"),
        ({"objects": [("A", (0, -1))]}, "objects: expected a cell of 2 rows and 4 cols, counted from 0, found 0 -1"),
        ({"objects": [("A", (0, 4))]}, "objects: expected a cell of 2 rows and 4 cols, counted from 0, found 0 4"),
        ({"objects": {"A": (0, 1)}}, "objects: expected pairs of a letter and a cell, found 'A'"),
        ({"objects": [("A", 0, 1)]}, "objects: expected pairs of a letter and a cell, found ('A', 0, 1)"),
        ({"heading": "north"}, "heading: expected one of up, right, down, left, found 'north'"),
    ],
)
def test_scenes_that_cannot_be(scene, why):
    with pytest.raises(BadRecording) as refused:
        Scene(**{"walls": ROOM, "cell": (0, 0)} | scene)
    assert why in str(refused.value)


def test_walls_may_be_zeros_and_ones_and_are_a_copy():
    given = np.eye(3)
    scene = Scene(walls=given, cell=(0, 1))
    given[:] = 0
    assert scene.walls.tolist() == np.eye(3, dtype=bool).tolist()


def test_walls_stay_where_they_are_in_an_episode():
    recorder = Recorder("a", ("stay",))
    recorder.start(seen((0, 0)))
    with pytest.raises(BadRecording, match="walls after step 1: expected the walls of the start, found others"):
        recorder.step(0, Scene(walls=~ROOM, cell=(0, 0)))
