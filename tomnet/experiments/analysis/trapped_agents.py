"""Agents that can reach exactly one object: does an observer know that they eat it, whatever they like (Fig. 5c)?"""

import dataclasses

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Key, Scalar

from ...episodes.encounter import Encounter
from ...episodes.episode import QueryState
from ...ideal.inverse_planning import InversePlanner
from ...observer.tomnet import ToMnet
from ...support.trees import pick
from ...world.gridworld import MAZE
from ...world.levels import sample_level
from .comparison import eats, exact, learned
from .statistics import Estimate, mean_interval

NEAR, FAR = 2, 10  # steps to a trapped agent's only object


@dataclasses.dataclass(frozen=True)
class Trapped:
    """Agents that can reach exactly one object: the probability that they eat it. None where no level was such."""

    levels: int
    probability: Estimate
    ideal: float
    first_choice: float  # the share of levels on which it is the likeliest
    if_preferred: float | None
    if_not_preferred: float | None
    if_near: float | None
    if_far: float | None


def trapped(
    key: Key[Scalar, ""], observer: ToMnet, ideal: InversePlanner, encounters: Encounter, preferred: np.ndarray
) -> Trapped:
    """Agents as they were met, put on levels where they can reach exactly one object."""
    wanted = encounters.past_real.shape[0]
    levels = eqx.filter_jit(jax.vmap(sample_level, in_axes=(0, None)))(jax.random.split(key, 100 * wanted), MAZE)
    queries = QueryState(levels.walls, levels.start_cell, levels.object_cells)
    distances = np.asarray(ideal.distances(queries))
    alone = np.flatnonzero(np.isfinite(distances).sum(-1) == 1)[:wanted]
    query = pick(queries, alone)
    only, steps = distances[alone].argmin(-1), distances[alone].min(-1)
    met = pick(encounters, slice(len(alone)))
    met = eqx.tree_at(lambda e: e.query, met, query)
    _, trained = learned(observer, met)
    _, best = exact(ideal, met)
    given = {
        name: eats(observed.predictions)[np.arange(len(alone)), only]
        for name, observed in {"observer": trained, "ideal": best}.items()
    }
    favourite = only == preferred[: len(alone)]
    return Trapped(
        levels=len(alone),
        probability=mean_interval(given["observer"]),
        ideal=float(given["ideal"].mean()),
        first_choice=float((eats(trained.predictions).argmax(-1) == only).mean()),
        if_preferred=_mean(given["observer"][favourite]),
        if_not_preferred=_mean(given["observer"][~favourite]),
        if_near=_mean(given["observer"][steps <= NEAR]),
        if_far=_mean(given["observer"][steps >= FAR]),
    )


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
