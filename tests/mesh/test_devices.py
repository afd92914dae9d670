"""The same training on one device and on eight: the same draws, the same losses but for rounding, the same files."""

import shutil

import numpy as np
import pytest

from tomnet.agents.population_training import STATE_FORMAT as POPULATION_STATE
from tomnet.agents.population_training import VERSION as POPULATION_VERSION
from tomnet.observer.checkpoint import load_observer
from tomnet.support.array_files import load_arrays
from tomnet.support.json_files import read_json, read_jsonl
from tomnet.support.named_arrays import named_arrays
from tomnet.support.run_folder import CHECKPOINT, CONFIG, METRICS

TOLERANCE = 1e-4


def same_losses(run, other) -> None:
    rows = [read_jsonl(folder / METRICS) for folder in (run, other)]
    assert len(rows[0]) == len(rows[1]) == 4
    for row, expected in zip(*rows, strict=True):
        assert row.keys() == expected.keys()
        for name in row.keys() - {"seconds"}:
            same_numbers(row[name], expected[name])


def same_numbers(one, other) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    np.testing.assert_allclose(np.array(one, float), np.array(other, float), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.fixture(scope="module")
def runs(work, tmp_path_factory):
    """By kind and name; each was stopped after half of its steps and resumed, but for `one` and `eight`."""
    root = tmp_path_factory.mktemp("runs")
    kinds = ("observer", "population")
    jobs = [(kind, str(root / kind / name), devices) for kind in kinds for name, devices in (("one", 1), ("eight", 8))]
    jobs += [(kind, str(root / kind / "eight-one"), *how) for kind in kinds for how in ((8, 10), (1,))]
    said = work([("draws", "", 1), ("draws", "", 8), *jobs])
    return root, said[0].split()


def test_the_draws_do_not_depend_on_the_number_of_devices(runs):
    one, eight = runs[1]
    assert one == eight


@pytest.mark.parametrize("kind", ["observer", "population"])
def test_eight_devices_come_to_the_losses_of_one(runs, kind):
    same_losses(runs[0] / kind / "eight", runs[0] / kind / "one")


@pytest.mark.parametrize("kind", ["observer", "population"])
def test_one_device_goes_on_with_what_eight_began(runs, kind):
    folder = runs[0] / kind / "eight-one"
    same_losses(folder, runs[0] / kind / "one")
    assert [about["environment"].get("devices", 1) for about in read_json(folder / CONFIG)["resumed"]] == [1]
    assert read_json(folder / CONFIG)["about"]["environment"]["devices"] == 8


def test_the_run_is_the_same_run_on_any_number_of_devices(runs):
    for kind in ("observer", "population"):
        told = [read_json(runs[0] / kind / name / CONFIG)["settings"] for name in ("one", "eight")]
        assert told[0] == told[1]


def test_the_observers_are_the_same(runs):
    one, eight = (
        named_arrays(load_observer(runs[0] / "observer" / name / "observer.safetensors")[0])
        for name in ("one", "eight")
    )
    for name, array in one.items():
        np.testing.assert_allclose(array, eight[name], rtol=1e-3, atol=1e-4, err_msg=name)


def test_two_processes_of_four_devices_come_to_the_losses_of_one(several, runs, work, tmp_path):
    kinds = ("observer", "population")
    work([(kind, str(tmp_path / kind), 8) for kind in kinds], processes=2)
    for kind in kinds:
        same_losses(tmp_path / kind, runs[0] / kind / "one")


def test_one_device_goes_on_with_what_two_processes_began(several, runs, work, tmp_path):
    kinds = ("observer", "population")
    work([(kind, str(tmp_path / kind), 8, 10) for kind in kinds], processes=2)
    arrays, header = load_arrays(tmp_path / "population" / CHECKPOINT, POPULATION_STATE, POPULATION_VERSION)
    assert header["updates"] == 10
    assert {len(array) for array in arrays.values()} == {8}  # whole networks, of all devices
    alone = tmp_path / "alone"
    shutil.copytree(tmp_path / "observer", alone / "observer")
    shutil.copytree(tmp_path / "population", alone / "population")
    work([(kind, str(alone / kind), 1) for kind in kinds])
    for kind in kinds:
        same_losses(alone / kind, runs[0] / kind / "one")
