"""The benchmarks run, and count what they say they count."""

import pytest
from agents.small import SMALL

from tomnet.agents import population
from tomnet.cli import bench
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.support.progress import narrated

TINY = bench.Sizes(worlds=8, steps=4, agents=4, batches=1, repeats=2, preset="smoke", training="smoke")


@pytest.mark.parametrize(("part", "rows"), [("world", 4), ("agents", 2)])
def test_every_rate_is_positive(part, rows):
    measured = list(bench.bench([part], TINY))
    assert len(measured) == rows
    assert all(row.part == part and row.median > 0 for row in measured)


def test_learning_is_timed_in_steps_of_all_agents(monkeypatch):
    monkeypatch.setitem(bench.POPULATION_PRESETS, "smoke", SMALL)
    (row,) = bench.bench(["learning"], TINY)
    assert row.unit == "agent-steps/s"
    assert row.median > 0
    assert (row.notes["networks"], row.notes["worlds"], row.notes["unroll"]) == (2, 4, 4)


def test_learning_is_timed_on_a_gpu_as_the_full_population_is_trained():
    full = bench.POPULATION_PRESETS[bench.GPU_SIZES.training]
    assert (full.chunk, full.learner.worlds, full.learner.unroll) == (144, 64, 32)


def test_the_observer_is_timed_in_encounters_and_frames(monkeypatch):
    monkeypatch.setattr(bench, "EXPERIMENTS", {"goal-inference": EXPERIMENTS["goal-inference"]})
    (row,) = bench.bench(["observer"], TINY)
    assert row.unit == "encounters/s"
    assert row.notes["frames/s"] >= row.median  # every past episode has a step at least
    assert row.notes["padding skipped"].endswith("%")


def test_observers_of_agents_that_are_not_there_are_left_out_and_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(population, "PRETRAINED", tmp_path)
    monkeypatch.setattr(bench, "EXPERIMENTS", {"false-beliefs": EXPERIMENTS["false-beliefs"]})
    with narrated("bench"):
        assert list(bench.bench(["observer"], TINY)) == []
    assert "false-beliefs is left out: the zoo holds no agents" in capsys.readouterr().err


def test_a_rate_is_a_median_over_repeats_without_the_first_call(monkeypatch):
    seconds = iter([100.0, 1.0, 4.0, 2.0])  # the first call compiles
    monkeypatch.setattr(bench, "seconds_of", lambda call: next(seconds))
    row = bench.measurement("part", "what", "steps/s", 8, lambda: None, 3)
    assert row.median == 4.0
    assert row.notes["range"] == "2 … 8"


def test_a_row_comes_as_soon_as_it_is_measured_and_its_beginning_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(bench, "seconds_of", lambda call: 1.0)
    with narrated("bench"):
        rows = bench.bench(["agents"], TINY)
        assert next(rows).what.startswith("planners")
        said = capsys.readouterr().err
    assert "bench: agents, planners, a fresh level for each episode" in said
    assert "random agents" not in said  # not begun before the first was handed over
