"""Simple decoders: what an embedding, or a score, tells about an agent."""

import numpy as np


def nearest_neighbour_accuracy(points: np.ndarray, labels: np.ndarray, neighbours: int = 5) -> np.ndarray:
    """For each agent, whether the majority of its nearest other agents shares its label (leave one out)."""
    points, labels = np.asarray(points, np.float64), np.asarray(labels)
    square = (points**2).sum(1)
    distance = square[:, None] + square - 2 * points @ points.T
    np.fill_diagonal(distance, np.inf)
    near = labels[np.argsort(distance, axis=1)[:, : min(neighbours, len(labels) - 1)]]
    kinds = np.unique(labels)
    votes = (near[:, :, None] == kinds).sum(1)
    return (kinds[votes.argmax(1)] == labels).astype(float)


def linear_fit(points: np.ndarray, values: np.ndarray) -> float:
    """R² of the best linear read-out of `values` (several columns, pooled) from `points`."""
    design = np.column_stack([points, np.ones(len(points))]).astype(np.float64)
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(1 - ((values - fitted) ** 2).sum() / ((values - values.mean(0)) ** 2).sum())


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive case scores above a negative one; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    rank = (last - (counts - 1) / 2)[inverse]  # the mean rank within a tie
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return float("nan")
    return float((rank[positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def logistic_scores(train: np.ndarray, labels: np.ndarray, test: np.ndarray, ridge: float = 1e-3) -> np.ndarray:
    """Scores of a logistic read-out fitted on some agents and applied to others (Newton's method)."""
    mean, scale = train.mean(0), train.std(0) + 1e-9

    def design(points):
        return np.column_stack([(points - mean) / scale, np.ones(len(points))])

    inputs, weight = design(train), np.zeros(train.shape[1] + 1)
    for _ in range(25):
        probability = 1 / (1 + np.exp(-np.clip(inputs @ weight, -30, 30)))
        gradient = inputs.T @ (probability - labels) + ridge * weight
        curvature = (inputs * (probability * (1 - probability))[:, None]).T @ inputs + ridge * np.eye(len(weight))
        weight -= np.linalg.solve(curvature, gradient)
    return design(test) @ weight
