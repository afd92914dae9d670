"""A fixed set of deep RL agents, of which observers meet all in turn."""

import dataclasses
from pathlib import Path
from typing import ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Key, Scalar

from ..agents.actor_critic import DeepAgent
from ..agents.population import Part, condition_file, load_condition
from ..agents.species import DrawEncounters
from ..episodes.encounter import Encounter
from ..support.identity import LOCAL
from ..support.trees import concatenate_on_host, on_device, on_host, pick


@dataclasses.dataclass(frozen=True)
class AgentPool:
    """A fixed set of deep RL agents, met in turn: networks of some conditions, each with every preference.

    A species, as `Species` has it, of which there are no more than these.
    """

    kind: ClassVar[str] = "deep RL agents"
    conditions: tuple[str, ...]
    part: Part = "training"
    folder: Path | None = dataclasses.field(default=None, metadata=LOCAL)  # of the populations; None: the pretrained
    beliefs: bool = False  # whether they are asked what they believe
    networks: int | None = None  # of each condition, at most; None: all

    def words(self) -> str:
        networks = "all networks" if self.part == "all" else f"the {self.part} networks"
        asked = ", asked for their beliefs" if self.beliefs else ""
        return f"deep RL agents: {networks} of {', '.join(self.conditions)}{asked}"

    def available(self) -> bool:
        return all(condition_file(name, self.folder).exists() for name in self.conditions)

    def populations(self) -> dict[str, str]:
        return {name: load_condition(name, self.folder).digest for name in self.conditions}

    def agents(self) -> DeepAgent:
        """All of them, condition by condition."""
        parts = []
        for name in self.conditions:
            population = load_condition(name, self.folder)
            most = None if self.networks is None else self.networks * population.objects
            parts.append(pick(on_host(population.agents(self.part)), slice(most)))
        return on_device(concatenate_on_host(parts))

    def ready(self) -> "Everyone":
        return Everyone(self.agents())

    def anyone(self) -> "AgentPool":
        return self

    def sample(self, key: Key[Scalar, ""], count: int) -> DeepAgent:
        return self.ready().sample(key, count)

    def condition_numbers(self) -> np.ndarray:
        """Of each agent's condition, in the order of `agents`."""
        parts = [load_condition(name, self.folder) for name in self.conditions]
        chosen = [{"training": p.training, "held out": p.held_out, "all": p.returns}[self.part] for p in parts]
        counts = [p.objects * len(some[: self.networks]) for p, some in zip(parts, chosen)]
        return np.repeat(np.arange(len(parts)), counts)


class Everyone(eqx.Module):
    """All agents of a pool, each as often as the others."""

    agents: DeepAgent

    def sample(self, key: Key[Scalar, ""], count: int) -> DeepAgent:
        pool = self.agents.preferred.shape[0]
        if count >= pool:
            return self.agents
        few = jax.random.permutation(key, pool)[:count]
        return pick(self.agents, few)

    def encounters(self, key: Key[Scalar, ""], count: int, draw_encounters: DrawEncounters) -> Encounter:
        """For few encounters, most of the agents need not play at all; for many, everyone plays several times."""
        encounter_key, order_key, few_key = jax.random.split(key, 3)
        agents = self.sample(few_key, count)
        encounters = draw_encounters(encounter_key, agents, times=-(-count // agents.preferred.shape[0]))
        order = jax.random.permutation(order_key, encounters.past_real.shape[0])
        return pick(encounters, order)
