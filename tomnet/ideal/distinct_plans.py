"""Work done once for many: particles with the same plan on a level share a forecast.

The number of distinct plans is different on every level, so this part is NumPy around compiled functions of
fixed shapes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

from ..agents.planner import Planner
from ..support.trees import on_host, pick
from ..world.gridworld import ACTIONS, World
from .batching import in_chunks
from .paths import Paths, best_actions, choices, find_paths, standing_cells

BLOCK = 128  # particles on one level


class AtOnce(NamedTuple):
    """How many levels and how many plans are worked on at a time: what is not needed of them is computed in vain."""

    levels: int = 64
    chains: int = 512


MANY, ONE_BY_ONE = AtOnce(), AtOnce(levels=1, chains=8)

PlanForecast = Callable[[Paths, Planner, Any, World], Any]
"""`(one level, one agent, what is asked, world) -> arrays`: something that the agent would do there."""


def find_all_paths(
    walls: Bool[Array | np.ndarray, "level row col"],
    object_cells: Int[Array | np.ndarray, "level object"],
    world: World,
    at_once: AtOnce = MANY,
) -> Paths:
    return in_chunks(_find_paths, at_once.levels, (walls, object_cells), world)


def forecast_each_plan(
    forecast: PlanForecast,
    paths: Paths,
    agents: Planner,
    asked: Any,
    needed: Bool[np.ndarray, "level particle"],
    world: World,
    at_once: AtOnce = MANY,
) -> tuple[Int[np.ndarray, "plan"], Int[np.ndarray, "level particle"], Any]:
    """A forecast for each distinct plan on each level; the level of each plan; the plan of each particle."""
    levels, particles, plans = distinct(fingerprint_needed(paths, agents, needed, world, at_once), needed)
    cases = pick(on_host((paths, asked)), levels)
    planners = pick(on_host(agents), particles)
    return levels, plans, in_chunks(_forecasts, at_once.chains, (*cases, planners), forecast, world)


def fingerprint_needed(
    paths: Paths, agents: Planner, needed: Bool[np.ndarray, "level particle"], world: World, at_once: AtOnce = MANY
) -> UInt32[np.ndarray, "level particle 2"]:
    """The fingerprint of each particle's plan on each level where it is needed, zero elsewhere.

    What is seen of an agent rules most particles out, so this works on blocks of those that are left.
    """
    counts = needed.sum(1)
    blocks = -(-counts // BLOCK)
    levels = np.repeat(np.arange(len(needed)), blocks)
    place = np.arange(len(levels)) - np.repeat(blocks.cumsum() - blocks, blocks)  # of a block on its level
    place = place[:, None] * BLOCK + np.arange(BLOCK)
    real = place < counts[levels, None]
    particles = np.argsort(~needed, axis=1, kind="stable")[levels[:, None], np.where(real, place, 0)]
    of_blocks = pick(paths, levels)
    planners = pick(on_host(agents), particles)
    fingerprints = np.zeros((*needed.shape, 2), np.uint32)
    found = in_chunks(_fingerprints, at_once.levels, (of_blocks, planners), world)
    fingerprints[np.broadcast_to(levels[:, None], real.shape)[real], particles[real]] = found[real]
    return fingerprints


def distinct(
    fingerprints: UInt32[np.ndarray, "level particle 2"], needed: Bool[np.ndarray, "level particle"]
) -> tuple[Int[np.ndarray, "plan"], Int[np.ndarray, "plan"], Int[np.ndarray, "level particle"]]:
    """The level and one particle of each distinct plan, in the order of levels; and the plan of each particle
    on each level, -1 where it is not needed."""
    unneeded = np.uint64(2**64 - 1)
    pairs = fingerprints.astype(np.uint64)
    prints = np.where(needed, (pairs[..., 0] << np.uint64(31)) ^ pairs[..., 1], unneeded)  # of 63 bits
    order = prints.argsort(axis=1)
    prints = np.take_along_axis(prints, order, axis=1)
    first = np.ones(prints.shape, bool)
    first[:, 1:] = prints[:, 1:] != prints[:, :-1]
    first &= prints != unneeded
    plans = np.empty(order.shape, int)
    np.put_along_axis(plans, order, first.cumsum().reshape(order.shape) - 1, axis=1)
    levels, places = first.nonzero()
    return levels, order[levels, places], np.where(needed, plans, -1)


def fingerprint(paths: Paths, agent: Planner, world: World) -> UInt32[Array, "2"]:
    """The same for two agents whose plans are the same wherever on this level an agent can stand.

    Two sums under random odd weights: plans that differ give the same pair once in 2^50 or so.
    """
    weights = np.random.default_rng(0).integers(2**32, size=(2, world.cells), dtype=np.uint32) | 1
    best = best_actions(choices(paths), agent, world) & standing_cells(paths)
    bits = (best * (1 << jnp.arange(len(ACTIONS), dtype=jnp.uint32))[:, None]).sum(0)
    return (bits * jnp.asarray(weights)).sum(-1, dtype=jnp.uint32)


@eqx.filter_jit
def _find_paths(walls, object_cells, world):
    return jax.vmap(find_paths, in_axes=(0, 0, None))(walls, object_cells, world)


@eqx.filter_jit
def _fingerprints(paths, agents, world):
    # one block after the other: the values of its particles are as much as a cache holds
    def of_block(block):
        level, planners = block
        return jax.vmap(fingerprint, in_axes=(None, 0, None))(level, planners, world)

    return jax.lax.map(of_block, (paths, agents))


@eqx.filter_jit
def _forecasts(paths, asked, agents, forecast, world):
    return jax.vmap(forecast, in_axes=(0, 0, 0, None))(paths, agents, asked, world)
