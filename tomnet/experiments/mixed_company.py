"""The natural Sally-Anne test with agents of different fields of view: one table of curves for each condition."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Key, Scalar

from ..observer.tomnet import ToMnet
from ..world.gridworld import SUBGOAL_MAZE
from .experiment import Company
from .minds import N_PAST, NARROW, WIDE
from .natural_swaps import Walks, agents_futures, effects_of, rollouts_for, take_walks
from .swap_curves import curves

SIGHTED = ("3x3", "5x5", "7x7", "9x9")  # for the blind nothing is ever in view


def walk_all(key: Key[Scalar, ""], conditions: tuple[str, ...], agents: int) -> dict[str, Walks]:
    """The held-out agents of each condition, on the same levels."""
    return {
        name: take_walks(key, Company((name,), part="held out"), agents, N_PAST, SUBGOAL_MAZE) for name in conditions
    }


def curves_of(
    walks: dict[str, Walks], observer: ToMnet, futures: dict[str, np.ndarray] | None = None
) -> dict[str, dict[str, Any]]:
    futures = futures or {}
    return {
        name: curves(effects_of(each, observer, futures.get(name)), SUBGOAL_MAZE.size) for name, each in walks.items()
    }


def two_futures(key: Key[Scalar, ""], walks: dict[str, Walks], agents: int) -> dict[str, np.ndarray]:
    """Where the agents really go, of the two conditions that are shown: for all of them it would take too long."""
    keys = dict(zip((NARROW, WIDE), jax.random.split(key)))
    return {name: agents_futures(keys[name], walks[name], rollouts_for(agents)) for name in (NARROW, WIDE)}
