"""Learning curves, from metrics made by hand."""

import math

import numpy as np
import pytest
from figures.hand_made_agents import CONDITIONS, metrics

from tomnet.figures.population_training import apart, learning_curves, smooth


def test_each_network_is_counted_for_its_own_condition():
    curves = learning_curves(metrics())
    assert list(curves) == list(CONDITIONS)
    for place, name in enumerate(CONDITIONS):
        assert curves[name]["returns"].shape == (6, 2)  # one network in each chunk
        assert np.allclose(curves[name]["returns"][2], 0.3 + place)
    assert np.isnan(curves["blind"]["returns"][0]).all()  # no episode had ended
    assert np.isnan(curves["3x3"]["returns"][3:, 1]).all()  # it diverged
    assert np.isfinite(curves["3x3"]["returns"][3:, 0]).all()


def test_conditions_are_told_apart_even_in_chunks_smaller_than_their_number():
    """Three networks a chunk and four conditions: the fourth network begins the second chunk."""
    rows = [
        {
            "chunk": chunk,
            "steps": 10,
            "returns": {CONDITIONS[i % 4]: float(i % 4) for i in range(3 * chunk, 3 * chunk + 3)},
            "each": [float(i % 4) for i in range(3 * chunk, 3 * chunk + 3)],
            "diverged": [],
        }
        for chunk in range(4)
    ]
    for place, name in enumerate(CONDITIONS):
        assert (learning_curves(rows)[name]["returns"] == place).all()


def test_a_running_mean_passes_over_what_is_missing():
    values = np.array([[math.nan], [1.0], [3.0], [math.nan], [5.0]])
    assert np.array_equal(smooth(values, window=2)[:, 0], [math.nan, 1.0, 2.0, 3.0, 5.0], equal_nan=True)


def test_names_of_lines_move_apart_as_little_as_need_be():
    assert apart([0.0, 1.0, 2.0], 0.5) == [0.0, 1.0, 2.0]
    assert apart([1.0, 1.0], 0.5) == [0.75, 1.25]
    found = apart([0.0, 0.1, 0.2, 5.0], 1.0)
    assert np.diff(found) == pytest.approx([1.0, 1.0, 3.9])
    assert np.mean(found[:3]) == pytest.approx(0.1)
