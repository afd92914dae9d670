"""What an experiment is: observers to train, and an evaluation that turns them into a Result."""

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Key, Scalar

from ..agents.actor_critic import DeepAgent
from ..agents.population import Part, condition_file, load_condition
from ..agents.species import DrawEncounters, Species
from ..episodes.encounter import Encounter, EncounterSpec, draw_encounters
from ..episodes.rollout import play, play_with_beliefs
from ..observer.tomnet import ObserverConfig, ToMnet
from ..observer.training import Sample, TrainingConfig
from ..support.errors import BadSetting
from ..support.identity import LOCAL, plain
from ..support.trees import concatenate, pick
from ..world.gridworld import World
from .claims.claim import Claim

Preset = Literal["smoke", "laptop", "full"]
PRESETS: tuple[Preset, ...] = ("smoke", "laptop", "full")


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
        asked = ", asked for their beliefs" if self.beliefs else ""
        return f"deep RL agents: the training networks of {', '.join(self.conditions)}{asked}"

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
            parts.append(pick(population.agents(self.part), slice(most)))
        return concatenate(parts)

    def ready(self) -> "Everyone":
        return Everyone(self.agents())

    def anyone(self) -> "AgentPool":
        return self

    def sample(self, key: Key[Scalar, ""], count: int) -> DeepAgent:
        return self.ready().sample(key, count)

    def species(self) -> np.ndarray:
        """The number of each agent's condition, in the order of `agents`."""
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


MET_VERSION = 1  # of what `ObserverSpec.met` says, to be raised when a field changes its meaning


@dataclasses.dataclass(frozen=True)
class ObserverSpec:
    """One observer of an experiment: whom it meets, how, and how it is trained."""

    name: str
    species: Species | AgentPool
    world: World
    encounter_spec: EncounterSpec
    observer: ObserverConfig
    training: TrainingConfig
    steps: int | None = None  # of each episode; None: until it ends
    reuse: int = 1  # encounters drawn from each agent's episodes; in training, only where queries = 1
    home: str | None = None  # the experiment that trains it, where this one only borrows it

    def __post_init__(self):
        if "belief" in self.observer.heads and not self.species.beliefs:
            raise BadSetting("beliefs", False, f"the observer {self.name!r} learns beliefs, and nobody tells it any")
        if self.training.queries > 1 and not self.species.conditions:
            raise BadSetting("queries", self.training.queries, "only a pool of deep RL agents is asked about so often")

    @property
    def met(self) -> dict[str, Any]:
        """Whom it meets and how: every field, by which an observer is known later."""
        told = {name: plain(getattr(self, name)) for name in ("species", "world", "steps", "reuse")}
        return {"version": MET_VERSION, "encounters": plain(self.encounter_spec)} | told

    def populations(self) -> dict[str, str]:
        """The populations of deep RL agents that it meets, as they are now: digests by condition."""
        return self.species.populations()

    def sampler(self) -> Sample:
        """`(key, count) -> encounters`, with agents drawn for the occasion, or with all of a pool in turn."""
        # the species is an argument, so that compiled programs do not hold weights as constants; what plays no part
        # in drawing is left out, so that observers share one
        anyone = dataclasses.replace(self, name="", species=self.species.anyone(), observer=ObserverConfig())
        return eqx.Partial(type(self).sample, anyone, species=self.species.ready())

    def sample(self, key: Key[Scalar, ""], count: int, *, species: Species | Everyone | None = None) -> Encounter:
        queries = self.training.queries
        reuse = self.reuse if queries == 1 else 1
        draw_encounters = partial(self.draw_encounters, reuse=reuse, queries=queries)
        encounters = (species or self.species.ready()).encounters(key, -(-count // reuse), draw_encounters)
        return pick(encounters, slice(count))

    def draw_encounters(
        self,
        key: Array,
        agents: eqx.Module,
        *,
        past: int | None = None,
        reuse: int = 1,
        queries: int = 1,
        times: int = 1,
    ) -> Encounter:
        way = play_with_beliefs(self.world) if self.species.beliefs else play(self.world, self.steps)
        return draw_encounters(
            key, agents, way, self.encounter_spec, past=past, reuse=reuse, queries=queries, times=times
        )


@dataclasses.dataclass
class Result:
    """Plain tables: enough to draw every figure and decide every claim again, without a GPU or a network."""

    experiment: str
    preset: str
    seed: int
    tables: dict[str, Any]
    claims: list[Claim]
    seconds: float = 0.0
    environment: dict[str, Any] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(plain: dict[str, Any]) -> "Result":
        return Result(**{**plain, "claims": [_claim(claim) for claim in plain["claims"]]})


def _claim(plain: dict[str, Any]) -> Claim:
    """JSON knows neither tuples nor numbers that are none."""
    value = float("nan") if plain["value"] is None else plain["value"]
    interval = plain["interval"]
    if interval is not None:
        interval = None if None in interval else (interval[0], interval[1])
    return Claim(**{**plain, "value": value, "interval": interval})


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    section: str
    figures: tuple[str, ...]
    claims: tuple[str, ...]
    specs: Callable[[Preset], tuple[ObserverSpec, ...]]
    evaluate: Callable[[dict[str, ToMnet], int, int], tuple[dict[str, Any], list[Claim]]]
    """(observers by name, how many agents, seed) → tables and claims"""
    minutes: dict[str, str]  # preset → how long it takes to train, where that was measured

    @property
    def about_networks(self) -> bool:
        """Whether its agents are deep RL agents, of which some networks are held out."""
        return any(spec.species.conditions for spec in self.specs("smoke"))
