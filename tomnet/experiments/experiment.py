"""What an experiment is: observers to train, and an evaluation that turns them into a Result."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Literal, TypeVar

import equinox as eqx
from jaxtyping import Array, Key, Scalar

from ..agents.species import Species
from ..episodes.encounter import Encounter, EncounterSpec
from ..episodes.importance import swap_weight
from ..episodes.rollout import play, play_with_beliefs
from ..episodes.sampling import Oversampled, Play, draw_encounters
from ..observer.config import ObserverConfig, TrainingConfig
from ..observer.tomnet import ToMnet
from ..observer.training import Sample
from ..support.errors import BadSetting
from ..support.identity import plain
from ..support.trees import pick
from ..support.typed_json import from_json, to_json
from ..world.gridworld import World
from .agent_pool import AgentPool, Everyone
from .claims.claim import Claim

Preset = Literal["smoke", "laptop", "full"]
PRESETS: tuple[Preset, ...] = ("smoke", "laptop", "full")
ANY_PRESET = PRESETS[0]  # for what is the same in all of them: the observers' names, whom they meet and how


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
    reuse: int = 1  # encounters drawn from each agent's episodes: in training, where it shares none of them otherwise,
    # and on held-out agents always
    home: str | None = None  # the experiment that trains it, where this one only borrows it

    def __post_init__(self):
        if "belief" in self.observer.heads and not self.species.beliefs:
            raise BadSetting("beliefs", False, f"the observer {self.name!r} learns beliefs, and nobody tells it any")
        if self.species.beliefs and self.steps is not None:
            raise BadSetting("steps", self.steps, "agents are asked for their beliefs until an episode ends")
        training, most = self.training, self.steps or self.world.step_limit
        if self.shares_episodes and not self.species.conditions:
            why = "only a pool of deep RL agents is asked about so often"
            raise BadSetting("currents, queries", f"{training.currents}, {training.queries}", why)
        if training.queries > most:
            raise BadSetting("queries", training.queries, f"an episode of this world has {most} steps to ask about")
        if training.swap_probability is not None and not (self.world.subgoal and self.world.swap_probability):
            raise BadSetting(
                "swap_probability", training.swap_probability, "this world has no swaps to draw more often"
            )

    @property
    def shares_episodes(self) -> bool:
        """Whether training asks several times about one episode, or about several after one past."""
        training = self.training
        return training.currents > 1 or training.queries > 1 or training.swap_probability is not None

    @property
    def met(self) -> dict[str, Any]:
        """Whom it meets and how: every field, by which an observer is known later."""
        told = {name: plain(getattr(self, name)) for name in ("species", "world", "steps", "reuse")}
        return {"version": MET_VERSION, "encounters": plain(self.encounter_spec)} | told

    def populations(self) -> dict[str, str]:
        """The populations of deep RL agents that it meets, as they are now: digests by condition."""
        return self.species.populations()

    def sampler(self, *, held_out: bool = False) -> Sample:
        """`(key, count) -> encounters`, with agents drawn for the occasion, or with all of a pool in turn.

        Those `held_out` are as the world has them, each asked about once, however training draws its own.
        """
        # the species is an argument, so that compiled programs do not hold weights as constants; what plays no part
        # in drawing is left out, so that observers share one
        anyone = dataclasses.replace(self, name="", species=self.species.anyone(), observer=ObserverConfig())
        return eqx.Partial(type(self).sample, anyone, species=self.species.ready(), held_out=held_out)

    def sample(
        self, key: Key[Scalar, ""], count: int, *, species: Species | Everyone | None = None, held_out: bool = False
    ) -> Encounter:
        """So many current episodes, or a few more where those of an agent share its past."""
        training, reuse = self.training, 1 if self.shares_episodes else self.reuse
        currents = self.reuse if held_out and self.shares_episodes else training.currents
        how: dict[str, Any] = {"reuse": reuse, "currents": currents}
        if not held_out:
            how |= {"queries": training.queries, "oversampled": self._oversampled()}
        groups, draw_encounters = -(-count // currents), partial(self.draw_encounters, **how)
        encounters = (species or self.species.ready()).encounters(key, -(-groups // reuse), draw_encounters)
        return pick(encounters, slice(groups))

    def draw_encounters(self, key: Array, agents: eqx.Module, **how) -> Encounter:
        """As `draw_encounters` does it, in this world and as this observer meets agents."""
        return draw_encounters(key, agents, self._play(self.world), self.encounter_spec, **how)

    def _play(self, world: World) -> Play:
        return play_with_beliefs(world) if self.species.beliefs else play(world, self.steps)

    def _oversampled(self) -> Oversampled | None:
        probability = self.training.swap_probability
        if probability is None:
            return None
        often = dataclasses.replace(self.world, swap_probability=probability)
        weigh = partial(swap_weight, world=self.world, swap_probability=probability)
        return Oversampled(self._play(often), weigh)


Tables = TypeVar("Tables")


@dataclasses.dataclass
class Result(Generic[Tables]):
    """Tables: enough to draw every figure and decide every claim again, without a GPU or a network."""

    experiment: str
    preset: str
    seed: int
    tables: Tables
    claims: list[Claim]
    seconds: float = 0.0
    environment: dict[str, Any] = dataclasses.field(default_factory=dict)
    observers: dict[str, str] = dataclasses.field(default_factory=dict)  # whose result it is: digests by name

    def to_json(self) -> dict[str, Any]:
        return to_json(self)

    @staticmethod
    def from_json(plain: Any, tables: type[Tables]) -> "Result[Tables]":
        """What `to_json` gave, its tables of the type that the experiment names; a `Misfit` says what is not."""
        return from_json(Result[tables], plain)


@dataclasses.dataclass(frozen=True)
class Experiment(Generic[Tables]):
    name: str
    title: str
    section: str
    figures: tuple[str, ...]
    claims: tuple[str, ...]  # none where it goes beyond the paper
    specs: Callable[[Preset], tuple[ObserverSpec, ...]]
    tables: type[Tables]
    evaluate: Callable[[dict[str, ToMnet], int, int], tuple[Tables, list[Claim]]]
    """(observers by name, how many agents, seed) → tables and claims"""
    minutes: dict[str, str]  # preset → how long it takes to train, where that was measured
    agents: int = 500  # that pretrained observers are measured on; more where they cost little

    @property
    def beyond_paper(self) -> bool:
        """Whether it decides none of the paper's claims."""
        return not self.claims

    @property
    def place(self) -> str:
        """Its place in the paper, in words."""
        return f"an experiment beyond section {self.section}" if self.beyond_paper else f"section {self.section}"

    @property
    def about_networks(self) -> bool:
        """Whether its agents are deep RL agents, of which some networks are held out."""
        return any(spec.species.conditions for spec in self.specs(ANY_PRESET))
