"""How a population is trained: how many networks of which conditions, for how long, and how many of them are kept."""

import dataclasses

from ..support.errors import BadSetting, nearest
from ..world.gridworld import SUBGOAL_MAZE, World
from .actor_critic import NetworkConfig, check_world
from .population import CONDITIONS, Condition, find_condition
from .reinforcement import LearnerConfig


@dataclasses.dataclass(frozen=True)
class PopulationTraining:
    """How a population is trained."""

    learner: LearnerConfig
    network: NetworkConfig = NetworkConfig()
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    only: tuple[str, ...] = ()  # conditions to train, if not all: each network is the one that it would be among all
    networks: int = 24  # of each condition
    keep: int = 20  # of each condition, the best on held-out levels
    chunk: int = 72  # networks trained side by side
    levels: int = 256  # held out, to choose by
    world: World = SUBGOAL_MAZE
    report_every: int = 20  # updates
    checkpoint_seconds: float = 60.0

    def __post_init__(self):
        check_world(self.world, self.network)
        for name in self.conditions:
            find_condition(name).check(self.world.size)
        for name in self.only:
            if name not in self.conditions:
                raise nearest(name, self.conditions, "condition")
        for name in ("networks", "levels", "report_every"):
            if getattr(self, name) < 1:
                raise BadSetting(f"PopulationTraining.{name}", getattr(self, name), "must be above 0")
        if self.chunk < 1:
            raise BadSetting("chunk", self.chunk, "must be above 0")
        if self.total % self.chunk:
            raise BadSetting("chunk", self.chunk, f"does not divide the population of {self.total} networks")
        if not 1 <= self.keep <= self.networks:
            raise BadSetting("keep", self.keep, f"of {self.networks} networks of each condition")

    @property
    def trained(self) -> tuple[str, ...]:
        """The conditions of which networks are trained."""
        return self.only or self.conditions

    @property
    def indices(self) -> list[int]:
        """Of the networks: they count all conditions in turn, so that no chunk is easier than another."""
        everyone = range(self.networks * len(self.conditions))
        return [index for index in everyone if self.condition(index).name in self.trained]

    @property
    def total(self) -> int:
        return len(self.indices)

    @property
    def chunks(self) -> int:
        return self.total // self.chunk

    def indices_of(self, chunk: int) -> list[int]:
        return self.indices[chunk * self.chunk : (chunk + 1) * self.chunk]

    def condition(self, index: int) -> Condition:
        return CONDITIONS[self.conditions[index % len(self.conditions)]]


POPULATION_PRESETS = {
    "smoke": PopulationTraining(
        learner=LearnerConfig(steps=256, worlds=4, unroll=8, pool=16),
        network=NetworkConfig(channels=8, memory_channels=8, belief_channels=8, hidden=16, salience_channels=8),
        networks=2,
        keep=2,
        chunk=12,
        levels=8,
        report_every=4,
    ),
    "laptop": PopulationTraining(
        learner=LearnerConfig(steps=1_000_000, worlds=32, unroll=32, pool=512),
        network=NetworkConfig(channels=16, memory_channels=16, belief_channels=16),
        conditions=("5x5",),
        networks=2,
        keep=2,
        chunk=2,
        levels=256,
    ),
    "full": PopulationTraining(learner=LearnerConfig(steps=10_000_000), chunk=144, report_every=50),
}
