"""An agent led by the hand: it does what it is told, and remembers what it saw."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tomnet.agents.teacher_forcing import TeacherForced
from tomnet.episodes.rollout import at_the_subgoal, continue_rollout, start_rollout
from tomnet.world.gridworld import ACTIONS, World
from tomnet.world.levels import parse_level

WORLD = World(size=5, objects=1, subgoal=True, max_walls=1, step_limit=9)
LEVEL = """
    .....
    .@.*.
    .....
    .....
    A....
"""


class Stubborn(eqx.Module):
    """Would never move, and keeps a diary of the cells it stood in."""

    def ready(self):
        return self

    def start(self, state, world):
        return jnp.full(world.step_limit, -1)

    def policy(self, memory, state, last, world):
        return jnp.eye(len(ACTIONS))[4], memory.at[state.time].set(state.agent_cell)


def test_it_goes_where_it_is_led_and_remembers_the_way():
    led = TeacherForced(Stubborn(), jnp.array([3, 3, 4, 4]))
    partial_rollout = continue_rollout(
        jax.random.key(0), led, start_rollout(led, parse_level(LEVEL, WORLD), WORLD), WORLD, 4, stop=at_the_subgoal
    )
    assert np.asarray(partial_rollout.episode.actions).tolist() == [3, 3, -1, -1]
    assert int(partial_rollout.episode.length) == 2
    assert int(partial_rollout.end.state.agent_cell) == 8
    assert int(partial_rollout.end.last.consumed) == 1
    assert np.asarray(partial_rollout.end.memory)[:3].tolist() == [6, 7, -1]  # it has not looked at the last state yet


def test_left_alone_it_does_as_it_likes():
    led = TeacherForced(Stubborn(), jnp.array([3, 3]))
    end = continue_rollout(jax.random.key(0), led, start_rollout(led, parse_level(LEVEL, WORLD), WORLD), WORLD, 2).end
    policy, _ = Stubborn().policy(end.memory, end.state, end.last, WORLD)
    assert policy.tolist() == [0, 0, 0, 0, 1]
