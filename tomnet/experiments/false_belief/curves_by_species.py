"""The natural Sally-Anne test with agents of different fields of view: one table of curves for each condition.

Several experiments ask another observer about the same agents on the same walks, which take longer than asking. Walks
and futures are therefore kept once they have been taken.
"""

from functools import lru_cache
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Array, Key

from ...agents.population import condition_file
from ...observer.tomnet import ToMnet
from ...support.streams import EVALUATION_STREAM, stream
from ...world.gridworld import SUBGOAL_MAZE
from ..agent_pool import AgentPool
from .natural_swaps import Walks, agents_futures, effects_of, rollouts_for, take_walks
from .specs import MIXED, N_PAST, NARROW, WIDE
from .swap_curves import Curves, curves

SIGHTED = ("3x3", "5x5", "7x7", "9x9")  # for the blind nothing is ever in view
WALKS = 0x77616C6B  # far from the small numbers that experiments split the evaluation stream into
WITH_FUTURES = (NARROW, WIDE)  # whose futures are looked at as well: for all of them it would take too long


def walk_all(seed: int, conditions: tuple[str, ...], agents: int) -> dict[str, Walks]:
    """The held-out agents of each condition, on the same levels."""
    return {name: _walks(condition_file(name), name, agents, seed) for name in conditions}


def futures_of(seed: int, conditions: tuple[str, ...], agents: int) -> dict[str, np.ndarray]:
    """Where the agents of these conditions really go from there."""
    return {name: _futures(condition_file(name), name, agents, seed) for name in conditions}


def curves_of(
    walks: dict[str, Walks], observer: ToMnet, futures: dict[str, np.ndarray] | None = None
) -> dict[str, Curves]:
    futures = futures or {}
    return {
        name: curves(effects_of(each, observer, futures.get(name)), SUBGOAL_MAZE.size) for name, each in walks.items()
    }


@lru_cache(maxsize=len(MIXED))
def _walks(population: Path, condition: str, agents: int, seed: int) -> Walks:
    """`population`, the file, is there to tell populations of one name apart."""
    return take_walks(_keys(seed)[0], AgentPool((condition,), part="held out"), agents, N_PAST, SUBGOAL_MAZE)


@lru_cache(maxsize=len(MIXED))
def _futures(population: Path, condition: str, agents: int, seed: int) -> np.ndarray:
    walks = _walks(population, condition, agents, seed)
    key = jax.random.fold_in(_keys(seed)[1], MIXED.index(condition))
    return agents_futures(key, walks, rollouts_for(agents))


def _keys(seed: int) -> Key[Array, "2"]:
    """Of the walks, and of the futures."""
    return jax.random.split(jax.random.fold_in(stream(seed, EVALUATION_STREAM), WALKS))
