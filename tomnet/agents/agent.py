"""The one contract that every agent meets.

An agent is a PyTree of its own parameters; a population is the same PyTree with a leading axis. What an agent knows
during an episode is its memory: a plan, the state of an LSTM, or nothing.
"""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, Float

from ..world.gridworld import Outcome, State, World

Memory = Any  # any PyTree of arrays: each kind of agent has its own


@runtime_checkable
class Agent(Protocol):
    def ready(self) -> "Agent":
        """The same agent, for many steps: whatever can be computed once, before all of them, has been."""
        ...

    def start(self, state: State, world: World) -> Memory:
        """The memory at the start of an episode. Nothing is carried over from earlier ones."""
        ...

    def policy(
        self, memory: Memory, state: State, last: Outcome, world: World
    ) -> tuple[Float[Array, "action"], Memory]:
        """The probability of each action now, and the memory after having looked. `last` is what the previous
        action did (`nothing_yet()` at first), so that agents can value it."""
        ...
