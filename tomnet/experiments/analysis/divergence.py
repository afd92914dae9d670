"""How far two distributions are apart, by the paper's measure (its appendix on the Jensen-Shannon divergence)."""

import numpy as np
from numpy.typing import ArrayLike


def jensen_shannon(one: ArrayLike, other: ArrayLike) -> np.ndarray:
    """D_JS over the last axis, in nats: 0 for equal distributions, exactly, and log 2 for those that never overlap."""
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    middle = (one + other) / 2  # of two equal numbers, that number without rounding
    return np.asarray((_relative(one, middle) + _relative(other, middle)) / 2)


def _relative(given: np.ndarray, middle: np.ndarray) -> np.ndarray:
    ratio = np.divide(given, middle, out=np.ones_like(given), where=given > 0)
    return np.asarray((given * np.log(ratio)).sum(-1))
