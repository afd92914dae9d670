"""Rollouts: on a level with one way through, and replayed by hand where agents act at random."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DOWN, LEFT, RIGHT, UP, around, pick, sample_levels, within

from tomnet.agents.planner import Planner
from tomnet.agents.random_policy import RandomAgent
from tomnet.episodes.episode import NONE
from tomnet.episodes.rollout import (
    at_the_end,
    at_the_subgoal,
    continue_rollout,
    finish_rollout,
    play,
    rollout,
    rollouts_in_turn,
    start_rollout,
)
from tomnet.world.gridworld import World
from tomnet.world.levels import parse_level

MAZE = """
    @#....A
    .#.####
    .#....#
    .####.#
    ......#
    #######
    B..D..C
"""
ACTIONS = [DOWN] * 4 + [RIGHT] * 5 + [UP] * 2 + [LEFT] * 3 + [UP] * 2 + [RIGHT] * 4
PLACES = [
    *[(row, 0) for row in range(4)],
    *[(4, col) for col in range(5)],
    *[(4, 5), (3, 5)],
    *[(2, 5), (2, 4), (2, 3)],
    *[(2, 2), (1, 2)],
    *[(0, col) for col in range(2, 6)],
]
CELLS = [row * 7 + col for row, col in PLACES]
RANDOM_WORLD = World(size=5, objects=2, subgoal=True, max_walls=2, step_limit=8)
PROBABILITIES = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
EPISODES = 300

run = eqx.filter_jit(rollout)


def walk_the_maze(step_limit: int, steps: int | None = None):
    world = World(size=7, objects=4, max_walls=4, step_limit=step_limit)
    wants_a = Planner(jnp.eye(4)[0], jnp.array(0.01), jnp.array(0.05))
    return jax.tree.map(np.asarray, run(jax.random.key(0), wants_a, parse_level(MAZE, world), world, steps))


@pytest.fixture(scope="module")
def walked():
    return walk_the_maze(step_limit=24)


def test_a_planner_walks_the_only_way_to_its_object(walked):
    assert walked.length == 20
    assert walked.agent_cells[:20].tolist() == CELLS
    assert walked.actions[:20].tolist() == ACTIONS
    assert walked.final_cell == 0 * 7 + 6


def test_the_object_is_consumed_by_the_last_action_and_nothing_before(walked):
    assert walked.consumed[:20].tolist() == [NONE] * 19 + [0]


def test_what_comes_after_the_end_is_padding_in_which_nothing_happens(walked):
    assert walked.actions.shape == (24,)
    assert walked.actions[20:].tolist() == [NONE] * 4
    assert walked.consumed[20:].tolist() == [NONE] * 4
    assert walked.agent_cells[20:].tolist() == [6] * 4
    assert walked.real.tolist() == [True] * 20 + [False] * 4


def test_the_level_is_recorded_as_drawn(walked):
    picture = [list(line.strip()) for line in MAZE.strip().splitlines()]
    assert np.array_equal(walked.walls, np.array(picture) == "#")
    assert (walked.object_cells == [6, 42, 48, 45]).all()


def test_an_episode_ends_at_the_step_limit():
    cut = walk_the_maze(step_limit=13)
    assert cut.length == 13
    assert cut.actions.shape == (13,)
    assert (cut.consumed == NONE).all()


def test_an_episode_can_be_cut_off_after_a_number_of_steps():
    cut = walk_the_maze(step_limit=24, steps=5)
    assert cut.length == 5
    assert cut.agent_cells.tolist() == CELLS[:5]
    assert cut.actions.tolist() == ACTIONS[:5]
    assert cut.final_cell == CELLS[5]


def test_more_steps_than_the_limit_do_not_make_an_episode_longer(walked):
    same = walk_the_maze(step_limit=24, steps=30)
    assert same.actions.shape == (30,)
    assert same.length == 20
    assert same.agent_cells[:20].tolist() == walked.agent_cells[:20].tolist()


# --- Random agents, replayed


@pytest.fixture(scope="module")
def random_episodes():
    agent = RandomAgent(jnp.asarray(PROBABILITIES, jnp.float32))
    episodes = eqx.filter_jit(play(RANDOM_WORLD))(jax.random.key(1), agent, EPISODES)
    return jax.tree.map(np.asarray, episodes)


def test_every_step_of_an_episode_follows_the_rules(random_episodes):
    """Replayed in plain Python: moves, walls, what is eaten, what is then gone, and when it ends."""
    endings = set()
    for i in range(EPISODES):
        episode = pick(random_episodes, i)
        length, walls = int(episode.length), episode.walls.reshape(-1)
        cell, objects = int(episode.agent_cells[0]), episode.object_cells[0].tolist()
        for t in range(length):
            assert int(episode.agent_cells[t]) == cell
            assert episode.object_cells[t].tolist() == objects
            there = around(5, cell)[episode.actions[t]]
            cell = cell if there is None or walls[there] else there
            eaten = objects.index(cell) if cell in objects else NONE
            assert int(episode.consumed[t]) == eaten
            if eaten == 2:
                objects[2] = NONE  # the subgoal is gone, and the episode goes on
            assert (t == length - 1) == (eaten in (0, 1) or t == RANDOM_WORLD.step_limit - 1)
        assert int(episode.final_cell) == cell
        endings.add(eaten)
    assert {NONE, 0, 1} <= endings
    assert (random_episodes.consumed == 2).any()


def test_no_episode_exceeds_the_step_limit(random_episodes):
    assert random_episodes.actions.shape == (EPISODES, RANDOM_WORLD.step_limit)
    assert random_episodes.length.min() >= 1
    assert random_episodes.length.max() == RANDOM_WORLD.step_limit


def test_random_agents_act_as_often_as_their_probabilities_say(random_episodes):
    taken = random_episodes.actions[random_episodes.real]
    assert len(taken) > 3 * EPISODES
    for action, probability in enumerate(PROBABILITIES):
        assert within((taken == action).mean(), probability, probability * (1 - probability), len(taken))


def test_each_episode_is_played_on_a_level_of_its_own(random_episodes):
    levels = {
        (walls.tobytes(), cells.tobytes()) for walls, cells in zip(random_episodes.walls, random_episodes.object_cells)
    }
    assert len(levels) == EPISODES


# --- Parts of episodes


class Counter(eqx.Module):
    """Walks down; remembers how often it has looked."""

    def ready(self):
        return self

    def start(self, state, world):
        return jnp.int32(0)

    def policy(self, memory, state, last, world):
        return jnp.eye(5)[DOWN], memory + 1


COLUMN = World(size=5, objects=1, subgoal=True, max_walls=1, step_limit=9)
WAY_DOWN = parse_level("@....\n.....\n*....\n.....\nA....", COLUMN)
on_the_way = eqx.filter_jit(continue_rollout)


def test_what_is_recorded_belongs_to_the_look_before_each_action():
    record = lambda agent, memory, state: (memory, state.agent_cell)  # noqa: E731
    partial_rollout = on_the_way(
        jax.random.key(0),
        Counter(),
        start_rollout(Counter(), WAY_DOWN, COLUMN),
        COLUMN,
        stop=at_the_subgoal,
        record=record,
    )
    looks, cells = partial_rollout.recorded
    assert looks[:2].tolist() == [1, 2]
    assert cells[:2].tolist() == partial_rollout.episode.agent_cells[:2].tolist() == [0, 5]


def test_an_episode_can_stop_at_the_subgoal_and_go_on_from_there():
    """As if it had never stopped: the same cells, and a memory that goes on where it was."""
    first = on_the_way(
        jax.random.key(0), Counter(), start_rollout(Counter(), WAY_DOWN, COLUMN), COLUMN, stop=at_the_subgoal
    )
    assert int(first.episode.length) == 2
    assert int(first.end.memory) == 2  # whatever came after is padding, for the memory too
    assert int(first.end.last.consumed) == COLUMN.objects
    assert not first.end.alive
    going = eqx.tree_at(lambda end: end.alive, first.end, jnp.bool_(True))
    second = on_the_way(jax.random.key(1), Counter(), going, COLUMN)
    assert int(second.episode.length) == 2
    assert second.episode.agent_cells[:2].tolist() == [10, 15]
    assert int(second.episode.final_cell) == 20
    assert int(second.end.memory) == 4
    assert int(second.end.state.time) == 4


def test_an_episode_that_misses_the_subgoal_goes_on_to_its_end():
    level = parse_level("@...*\n.....\n.....\n.....\nA....", COLUMN)
    partial_rollout = on_the_way(
        jax.random.key(0), Counter(), start_rollout(Counter(), level, COLUMN), COLUMN, stop=at_the_subgoal
    )
    assert bool(partial_rollout.end.last.terminated)
    assert int(partial_rollout.episode.length) == 4


def test_time_goes_on_over_the_parts_of_an_episode():
    level = parse_level("@...*\n.....\n.....\n.....\n....A", COLUMN)
    first = on_the_way(jax.random.key(0), Counter(), start_rollout(Counter(), level, COLUMN), COLUMN, 6)
    second = on_the_way(jax.random.key(1), Counter(), first.end, COLUMN)
    assert int(first.episode.length) == 6
    assert int(second.episode.length) == 3
    assert bool(second.end.last.truncated)


def test_many_carried_to_the_end_are_those_carried_on_one_by_one():
    """The same cells, actions and padding, whether the others take longer or not; and one that is done stays so."""
    agent = RandomAgent(jnp.asarray(PROBABILITIES, jnp.float32))
    level = parse_level("....A\n.@...\n..*..\n.....\nB....", RANDOM_WORLD)
    rollout_state = start_rollout(agent, level, RANDOM_WORLD)
    keys = jax.random.split(jax.random.key(3), 40)
    alive = jnp.arange(40) > 0
    start = eqx.filter_vmap(lambda alive: eqx.tree_at(lambda s: s.alive, rollout_state, alive))(alive)
    one_by_one = jax.vmap(lambda key, now: continue_rollout(key, agent, now, RANDOM_WORLD).episode)(keys, start)
    together = jax.vmap(lambda key, now: finish_rollout(key, agent, now, RANDOM_WORLD))(keys, start)
    assert eqx.tree_equal(together, one_by_one)
    assert int(together.length[0]) == 0
    assert 1 < int(together.length[1:].min()) < int(together.length.max()) == RANDOM_WORLD.step_limit


@pytest.mark.parametrize("at_once", [1, 7, 64])
@pytest.mark.parametrize("stop", [at_the_end, at_the_subgoal])
def test_rollouts_in_turn_are_those_that_each_level_has_by_itself(stop, at_once):
    agent = RandomAgent(jnp.asarray(PROBABILITIES))
    levels = sample_levels(jax.random.key(3), RANDOM_WORLD, 40)
    keys = jax.random.split(jax.random.key(4), 40)

    def by_itself(key, level):
        return continue_rollout(key, agent, start_rollout(agent, level, RANDOM_WORLD), RANDOM_WORLD, stop=stop)

    expected = jax.vmap(by_itself)(keys, levels)
    found = rollouts_in_turn(keys, agent, levels, RANDOM_WORLD, at_once=at_once, stop=stop)
    assert eqx.tree_equal(found.episode, expected.episode)
    assert eqx.tree_equal(found.end, expected.end)
    assert 1 <= int(found.episode.length.min()) < int(found.episode.length.max()) == RANDOM_WORLD.step_limit
