"""What an experiment is: observers to train, and an evaluation that turns them into a Result."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, Scalar

from ..agents.actor_critic import DeepAgent
from ..agents.planner import Planner, PlannerSpecies
from ..agents.population import Part, condition_file, load_condition
from ..agents.random_policy import RandomAgent, RandomSpecies
from ..episodes.encounter import Encounter, Meeting, meet
from ..episodes.rollout import play, play_and_tell
from ..errors import BadSetting
from ..identity import LOCAL, plain
from ..observer.tomnet import ObserverConfig, ToMnet
from ..observer.training import Sample, TrainingConfig
from ..world.gridworld import World
from .claims import Claim

Preset = Literal["smoke", "laptop", "full"]
PRESETS: tuple[Preset, ...] = ("smoke", "laptop", "full")


@dataclasses.dataclass(frozen=True)
class Company:
    """A fixed set of deep RL agents, met in turn: networks of some conditions, each with every preference."""

    kind: ClassVar[str] = "deep RL agents"
    conditions: tuple[str, ...]
    part: Part = "training"
    folder: Path | None = dataclasses.field(default=None, metadata=LOCAL)  # of the populations; None: the pretrained
    beliefs: bool = False  # whether they are asked what they believe
    networks: int | None = None  # of each condition, at most; None: all

    def available(self) -> bool:
        """Whether they are there to be met."""
        return all(condition_file(name, self.folder).exists() for name in self.conditions)

    def populations(self) -> dict[str, str]:
        """By condition, the digest of the population that they belong to."""
        return {name: load_condition(name, self.folder).digest for name in self.conditions}

    def agents(self) -> DeepAgent:
        """All of them, condition by condition."""
        parts = []
        for name in self.conditions:
            population = load_condition(name, self.folder)
            most = None if self.networks is None else self.networks * population.objects
            parts.append(jax.tree.map(lambda leaf, most=most: leaf[:most], population.agents(self.part)))
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)

    def species(self) -> np.ndarray:
        """The number of each agent's condition, in the order of `agents`."""
        parts = [load_condition(name, self.folder) for name in self.conditions]
        chosen = [{"training": p.training, "held out": p.held_out, "all": p.returns}[self.part] for p in parts]
        counts = [p.objects * len(some[: self.networks]) for p, some in zip(parts, chosen)]
        return np.repeat(np.arange(len(parts)), counts)


MET_VERSION = 1  # of what `Member.met` says, to be raised when a field changes its meaning
ANYONE = RandomSpecies((1.0,))


@dataclasses.dataclass(frozen=True)
class Member:
    """One observer of an experiment: whom it meets, how, and how it is trained."""

    name: str
    species: RandomSpecies | PlannerSpecies | Company
    world: World
    meeting: Meeting
    observer: ObserverConfig
    training: TrainingConfig
    steps: int | None = None  # of each episode; None: until it ends
    reuse: int = 1  # encounters drawn from each agent's episodes; in training, only where queries = 1
    home: str | None = None  # the experiment that trains it, where this one only borrows it

    def __post_init__(self):
        tells = isinstance(self.species, Company) and self.species.beliefs
        if "belief" in self.observer.heads and not tells:
            raise BadSetting("beliefs", tells, f"the observer {self.name!r} learns beliefs, and nobody tells it any")
        if self.training.queries > 1 and not isinstance(self.species, Company):
            raise BadSetting(
                "queries", self.training.queries, "only a company of deep RL agents is asked about so often"
            )

    @property
    def met(self) -> dict[str, Any]:
        """Whom it meets and how: every field, by which an observer is known later."""
        told = {name: plain(getattr(self, name)) for name in ("species", "world", "meeting", "steps", "reuse")}
        return {"version": MET_VERSION} | told

    def populations(self) -> dict[str, str]:
        """The populations of deep RL agents that it meets, as they are now: digests by condition."""
        return self.species.populations() if isinstance(self.species, Company) else {}

    def sampler(self) -> Sample:
        """`(key, count) -> encounters`, with agents drawn for the occasion, or with all of a company in turn."""
        if isinstance(self.species, Company):
            # as an argument, so that the compiled program does not hold the weights as constants
            return eqx.Partial(self._sample_company, agents=self.species.agents())
        if isinstance(self.species, RandomSpecies):
            # as an argument, so that one compiled program serves the species of all alphas
            anyone = dataclasses.replace(self, name="", species=ANYONE, observer=ObserverConfig())
            return eqx.Partial(Member.sample, anyone, species=jax.tree.map(jnp.asarray, self.species))
        return self.sample

    def sample(
        self, key: Key[Scalar, ""], count: int, *, species: RandomSpecies | PlannerSpecies | None = None
    ) -> Encounter:
        drawn_from = species or self.species
        assert not isinstance(drawn_from, Company)
        agent_key, meet_key = jax.random.split(key)
        agents = drawn_from.sample(agent_key, -(-count // self.reuse))
        encounters = self.meet(meet_key, agents, reuse=self.reuse)
        return jax.tree.map(lambda leaf: leaf[:count], encounters)

    def _sample_company(self, key: Key[Scalar, ""], count: int, *, agents: DeepAgent) -> Encounter:
        meet_key, order_key, few_key = jax.random.split(key, 3)
        queries = self.training.queries
        reuse = self.reuse if queries == 1 else 1
        company, needed = agents.preferred.shape[0], -(-count // reuse)
        if needed < company:  # for few encounters, most of them need not play at all
            few = jax.random.permutation(few_key, company)[:needed]
            agents = jax.tree.map(lambda leaf: leaf[few], agents)
        times = -(-needed // company)
        encounters = self.meet(meet_key, agents, reuse=reuse, queries=queries, times=times)
        chosen = jax.random.permutation(order_key, encounters.past_real.shape[0])[:count]
        return jax.tree.map(lambda leaf: leaf[chosen], encounters)

    def meet(
        self,
        key: Array,
        agents: RandomAgent | Planner | DeepAgent,
        *,
        past: int | None = None,
        reuse: int = 1,
        queries: int = 1,
        times: int = 1,
    ) -> Encounter:
        tells = isinstance(self.species, Company) and self.species.beliefs
        way = play_and_tell(self.world) if tells else play(self.world, self.steps)
        return meet(key, agents, way, self.meeting, past=past, reuse=reuse, queries=queries, times=times)


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
    members: Callable[[Preset], tuple[Member, ...]]
    evaluate: Callable[[dict[str, ToMnet], int, int], tuple[dict[str, Any], list[Claim]]]
    """(observers by member name, how many agents, seed) → tables and claims"""
    minutes: dict[str, str]  # measured: preset → how long

    @property
    def about_networks(self) -> bool:
        """Whether its agents are deep RL agents, of which some networks are held out."""
        return any(isinstance(member.species, Company) for member in self.members("smoke"))
