"""Agents on their way to the subgoal, where swaps will meet them, as an observer comes to know them.

Each walks on levels of its own, having been watched in earlier episodes. Several experiments ask another observer about
the same agents on the same walks, which take longer than asking; so walks are kept once they have been taken.
"""

import dataclasses
from functools import lru_cache
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...agents.population import condition_file
from ...episodes.episode import Episode
from ...episodes.rollout import play
from ...support.progress import reached, stage
from ...support.streams import EVALUATION_STREAM, stream
from ...support.trees import on_host, pick, stack_on_host
from ...support.words import counted
from ...world.gridworld import SUBGOAL_MAZE, World
from ..agent_pool import AgentPool
from ..analysis.reachability import levels_with_a_way
from .specs import MIXED, N_PAST
from .swap_effects import Pairs, kept_first, swap_pairs

WALKS = 0x77616C6B  # far from the small numbers that experiments split the evaluation stream into
# as many walks: the less agents see, the more seldom they have seen what they like (3×3: on one way in twenty-five),
# and the luck of the walks is to be small beside what sets the networks apart
MORE = {"3x3": 40, "5x5": 8, "7x7": 8, "9x9": 8}


@dataclasses.dataclass(frozen=True)
class Walks:
    """One condition's agents on their way to the subgoal, and the swaps that meet them there."""

    agents: list[DeepAgent]
    networks: np.ndarray  # [agent]: those of one network differ in their preference only
    past: Episode  # [agent, level, past]
    pairs: list[Pairs]  # of each agent
    world: World

    @property
    def kept(self) -> np.ndarray:
        """`[agent, level]`."""
        return np.stack([pairs.kept for pairs in self.pairs])


def walk_all(seed: int, conditions: tuple[str, ...], agents: int) -> dict[str, Walks]:
    """The held-out agents of each condition, on the same levels."""
    return {name: _walks(condition_file(name), name, agents, seed) for name in conditions}


@lru_cache(maxsize=len(MIXED))
def _walks(population: Path, condition: str, agents: int, seed: int) -> Walks:
    """`population`, the file, is there to tell populations of one name apart."""
    return take_walks(keys_of(seed)[0], AgentPool((condition,), part="held out"), agents, N_PAST, SUBGOAL_MAZE)


def keys_of(seed: int) -> Key[Array, "2"]:
    """Of the walks, and of what comes after them."""
    return jax.random.split(jax.random.fold_in(stream(seed, EVALUATION_STREAM), WALKS))


def take_walks(key: Key[Scalar, ""], pool: AgentPool, agents: int, past: int, world: World) -> Walks:
    """About one walk for each of so many agents of one condition, those of the pool in turn, or more where few come by
    what they like; each agent of the pool was watched in so many past episodes."""
    (condition,) = pool.conditions
    everyone = pool.agents()
    count = everyone.preferred.shape[0]
    levels = max(past, -(-agents * MORE.get(condition, 1) // count))
    level_key, past_key, swap_key = jax.random.split(key, 3)
    mazes = levels_with_a_way(level_key, count * levels, world)
    each = [pick(everyone, number) for number in range(count)]
    pairs = []
    stage(f"swaps before and behind {counted(count, f'{condition} agent')}")
    for number, agent in enumerate(each):
        reached(number, count)
        mine = pick(mazes, slice(number * levels, (number + 1) * levels))
        pairs.append(swap_pairs(jax.random.fold_in(swap_key, number), agent, mine, world))
    pairs, played = kept_first(pairs), max(past, -(-agents // count))
    histories = len(pairs[0].kept)
    before = [
        watch(jax.random.fold_in(past_key, number), agent, histories, past, world, played)
        for number, agent in enumerate(each)
    ]
    return Walks(each, np.arange(count) // world.objects, stack_on_host(before), pairs, world)


def watch(
    key: Key[Scalar, ""], agent: DeepAgent, histories: int, past: int, world: World, played: int | None = None
) -> Episode:
    """`[history, past]`: of as many episodes as histories or, with `played`, as told; each is shared by neighbours."""
    played = max(histories if played is None else played, past, 1)
    episodes = on_host(_play(key, agent, played, world))
    return pick(episodes, (np.arange(histories)[:, None] + np.arange(past)) % played)


@eqx.filter_jit
def _play(key: Key[Scalar, ""], agent: DeepAgent, count: int, world: World) -> Episode:
    return play(world)(key, agent, count)
