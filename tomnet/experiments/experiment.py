"""What an experiment is: observers to train, and an evaluation that turns them into a Result."""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import jax
from jaxtyping import Array, Key, Scalar

from ..agents.planner import Planner, PlannerSpecies
from ..agents.random_policy import RandomAgent, RandomSpecies
from ..episodes.encounter import Encounter, Meeting, meet
from ..episodes.rollout import play
from ..observer.tomnet import ObserverConfig, ToMnet
from ..observer.training import TrainingConfig
from ..world.gridworld import World
from .claims import Claim

Preset = Literal["smoke", "laptop", "full"]
PRESETS: tuple[Preset, ...] = ("smoke", "laptop", "full")


@dataclasses.dataclass(frozen=True)
class Member:
    """One observer of an experiment: whom it meets, how, and how it is trained."""

    name: str
    species: RandomSpecies | PlannerSpecies
    world: World
    meeting: Meeting
    observer: ObserverConfig
    training: TrainingConfig
    steps: int | None = None  # of each episode; None: until it ends
    reuse: int = 1  # encounters drawn from each agent's episodes

    def sample(self, key: Key[Scalar, ""], count: int) -> Encounter:
        """Encounters with agents drawn for the occasion."""
        agent_key, meet_key = jax.random.split(key)
        agents = self.species.sample(agent_key, -(-count // self.reuse))
        encounters = self.meet(meet_key, agents, reuse=self.reuse)
        return jax.tree.map(lambda leaf: leaf[:count], encounters)

    def meet(self, key: Array, agents: RandomAgent | Planner, *, past: int | None = None, reuse: int = 1) -> Encounter:
        return meet(key, agents, play(self.world, self.steps), self.meeting, past=past, reuse=reuse)


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
