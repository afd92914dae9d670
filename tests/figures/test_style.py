import math

import numpy as np
import pytest

from tomnet.experiments.analysis.statistics import UNKNOWN, Estimate
from tomnet.figures import style


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.12345, 3, "0.123"),
        (None, 3, "—"),
        (math.inf, 3, "—"),
        (-1.5, 1, "−1.5"),
        (0.0, 3, "0.000"),
        (4e-5, 3, "0.00004"),
        (1e-4, 3, "0.0001"),
        (-4e-9, 3, "−4e−09"),
    ],
)
def test_numbers_for_readers(value, digits, text):
    assert style.plain(value, digits) == text


def test_percent():
    assert style.percent(0.876) == "88%"
    assert style.percent(-0.5) == "−50%"
    assert style.percent(None) == "—"


def test_whiskers_are_distances_and_absent_where_there_is_no_interval():
    estimates = [Estimate(0.5, 0.4, 0.7, 9), UNKNOWN, Estimate(1.0, math.nan, math.nan, 1)]
    assert style.whiskers(estimates) == pytest.approx(np.array([[0.1, 0, 0], [0.2, 0, 0]]))


def test_a_tint_runs_from_white_to_the_colour():
    assert style.tint("#0072B2", 0.0) == (1, 1, 1)
    assert style.tint("#FF0000", 1.0) == (1, 0, 0)
