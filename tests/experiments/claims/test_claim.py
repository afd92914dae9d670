"""Verdicts, and references that could not be measured."""

import pytest

from tomnet.experiments.claims.claim import if_measured, verdict


@pytest.mark.parametrize(
    ("reproduced", "partly", "said"),
    [
        (True, True, "reproduced"),
        (True, False, "reproduced"),
        (False, True, "partly"),
        (False, False, "not reproduced"),
    ],
)
def test_a_verdict_has_three_values(reproduced, partly, said):
    assert verdict(reproduced, partly) == said


def test_a_reference_that_was_not_measured_is_none():
    assert if_measured(0.5) == 0.5
    assert if_measured(float("nan")) is None
