"""The Gymnasium adapter: what Gymnasium itself checks, and that it is the same world."""

import importlib
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tomnet.support.errors import BadSetting, MissingExtra
from tomnet.world.gridworld import MAZE, SUBGOAL_MAZE, World
from tomnet.world.gymnasium_env import NAME, GridworldEnv, ObjectRewards
from tomnet.world.views import FIRST_OBJECT, WALL

UP, DOWN, LEFT, RIGHT, STAY = range(5)
SMALL = World(size=4, objects=2, subgoal=True, max_walls=1, step_limit=5)
LEVEL = """
    A..#
    @*..
    ....
    ...B
"""


@pytest.fixture
def env():
    env = GridworldEnv(SMALL, reward=ObjectRewards([1.0, 0.5, 0.2]))
    env.reset(seed=0, options={"level": LEVEL})
    return env


@pytest.mark.parametrize("field_of_view", [None, 5])
@pytest.mark.parametrize("world", [MAZE, SUBGOAL_MAZE], ids=["maze", "subgoal maze"])
def test_gymnasium_finds_nothing_to_warn_about(world, field_of_view):
    made = gymnasium.make(NAME, world=world, field_of_view=field_of_view, render_mode="ansi")
    check_env(made.unwrapped)  # a warning is an error here


def test_the_same_seed_gives_the_same_episode_and_the_next_reset_another():
    def episode(env, seed):
        first, _ = env.reset(seed=seed)
        return [first] + [env.step(action)[0] for action in (UP, LEFT, DOWN, RIGHT)]

    one, two = GridworldEnv(), GridworldEnv()
    assert np.array_equal(episode(one, 7), episode(two, 7))
    assert not np.array_equal(episode(one, None), episode(two, 7))
    assert not np.array_equal(episode(one, 8), episode(two, 7))


def test_eating_the_subgoal_is_told_and_the_episode_goes_on(env):
    _, reward, terminated, truncated, info = env.step(RIGHT)
    assert (terminated, truncated) == (False, False)
    assert info == {"consumed": 2, "swapped": False, "bumped": False}
    assert reward == pytest.approx(0.2 - 0.01)


def test_eating_an_object_ends_the_episode(env):
    _, reward, terminated, truncated, info = env.step(UP)
    assert (terminated, truncated, info["consumed"]) == (True, False, 0)
    assert reward == pytest.approx(1.0 - 0.01)


def test_a_bump_costs_more(env):
    _, reward, _, _, info = env.step(LEFT)
    assert info["bumped"]
    assert reward == pytest.approx(-0.01 - 0.05)


def test_the_step_limit_truncates(env):
    ends = [env.step(STAY)[2:4] for _ in range(SMALL.step_limit)]
    assert ends == [(False, False)] * 4 + [(False, True)]


def test_planes_show_walls_objects_and_the_agent(env):
    planes, _ = env.reset(options={"level": LEVEL})
    assert planes.shape == (4, 4, 5)
    cells = [np.argwhere(planes[..., plane]).tolist() for plane in range(5)]
    assert cells == [[[0, 3]], [[0, 0]], [[3, 3]], [[1, 1]], [[1, 0]]]  # wall, A, B, subgoal, agent


def test_a_narrow_view_shows_codes():
    env = GridworldEnv(SMALL, field_of_view=3)
    view, _ = env.reset(options={"level": LEVEL})
    assert view.tolist() == [[WALL, FIRST_OBJECT, 0], [WALL, 0, FIRST_OBJECT + 2], [WALL, 0, 0]]


def test_any_function_of_what_happened_is_a_reward():
    env = GridworldEnv(SMALL, reward=lambda outcome: 10.0 * bool(outcome.bumped))
    env.reset(options={"level": LEVEL})
    assert [env.step(action)[1] for action in (LEFT, STAY)] == [10.0, 0.0]


def test_the_picture(env):
    env.render_mode = "ansi"
    assert env.render().split() == LEVEL.split()


@pytest.mark.parametrize("bad", [{"field_of_view": 4}, {"render_mode": "human"}, {"field_of_view": 0}])
def test_settings_that_cannot_work_are_refused(bad):
    with pytest.raises(BadSetting):
        GridworldEnv(SMALL, **bad)


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "tomnet.world.gymnasium_env")
    with pytest.raises(MissingExtra, match=r"gymnasium is not installed; pip install 'tomnet\[gymnasium\]' brings it"):
        importlib.import_module("tomnet.world.gymnasium_env")
