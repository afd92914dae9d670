"""Who resembles whom: a map of the space of characters, and whether agents fall into clusters there.

Agents are joined by Ward's rule, and split into as many clusters as give the largest mean silhouette. Any cloud has a
best split: one counts only if its silhouette is 0.5 or more, which Kaufman and Rousseeuw (1990) call a reasonable
structure, and larger than that of 99% of Gaussian clouds of as many points and the same covariance. What is split is
looked at again, cluster by cluster, because clusters far apart hide nearer ones.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, pdist, squareform

from .result import Resemblance

FEWEST, MOST = 4, 3000  # agents that are clustered
MOST_CLUSTERS = 8
CLOUDS, CLOUD_POINTS = 200, 300  # fewer points than agents make the rule stricter, and it stays quick
REASONABLE, LEVEL = 0.5, 0.99
ALIKE = 1e-5  # of the length of the embeddings: what is nearer than that is rounding
NEIGHBOURS = 3

Characters = Float[np.ndarray, "agent feature"]


def place(characters: Characters) -> tuple[Float[np.ndarray, "agent 2"], list[str]]:
    """The map and what its axes are: two dimensions as they are, more by their principal axes."""
    features = characters.shape[1]
    if features <= 2:
        wide = np.pad(characters, ((0, 0), (0, 2 - features)))
        return wide, [f"character, dimension {number + 1}" for number in range(2)]
    centred = characters - characters.mean(0)
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    axes = np.pad(axes[:2], ((0, max(2 - len(axes), 0)), (0, 0)))
    axes *= np.where(axes.sum(1, keepdims=True) < 0, -1, 1)  # which way an axis points is anybody's choice
    names, spread = ["principal axis 1", "principal axis 2"], (lengths**2).sum()
    if spread > 0:
        shares = np.pad(lengths**2, (0, 2))[:2] / spread
        names = [f"{name} ({share:.0%} of the spread)" for name, share in zip(names, shares, strict=True)]
    return centred @ axes.T, names


def find_clusters(characters: Characters, axes: list[str]) -> tuple[Resemblance, Sequence[int | None]]:
    """What can be said of clusters, and the cluster of each agent, the largest first."""
    count, nobody = len(characters), [None] * len(characters)
    if count == 1:
        return Resemblance(axes, 0, None, "A single agent: there is nobody to compare it with."), nobody
    if not _differ(characters):
        return Resemblance(axes, 0, None, "All agents are alike to this observer."), nobody
    if not FEWEST <= count <= MOST:
        why = f"Clusters are looked for among {FEWEST} to {MOST:,} agents, and there are {count:,}."
        return Resemblance(axes, 0, None, why), nobody
    labels = split(characters)
    found = int(labels.max())
    if found == 1:
        silhouette, best = best_split(characters)
        told = f"No clusters are apart: the best split, into {best.max()}, has a mean silhouette of {silhouette:.2f}, "
        return Resemblance(axes, 0, silhouette, f"{told}and a single cloud may split as well."), nobody
    silhouette = mean_silhouette(squareform(pdist(characters)), labels)
    told = f"The agents fall into {found} clusters, with a mean silhouette of {silhouette:.2f}."
    alone = int((np.bincount(labels) == 1).sum())
    if alone:
        told += f" {alone} of these {'is' if alone == 1 else 'are'} one agent alone."
    return Resemblance(axes, found, silhouette, told), labels.tolist()


def split(points: Characters) -> Int[np.ndarray, "agent"]:
    """Clusters that are apart, counted from 1, the largest first; all in one where none are."""
    labels = np.ones(len(points), int)
    if len(points) < FEWEST or not _differ(points):
        return labels
    silhouette, parts = best_split(points)
    if silhouette < REASONABLE:
        return labels
    as_good = np.mean([best_split(cloud)[0] >= silhouette for cloud in _clouds(points)])
    if as_good > 1 - LEVEL:
        return labels
    for part in np.unique(parts):
        labels[parts == part] = MOST * part + split(points[parts == part])  # numbers that no other part has
    return _by_size(labels)


def _differ(points: Characters) -> bool:
    return bool(np.ptp(points, axis=0).max() > ALIKE * max(np.abs(points).max(), 1.0))


def best_split(points: Characters) -> tuple[float, Int[np.ndarray, "agent"]]:
    """The largest mean silhouette of any number of clusters, and the clusters, counted from 1."""
    flat = pdist(points)
    tree, distances = linkage(flat, "ward"), squareform(flat)
    splits = [fcluster(tree, count, "maxclust") for count in range(2, min(MOST_CLUSTERS, len(points) - 1) + 1)]
    best = max(splits, key=lambda labels: mean_silhouette(distances, labels))
    return mean_silhouette(distances, best), best


def mean_silhouette(distances: Float[np.ndarray, "agent agent"], labels: Int[np.ndarray, "agent"]) -> float:
    """How much nearer agents are to their own cluster than to the next, from -1 to 1; whoever is alone counts 0."""
    member = labels[:, None] == np.unique(labels)
    if member.shape[1] < 2:
        return 0.0
    sizes, total = member.sum(0), distances @ member
    own_size = (member * sizes).sum(1)
    own = (total * member).sum(1) / np.maximum(own_size - 1, 1)
    other = np.where(member, np.inf, total / sizes).min(1)
    larger = np.maximum(own, other)
    alone = (own_size == 1) | (larger == 0)
    return float(np.where(alone, 0, (other - own) / np.where(alone, 1, larger)).mean())


def _by_size(labels: Int[np.ndarray, "agent"]) -> Int[np.ndarray, "agent"]:
    names, counts = np.unique(labels, return_counts=True)
    rank = np.argsort(np.argsort(-counts, kind="stable"))
    return rank[np.searchsorted(names, labels)] + 1


def _clouds(characters: Characters) -> list[Characters]:
    centred = characters - characters.mean(0)
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    random, points = np.random.default_rng(0), min(len(characters), CLOUD_POINTS)
    return [random.normal(size=(points, len(lengths))) * lengths @ axes for _ in range(CLOUDS)]


def neighbours(characters: Characters, names: Sequence[str]) -> list[list[str]]:
    """The few others that are most like each."""
    found = []
    for number, character in enumerate(characters):
        far = cdist(character[None], characters)[0]
        far[number] = np.inf
        found.append([names[other] for other in np.argsort(far, kind="stable")[: min(NEIGHBOURS, len(names) - 1)]])
    return found
