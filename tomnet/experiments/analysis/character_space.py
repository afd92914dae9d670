"""What the character embeddings of a pool of agents tell: read-outs, what each dimension carries, and clusters in it.

Read-outs are fitted on the agents that the observer was trained with and scored on those it never met: an agent's
neighbours then never share its network.
"""

import dataclasses
from typing import Literal

import numpy as np
from jaxtyping import Float

from ...observer.tomnet import Reading
from .statistics import UNKNOWN, Estimate, bootstrap

USED, COLLAPSED = 0.1, 0.05  # nats of KL(posterior ‖ prior), on average: above, below
TELLING = 0.1  # share of a dimension's variance that a factor must explain to be what it carries
NEIGHBOURS = 5

Confusion = Float[np.ndarray, "true told"]
"""Shares of the encounters with agents of each kind."""
Factor = Literal["species", "object", "other"]


# --- Read-outs


def neighbour_read_out(
    known: np.ndarray, labels: np.ndarray, points: np.ndarray, neighbours: int = NEIGHBOURS
) -> np.ndarray:
    """The label that most of the nearest known points have, for each point."""
    known, points = np.asarray(known, np.float64), np.asarray(points, np.float64)
    kinds, found = np.unique(labels), []
    for some in np.array_split(points, -(-len(points) // 512)):  # a table of all distances may not fit
        distance = (known**2).sum(1) - 2 * some @ known.T
        near = labels[np.argsort(distance, axis=1, kind="stable")[:, :neighbours]]
        found.append(kinds[(near[:, :, None] == kinds).sum(1).argmax(1)])
    return np.concatenate(found)


def linear_read_out(known: np.ndarray, labels: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The label whose indicator, fitted linearly by least squares, is largest at each point."""
    kinds = np.unique(labels)

    def design(some: np.ndarray) -> np.ndarray:
        return np.column_stack([some, np.ones(len(some))]).astype(np.float64)

    weights = np.linalg.lstsq(design(known), (labels[:, None] == kinds).astype(float), rcond=None)[0]
    return kinds[(design(points) @ weights).argmax(1)]


READ_OUTS = {"neighbours": neighbour_read_out, "linear": linear_read_out}


@dataclasses.dataclass(frozen=True)
class ReadOut:
    """How well something is told of agents never met."""

    accuracy: Estimate
    confusion: Confusion


def confusion(labels: np.ndarray, told: np.ndarray, kinds: int) -> Confusion:
    table = np.zeros((kinds, kinds))
    np.add.at(table, (labels, told), 1)
    return table / np.maximum(table.sum(1, keepdims=True), 1)


# --- Dimensions


@dataclasses.dataclass(frozen=True)
class Posteriors:
    """Of e_char, `[encounter, dimension]`."""

    mean: np.ndarray
    deviation: np.ndarray
    nats: np.ndarray  # KL from the prior

    @staticmethod
    def of(reading: Reading) -> "Posteriors":
        character = reading.character
        assert character.log_variance is not None
        deviation = np.exp(0.5 * np.asarray(character.log_variance, np.float64))
        return Posteriors(np.asarray(character.mean, np.float64), deviation, np.asarray(character.divergence()))


@dataclasses.dataclass(frozen=True)
class Dimension:
    """What one dimension of the embedding holds in nats, and what about."""

    dimension: int
    nats: float
    used: bool
    collapsed: bool
    species_share: float  # of its variance
    object_share: float
    carries: Factor | None

    def share(self, factor: Factor) -> float:
        return self.species_share if factor == "species" else self.object_share


def explained(values: np.ndarray, labels: np.ndarray) -> float:
    """The share of the variance that lies between the groups, less what chance puts there; 0 where nothing varies.

    Many small groups explain much by chance alone, and factors with different numbers of them are compared here.
    """
    total, kinds = ((values - values.mean()) ** 2).sum(), np.unique(labels)
    spare = len(values) - len(kinds)
    if not total > 0 or spare < 1:
        return 0.0
    within = sum(((values[labels == kind] - values[labels == kind].mean()) ** 2).sum() for kind in kinds)
    return float(max(0.0, 1 - (within / spare) / (total / (len(values) - 1))))


def dimension_table(
    nats: np.ndarray, means: np.ndarray, species: np.ndarray, preferred: np.ndarray, sighted: np.ndarray
) -> list[Dimension]:
    """From `[agent, dimension]` tables.

    A used dimension carries the object if, among the sighted agents of a species, preferences explain more of its
    variance than species do among all agents; the species if it is the other way round; and something else where
    neither explains a tenth.
    """
    within = means.copy()
    for kind in np.unique(species):
        within[species == kind] -= means[species == kind].mean(0)
    rows = []
    for dimension, held in enumerate(nats.mean(0)):
        by_species = explained(means[:, dimension], species)
        by_object = explained(within[sighted, dimension], preferred[sighted])
        used = bool(held > USED)
        carries = _factor(by_species, by_object) if used else None
        rows.append(Dimension(dimension, float(held), used, bool(held < COLLAPSED), by_species, by_object, carries))
    return rows


def _factor(by_species: float, by_object: float) -> Factor:
    if max(by_species, by_object) < TELLING:
        return "other"
    return "object" if by_object > by_species else "species"


def dimensions_of(rows: list[Dimension], factor: Factor) -> list[int]:
    """Those that carry a factor, the most informative first."""
    carrying = [row for row in rows if row.carries == factor]
    return [row.dimension for row in sorted(carrying, key=lambda row: -row.nats)]


def shown_pair(rows: list[Dimension], factor: Factor) -> list[int]:
    """Two dimensions to draw a factor in: those that carry it, and where they are too few, where it shows most."""
    carrying = dimensions_of(rows, factor)
    rest = sorted(rows, key=lambda row: (-row.nats * row.share(factor), row.dimension))
    return (carrying + [row.dimension for row in rest if row.dimension not in carrying])[:2]


# --- Clusters


@dataclasses.dataclass(frozen=True)
class Clusters:
    """Two clusters of points, and whether two describe them better than one."""

    labels: np.ndarray  # 0 or 1
    centres: np.ndarray  # [2, dimension]
    gain: float  # how much lower the BIC of two round clusters is than that of one
    silhouette: float

    def along(self, points: np.ndarray) -> np.ndarray:
        """How far each point is from the middle towards the second centre; at the centres ∓ half their distance."""
        axis = self.centres[1] - self.centres[0]
        return (points - self.centres.mean(0)) @ axis / max(float(np.linalg.norm(axis)), 1e-12)


def two_clusters(points: np.ndarray) -> Clusters:
    """Two round Gaussians of one width, by EM from the best 2-means; no labels are used."""
    points = np.asarray(points, np.float64)
    if len(points) < 3:
        return Clusters(np.zeros(len(points), int), np.stack([points.mean(0)] * 2), float("nan"), float("nan"))
    labels = _two_means(points)
    centres, log_likelihood, labels = _two_gaussians(points, labels)
    count, dimensions = points.shape
    spread = max(float(((points - points.mean(0)) ** 2).mean()), SMALLEST)
    alone = -0.5 * count * dimensions * (np.log(2 * np.pi * spread) + 1)
    # of two: the centres, the width, and the share of the first
    gain = 2 * (log_likelihood - alone) - (dimensions + 1) * np.log(count)
    return Clusters(labels, centres, float(gain), silhouette(points, labels))


SMALLEST = 1e-6  # a variance: copies of one point are no cluster of width zero


def _two_means(points: np.ndarray) -> np.ndarray:
    """Lloyd's algorithm from every pair of points: with so few of them, the best there is."""
    best, labels = np.inf, np.zeros(len(points), int)
    for first in range(len(points)):
        for second in range(first):
            centres = points[[first, second]]
            for _ in range(20):
                distance = ((points[:, None] - centres) ** 2).sum(-1)
                near = distance.argmin(1)
                if near.min() == near.max():
                    break
                centres = np.stack([points[near == side].mean(0) for side in (0, 1)])
            cost = distance.min(1).sum()
            if cost < best - 1e-12 and near.min() < near.max():
                best, labels = cost, near
    return labels


def _two_gaussians(points: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    count, dimensions = points.shape
    belongs = np.stack([labels == 0, labels == 1], 1).astype(float)
    log_likelihood = -np.inf
    centres = np.stack([points.mean(0)] * 2)
    for _ in range(100):
        held = belongs.sum(0)
        if held.min() < 1e-9:  # one took everything: there are no two
            break
        centres = (belongs.T @ points) / held[:, None]
        distance = ((points[:, None] - centres) ** 2).sum(-1)
        spread = max(float((belongs * distance).sum() / (count * dimensions)), SMALLEST)
        log_density = np.log(held / count) - 0.5 * distance / spread - 0.5 * dimensions * np.log(2 * np.pi * spread)
        each = np.logaddexp(log_density[:, 0], log_density[:, 1])
        belongs = np.exp(log_density - each[:, None])
        if each.sum() < log_likelihood + 1e-9:
            break
        log_likelihood = float(each.sum())
    return centres, log_likelihood, belongs.argmax(1)


def silhouette(points: np.ndarray, labels: np.ndarray) -> float:
    """How much nearer points are to their own cluster than to the other, on average: 1 at best; nan without two."""
    if labels.min() == labels.max() or len(points) < 3:
        return float("nan")
    distance = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    own = labels[:, None] == labels
    alone = own.sum(1) == 1
    inner = np.where(own, distance, 0).sum(1) / np.maximum(own.sum(1) - 1, 1)
    outer = np.where(own, 0, distance).sum(1) / (~own).sum(1)
    each = np.where(alone, 0, (outer - inner) / np.maximum(np.maximum(inner, outer), 1e-12))
    return float(each.mean())


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Whether two clusters are what a signed statistic tells apart."""

    accuracy: Estimate  # the share of points whose sign the clusters tell
    correlation: Estimate  # of the statistic with the place along the clusters' axis
    turned: float  # 1, or -1 where the axis points from the positive to the negative ones
    positive: int
    negative: int


def cluster_agreement(along: np.ndarray, sides: np.ndarray, statistic: np.ndarray) -> Agreement:
    """Whether two clusters (`sides`, and how far `along` their axis) are what a signed statistic tells apart.

    Which cluster is which sign is not known: the better of the two namings counts. Both signs weigh the same, however
    many points have them; where all have one, there is nothing to tell apart.
    """
    positive = statistic > 0
    turned = -1.0 if correlation(along, statistic) < 0 else 1.0
    sides = sides.astype(bool)
    tells = np.isfinite(told_apart(sides, positive))  # otherwise hardly any resample does
    matched = bootstrap(told_apart, sides, positive) if tells else UNKNOWN
    together = fisher_interval(correlation(turned * along, statistic), len(along))
    return Agreement(matched, together, turned, int(positive.sum()), int((~positive).sum()))


def fisher_interval(value: float, count: int) -> Estimate:
    """A correlation with its 95% interval; resampling would be too sure of itself with a handful of points."""
    if count < 4 or not np.isfinite(value):
        return dataclasses.replace(UNKNOWN, mean=value, count=count)
    middle, error = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9)), 1.96 / np.sqrt(count - 3)
    return Estimate(value, float(np.tanh(middle - error)), float(np.tanh(middle + error)), count)


def told_apart(sides: np.ndarray, positive: np.ndarray) -> float:
    """The share of each sign on its side, averaged; nan where there is only one sign."""
    if positive.all() or not positive.any():
        return float("nan")
    one = (sides[positive].mean() + (~sides[~positive]).mean()) / 2
    return float(max(one, 1 - one))


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Pearson's; nan where either does not vary."""
    if len(one) < 3 or not one.std() > 1e-12 or not other.std() > 1e-12:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])
