"""Weighted particles for the prior over a species of planners.

Rewards from Dir(0.01) are nearly one-hot: of a thousand draws, two thirds differ from an agent with a
single desire by less than a planner can resolve, and some twenty lie where two objects compete. So the
prior is cut into strata: which object is preferred, and how each of the others compares with it. Each
stratum is weighted by its exact probability and gets particles of its own. More particles approach the
exact prior.
"""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, Scalar

from ..agents.planner import Planner, PlannerSpecies

BANDS = np.array([0, 1e-6, 0.5, 1])
"""Strata of an object's reward as a share of the largest: nothing, faint, close.

Below the first edge a reward vanishes in the rounding of a planner's values. Above the second, a few steps
more or less decide between two objects.
"""
INTEREST = np.array([1, 1, 3])  # close rivals deserve a closer look
GREEDY = 0.25  # greedy agents weigh rewards against half a unit per step, so few particles show all they do


def spread_particles(
    key: Key[Scalar, ""], species: PlannerSpecies, count: int
) -> tuple[Planner, Float[Array, "particle"]]:
    """Agents that stand for the species, and the logarithms of their prior probabilities.

    About `count` of them, and some more for the greedy share; never fewer than one for each stratum.
    """
    shift = np.asarray(jax.random.uniform(key, (species.objects,)), np.float64)
    rewards, weights, move_costs = [], [], []
    for move_cost, share, part in (
        (species.move_cost, 1 - species.greedy_share, 1.0),
        (species.greedy_move_cost, species.greedy_share, GREEDY if species.greedy_share < 1 else 1.0),
    ):
        if share > 0:
            of_part, probabilities = _rewards(shift, species, int(count * part))
            rewards.append(of_part)
            weights.append(share * probabilities)
            move_costs.append(np.full(len(of_part), move_cost))
    agents = Planner(
        object_rewards=jnp.asarray(np.concatenate(rewards), jnp.float32),
        move_cost=jnp.asarray(np.concatenate(move_costs), jnp.float32),
        wall_cost=jnp.full(sum(map(len, weights)), species.wall_cost, jnp.float32),
    )
    return agents, jnp.asarray(np.log(np.concatenate(weights)), jnp.float32)


def _rewards(shift: np.ndarray, species: PlannerSpecies, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Reward vectors and their probabilities: the same pattern for each preferred object."""
    others = species.objects - 1
    bands = range(len(INTEREST))
    strata = np.array([*product(bands, repeat=others)], int).reshape(len(bands) ** others, others)
    # a reward's share of the largest is distributed as U^(1/alpha), up to the correction below
    edges = BANDS**species.alpha
    ratios, weights = [], []
    for stratum, points in zip(strata, _share_out(strata, edges, count // species.objects)):
        low, high = edges[stratum], edges[stratum + 1]
        ratio = (low + (high - low) * _halton(points, others, shift)) ** (1 / species.alpha)
        ratios.append(np.where(stratum > 0, ratio, 0.0))
        weights.append(np.full(points, (high - low).prod() / points))
    ratios, weights = np.concatenate(ratios), np.concatenate(weights)
    # the density of these ratios under Dir(alpha) is a product of powers, as drawn above, times this
    weights *= (1 + ratios.sum(-1)) ** (-species.alpha * species.objects)
    patterns = np.insert(ratios, 0, 1.0, axis=1) / (1 + ratios.sum(-1, keepdims=True))
    rewards = np.concatenate([np.roll(patterns, preferred, axis=1) for preferred in range(species.objects)])
    return rewards, np.tile(weights / weights.sum() / species.objects, species.objects)


def _share_out(strata: np.ndarray, edges: np.ndarray, count: int) -> list[int]:
    """How many particles each stratum gets: one where nothing varies; rare strata get more than their due."""
    wish = np.diff(edges)[strata].prod(-1) ** 0.5 * INTEREST[strata].prod(-1) * (strata > 0).any(-1)
    spare = max(count - len(strata), 0)
    return [1 + int(spare * share) for share in wish / max(wish.sum(), 1e-300)]


def _halton(points: int, dimensions: int, shift: np.ndarray) -> np.ndarray:
    """Points spread evenly over the unit cube, shifted at random."""
    columns = []
    for base in _primes(dimensions):
        rest, unit, column = np.arange(points), 1.0, np.zeros(points)
        while rest.any():
            unit /= base
            column += unit * (rest % base)
            rest //= base
        columns.append(column)
    return (np.array(columns).reshape(dimensions, points).T + shift[:dimensions]) % 1


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found
