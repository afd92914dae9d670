"""What the page may ask for: every field with its limits. What fits in here is read once more, by the readers of
recordings and the check at the observers' door."""

from functools import cache
from typing import Annotated, ClassVar, Literal

import jax.numpy as jnp
import numpy as np

from .. import zoo
from ..agents.actor_critic import DeepAgent
from ..agents.planner import Planner
from ..agents.population import CONDITIONS, Population
from ..agents.random_policy import RandomAgent
from ..experiments.goal_inference import SPECIES
from ..support.errors import needs_extra
from ..world.gridworld import ACTIONS, MAZE, SUBGOAL_MAZE, World

with needs_extra("explore"):
    from pydantic import BaseModel, ConfigDict, Field

MOST_PAST = 10
LONGEST_TEXT = 20_000  # characters of an episode that an observer reads
LONGEST_FILE = 2**20  # of one that is only looked at, as `tomnet episodes` has it
MOST_STEPS = 51

Client = Annotated[str, Field(pattern="^[a-z0-9]{8,32}$", description="of one open page: its newest question wins")]
ObserverName = Annotated[str, Field(pattern="^[a-z0-9-]{1,40}/[a-z0-9.-]{1,40}$")]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
EpisodeText = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Reward = Annotated[float, Field(ge=0, le=1)]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class PlannerChoice(Request):
    """A goal-driven agent: what it wants, and what a step costs it."""

    world: ClassVar[World] = MAZE
    kind: Literal["planner"]
    rewards: Annotated[list[Reward], Field(min_length=MAZE.objects, max_length=MAZE.objects)]
    move_cost: Annotated[float, Field(ge=0, le=1)] = 0.01

    def agent(self) -> Planner:
        rewards = shares(np.asarray(self.rewards, np.float32))  # what planners are made of sums to 1
        return Planner(jnp.asarray(rewards), jnp.float32(self.move_cost), jnp.float32(SPECIES.wall_cost))


class RandomChoice(Request):
    """A random agent: how often it takes each action, whatever it sees."""

    world: ClassVar[World] = MAZE
    kind: Literal["random"]
    policy: Annotated[list[Reward], Field(min_length=len(ACTIONS), max_length=len(ACTIONS))]

    def agent(self) -> RandomAgent:
        policy = np.asarray(self.policy, np.float32)
        return RandomAgent(jnp.asarray(shares(policy if policy.any() else np.ones_like(policy))))


class DeepChoice(Request):
    """A pretrained deep RL agent: a species, one of its networks, the best first, and what it is after."""

    world: ClassVar[World] = SUBGOAL_MAZE
    kind: Literal["deep"]
    condition: Literal[tuple(CONDITIONS)]  # pyright: ignore[reportInvalidTypeForm]
    network: Annotated[int, Field(ge=0, le=999)]
    preferred: Annotated[int, Field(ge=0, lt=MAZE.objects)]

    def agent(self) -> DeepAgent:
        return population(self.condition).agent(self.network, self.preferred)


def shares(numbers: np.ndarray) -> np.ndarray:
    return numbers / numbers.sum() if numbers.any() else numbers


@cache
def population(condition: str) -> Population:
    return zoo.agents(condition)


Choice = PlannerChoice | RandomChoice | DeepChoice
AgentChoice = Annotated[Choice, Field(discriminator="kind")]


class DrawLevel(Request):
    client: Client
    subgoal: bool
    seed: Seed


class Watch(Request):
    """A whole episode on a level drawn at random, or on this one."""

    client: Client
    agent: AgentChoice
    seed: Seed
    level: EpisodeText | None = None


class Act(Request):
    """Some more steps of the current episode."""

    client: Client
    agent: AgentChoice
    now: EpisodeText
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)]
    seed: Seed


class Seen(Request):
    """A past episode; of observers that see single steps, which one."""

    text: EpisodeText
    time: Annotated[int, Field(ge=0, lt=10_000)] = 0


class Question(Request):
    """What was seen of an agent, and where it is now: its level, and its steps so far."""

    client: Client
    observer: ObserverName
    past: Annotated[list[Seen], Field(max_length=MOST_PAST)]
    now: EpisodeText
    everywhere: bool = False  # also from every other cell


class Comparison(Request):
    """The same question, to the exact observer of the same past and to the agent itself, where there are any."""

    client: Client
    observer: ObserverName | None
    past: Annotated[list[Seen], Field(max_length=MOST_PAST)]
    now: EpisodeText
    agent: AgentChoice | None
    everywhere: bool = False


class Read(Request):
    """Somebody's own episode file."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_FILE)]


class Known(Request):
    client: Client
    observer: ObserverName
