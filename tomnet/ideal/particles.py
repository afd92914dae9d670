"""Weighted particles for the prior over a species of planners.

Rewards from Dir(0.01) are nearly one-hot: of a thousand draws, two in three differ from an agent with a single
desire by less than a planner can resolve, and a dozen lie where two objects compete. So the prior is cut into strata:
which object is preferred, and how each of the others compares with it. Each stratum is weighted by its exact
probability and gets particles of its own. More particles approach the exact prior.
"""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, Scalar

from ..agents.planner import Planner, PlannerSpecies
from ..errors import BadSetting

BANDS = np.array([0, 1e-6, 0.2, 1])
"""Strata of an object's reward as a share of the largest: nothing, faint, close.

Below the first edge rewards vanish in the rounding of a planner's values; above the second, a few steps more or less
decide between two objects, and it pays to look closely.
"""


def spread_particles(
    key: Key[Scalar, ""], species: PlannerSpecies, count: int
) -> tuple[Planner, Float[Array, "particle"]]:
    """About `count` agents that stand for the species, and the logarithms of their prior probabilities."""
    costs = [(species.move_cost, 1 - species.greedy_share), (species.greedy_move_cost, species.greedy_share)]
    costs = [(cost, share) for cost, share in costs if share > 0]
    shift = np.asarray(jax.random.uniform(key, (species.objects,)), np.float64)
    rewards, weights = _rewards(shift, species, count // len(costs))
    move_costs, shares = (np.repeat(column, len(weights)) for column in np.array(costs).T)
    agents = Planner(
        object_rewards=jnp.asarray(np.tile(rewards, (len(costs), 1)), jnp.float32),
        move_cost=jnp.asarray(move_costs, jnp.float32),
        wall_cost=jnp.full(len(move_costs), species.wall_cost, jnp.float32),
    )
    return agents, jnp.asarray(np.log(shares * np.tile(weights, len(costs))), jnp.float32)


def _rewards(shift: np.ndarray, species: PlannerSpecies, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Reward vectors and their probabilities: the same pattern for each preferred object."""
    others = species.objects - 1
    strata = np.array(list(product(range(len(BANDS) - 1), repeat=others)), int).reshape(-1, others)
    if count < species.objects * len(strata):
        why = f"{species.objects} objects make {species.objects * len(strata)} combinations of preferences"
        raise BadSetting("particles", count, why)
    # The share of the largest reward is distributed as U^(1/alpha), up to the correction below
    edges = BANDS**species.alpha
    ratios, weights = [], []
    for bands, points in zip(strata, _share_out(strata, edges, count // species.objects)):
        low, high = edges[bands], edges[bands + 1]
        ratio = (low + (high - low) * _halton(points, others, shift)) ** (1 / species.alpha)
        ratios.append(np.where(bands > 0, ratio, 0.0))
        weights.append(np.full(points, (high - low).prod() / points))
    ratios, weights = np.concatenate(ratios), np.concatenate(weights)
    # the density of these ratios under Dir(alpha) is a product of powers, as drawn above, times this
    weights *= (1 + ratios.sum(-1)) ** (-species.alpha * species.objects)
    patterns = np.insert(ratios, 0, 1.0, axis=1) / (1 + ratios.sum(-1, keepdims=True))
    rewards = np.concatenate([np.roll(patterns, preferred, axis=1) for preferred in range(species.objects)])
    return rewards, np.tile(weights / weights.sum() / species.objects, species.objects)


def _share_out(strata: np.ndarray, edges: np.ndarray, count: int) -> list[int]:
    """How many particles each stratum gets: one where there is nothing to vary, and rare ones more than their due."""
    wish = np.diff(edges)[strata].prod(-1) ** 0.5 * (strata > 0).any(-1)
    spare = count - len(strata)
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
