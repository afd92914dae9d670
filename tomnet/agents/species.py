"""The one contract that every species meets: agents can be drawn from it, and encounters with them.

A species whose agents are made up as they are drawn has no end of them; those of an `AgentPool` are all there,
and no more.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
from jaxtyping import Key, Scalar

DrawEncounters = Callable[..., Any]
"""`(key, agents, times) -> encounters`: that many times with each of the agents."""


class Species(eqx.Module):
    """Agents without end, made up as they are drawn."""

    kind: ClassVar[str]  # by which it is known in files
    conditions: ClassVar[tuple[str, ...]] = ()  # of the deep RL agents among them
    folder: ClassVar[Path | None] = None  # of their populations
    beliefs: ClassVar[bool] = False  # whether they are asked what they believe

    def sample(self, key: Key[Scalar, ""], count: int) -> Any:
        """That many agents, or all where there are fewer: one PyTree with a leading axis."""
        raise NotImplementedError

    def words(self) -> str:
        """Who they are, for a card."""
        raise NotImplementedError

    def available(self) -> bool:
        """Whether they are there to be met."""
        return True

    def populations(self) -> dict[str, str]:
        """By condition, the digest of the population that they belong to."""
        return {}

    def ready(self) -> "Species":
        """The same species as an argument of compiled programs: what should not be a constant of theirs is an array."""
        return self

    def anyone(self) -> "Species":
        """Stands in for it where the species itself, made ready, is such an argument."""
        return self

    def encounters(self, key: Key[Scalar, ""], count: int, draw_encounters: DrawEncounters) -> Any:
        """Encounters with that many agents, in an order that says nothing about them."""
        agent_key, encounter_key = jax.random.split(key)
        return draw_encounters(encounter_key, self.sample(agent_key, count), times=1)
