"""Teacher forcing: an agent led along a path by the hand. It sees and remembers, but does not choose its actions."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int

from ..world.gridworld import ACTIONS, Outcome, State, World
from .agent import Agent, Memory


class TeacherForced(eqx.Module):
    agent: Any  # any Agent
    actions: Int[Array, "time"]  # what it is made to do at each time of the episode

    def ready(self) -> "TeacherForced":
        return TeacherForced(self._agent.ready(), self.actions)

    def start(self, state: State, world: World) -> Memory:
        return self._agent.start(state, world)

    def policy(
        self, memory: Memory, state: State, last: Outcome, world: World
    ) -> tuple[Float[Array, "action"], Memory]:
        _, memory = self._agent.policy(memory, state, last, world)  # it makes up its mind, and is overruled
        return jax.nn.one_hot(self.actions[state.time], len(ACTIONS)), memory

    @property
    def _agent(self) -> Agent:
        return self.agent
