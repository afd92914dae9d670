"""Fig. 9: two clusters among stateless networks, found without labels: wall followers by the left or the right hand?

And which way the policies turn that are expected of an agent at either cluster's mean.
"""

import dataclasses

import jax
import numpy as np
from jaxtyping import Float, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...episodes.episode import QueryState
from ...observer.tomnet import ToMnet
from ...support.trees import pick
from ...world.gridworld import SUBGOAL_MAZE, Level
from ...world.levels import draw_levels
from .character_space import Agreement, Clusters, Dimension, Posteriors, cluster_agreement, shown_pair, two_clusters
from .divergence import jensen_shannon
from .evaluation_set import EvaluationSet, predict_everything
from .examples import PlainState, plain_state
from .handedness import index_interval, moves_along_walls
from .performance import behave
from .query_fields import every_cell, policy_arrows
from .statistics import Estimate, mean_interval
from .three_species import SPECIES

STATELESS = SPECIES.index("stateless-5x5")
HAND_LEVELS, FIELD_LEVELS, SHOWN_LEVELS = 64, 16, 2


@dataclasses.dataclass(frozen=True)
class Hand:
    """Which hand a network follows walls with, on levels that no observer saw it on."""

    network: int
    index: Estimate
    moves: int


@dataclasses.dataclass(frozen=True)
class ClusteredNetwork:
    hand: Hand
    cluster: int
    along: float  # the clusters' axis, from their middle
    preferred: int
    mean: Float[np.ndarray, "encounter 2"]  # of its posteriors, in the two dimensions shown
    deviation: Float[np.ndarray, "encounter 2"]


@dataclasses.dataclass(frozen=True)
class WallFollowers:
    """Clusters among stateless networks, found without labels, beside the hand that each follows walls with."""

    dimensions: list[int]  # in which clusters are looked for
    gain: float
    silhouette: float
    pair: list[int]  # the two dimensions shown
    agreement: Agreement
    centres: Float[np.ndarray, "cluster 2"]
    each: list[ClusteredNetwork]


@dataclasses.dataclass(frozen=True)
class ShownField:
    """Resultant vectors of the policies expected at the two clusters' means, and D_JS between those policies."""

    query: PlainState
    one: Float[np.ndarray, "cell 2"]
    other: Float[np.ndarray, "cell 2"]
    divergence: Float[np.ndarray, "cell"]


@dataclasses.dataclass(frozen=True)
class PolicyFields:
    """Fig. 9c: policies expected of an agent at each cluster's mean, from every cell; and which way they turn."""

    shown: list[ShownField]
    rule: str
    levels: int
    anticlockwise: list[Estimate]
    difference: Estimate


def hand_table(key: Key[Scalar, ""], met: EvaluationSet) -> list[Hand]:
    """Of each stateless network."""
    level_key, act_key = jax.random.split(key)
    levels = draw_levels(level_key, HAND_LEVELS, SUBGOAL_MAZE)
    rows = []
    for network in _stateless_networks(met):
        # its agents differ in what they are after, not in how they walk: one is enough
        agent: DeepAgent = pick(met.agents, int(np.flatnonzero(met.network == network)[0]))
        episodes, _ = behave(jax.random.fold_in(act_key, int(network)), agent, levels, SUBGOAL_MAZE)
        left, right = moves_along_walls(episodes)
        rows.append(Hand(int(network), index_interval(left, right), int((left + right).sum())))
    return rows


def _stateless_networks(met: EvaluationSet) -> np.ndarray:
    return np.unique(met.network[met.species == STATELESS])


def wall_follower_table(
    met: EvaluationSet, posteriors: Posteriors, dimensions: list[Dimension], hands: list[Hand]
) -> tuple[WallFollowers, Clusters]:
    """The table, and the clusters with their centres in all dimensions, for predictions.

    Agents of one network differ in what they prefer and in nothing else, so that a network counts once; and clusters
    are looked for where preferences do not show.
    """
    where = [row.dimension for row in dimensions if row.used and row.carries != "object"]
    where = where or list(range(len(dimensions)))
    each = met.means(posteriors.mean)
    points = np.stack([each[met.network == network].mean(0) for network in _stateless_networks(met)])
    clusters = two_clusters(points[:, where])
    along = clusters.along(points[:, where])
    pair = shown_pair(dimensions, "species")
    parts = [points[clusters.labels == side] for side in (0, 1)]
    whole = np.stack([(part if len(part) else points).mean(0) for part in parts])  # an empty one is where everyone is

    def clustered(hand: Hand, cluster: int, along: float) -> ClusteredNetwork:
        agent = int(np.flatnonzero(met.network == hand.network)[0])
        encounters = np.flatnonzero(met.who == agent)
        mean, deviation = posteriors.mean[encounters][:, pair], posteriors.deviation[encounters][:, pair]
        return ClusteredNetwork(hand, cluster, along, int(met.preferred[agent]), mean, deviation)

    table = WallFollowers(
        dimensions=where,
        gain=clusters.gain,
        silhouette=clusters.silhouette,
        pair=pair,
        agreement=cluster_agreement(along, clusters.labels, np.nan_to_num([hand.index.mean for hand in hands])),
        centres=whole[:, pair],
        each=[clustered(hand, int(side), float(at)) for hand, side, at in zip(hands, clusters.labels, along)],
    )
    return table, dataclasses.replace(clusters, centres=whole)


def policy_field_table(key: Key[Scalar, ""], observer: ToMnet, clusters: Clusters) -> PolicyFields:
    levels = draw_levels(key, FIELD_LEVELS, SUBGOAL_MAZE)
    shown, turns = [], []
    for number in range(FIELD_LEVELS):
        level: Level = pick(levels, number)
        query = QueryState(level.walls, level.start_cell, level.object_cells)
        cells = every_cell(query)
        policies = []
        for centre in clusters.centres:
            character = np.broadcast_to(centre, (cells.agent_cell.shape[0], len(centre))).astype(np.float32)
            policies.append(np.exp(np.asarray(predict_everything(observer, character, cells).action)))
        one, other = (policy_arrows(policy) for policy in policies)
        turns.append([circulation(arrows, query) for arrows in (one, other)])
        if number < SHOWN_LEVELS:
            shown.append(ShownField(plain_state(query), one, other, jensen_shannon(*policies)))
    turns = np.array(turns)
    return PolicyFields(
        shown=shown,
        rule=f"the first {SHOWN_LEVELS} of {FIELD_LEVELS} levels",
        levels=FIELD_LEVELS,
        anticlockwise=[mean_interval(turns[:, side]) for side in (0, 1)],
        difference=mean_interval(turns[:, 0] - turns[:, 1]),
    )


def circulation(arrows: np.ndarray, query: QueryState) -> float:
    """How much a field of (row, col) steps turns anticlockwise around the middle: -1 to 1, mean over free cells."""
    size = query.walls.shape[-1]
    rows, cols = np.divmod(np.arange(size * size), size)
    down, across = rows - (size - 1) / 2, cols - (size - 1) / 2
    radius = np.hypot(down, across)
    things = np.asarray(query.object_cells)
    free = ~np.asarray(query.walls).reshape(-1) & ~np.isin(np.arange(size * size), things) & (radius > 0)
    turning = (down * arrows[:, 1] - across * arrows[:, 0]) / np.where(radius > 0, radius, 1)
    return float(turning[free].mean())
