"""Whether what is said to be so likely comes true so often: a reliability table, and the error that it makes."""

import dataclasses

import numpy as np

BINS = 10  # equally wide


@dataclasses.dataclass(frozen=True)
class ReliabilityBin:
    """How often the likeliest came true, where it was given a probability between the bounds."""

    low: float
    high: float
    confidence: float
    frequency: float
    count: int


def reliability(confidence: np.ndarray, right: np.ndarray) -> list[ReliabilityBin]:
    """Empty bins are left out."""
    which = np.minimum((confidence * BINS).astype(int), BINS - 1)
    rows = []
    for number in range(BINS):
        mine = which == number
        if mine.any():
            sure, often = float(confidence[mine].mean()), float(right[mine].mean())
            rows.append(ReliabilityBin(number / BINS, (number + 1) / BINS, sure, often, int(mine.sum())))
    return rows


def calibration_error(rows: list[ReliabilityBin]) -> float:
    """Expected calibration error: the mean gap between confidence and frequency, bins weighing as much as they hold;
    0 of nothing said."""
    count = sum(row.count for row in rows)
    return sum(row.count * abs(row.confidence - row.frequency) for row in rows) / max(count, 1)
