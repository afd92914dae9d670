"""Confidences that are known to be right so often, and what is said of them."""

import numpy as np
import pytest

from tomnet.experiments.analysis.calibration import calibration_error, reliability


def test_reliability_counts_how_often_a_confidence_was_right():
    confidence = np.array([0.05, 0.72, 0.78, 0.75, 0.75, 1.0])
    right = np.array([False, True, True, True, False, True])
    rows = reliability(confidence, right)
    assert [(row.low, row.count) for row in rows] == [(0.0, 1), (0.7, 4), (0.9, 1)]
    assert rows[1].frequency == pytest.approx(0.75)
    assert rows[1].confidence == pytest.approx(0.75)
    assert calibration_error(rows) == pytest.approx(0.05 / 6)


def test_overconfidence_is_a_calibration_error():
    rows = reliability(np.full(10, 0.95), np.arange(10) < 5)
    assert calibration_error(rows) == pytest.approx(0.45)


def test_of_nothing_said_nothing_is_off():
    assert reliability(np.zeros(0), np.zeros(0, bool)) == []
    assert calibration_error([]) == 0
