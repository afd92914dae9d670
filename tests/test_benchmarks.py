"""Benchmarks that no other test runs: settings are read as they are meant, and a trial of each prints its rows."""

import importlib
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import tomnet
from tomnet.fit.dataset import make_dataset
from tomnet.fit.observer_protocol import ask_all
from tomnet.fit.scores import Said
from tomnet.recordings.folder import read_recordings
from tomnet.support import cpu
from tomnet.support.errors import TomnetError

FOLDER = Path(tomnet.__file__).parents[1] / "benchmarks"


@dataclass(frozen=True)
class Learner:
    least: int = 1
    most: int = 2
    rate: float = 0.5

    def __post_init__(self):
        assert self.least <= self.most


@dataclass(frozen=True)
class Network:
    read_out: str = "pool"
    bottleneck: bool = False
    swaps: float | None = 0.1


@dataclass(frozen=True)
class Training:
    learner: Learner = field(default_factory=Learner)
    network: Network = field(default_factory=Network)


@pytest.fixture
def load(monkeypatch):
    """A benchmark as a module, this process left as it is."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr(cpu, "prepare_cpu", lambda: None)
    return importlib.import_module


@pytest.fixture
def changed(load):
    return lambda setting: load("settings").changed(Training(), setting, "learner", "network")


def test_fields_are_put_where_they_belong(changed):
    assert changed("") == Training()
    told = changed("rate=0.25 read_out=cell bottleneck=True swaps=None")
    assert told == Training(Learner(rate=0.25), Network("cell", True, None))


def test_words_need_not_look_like_python(changed):
    assert changed("read_out=5x5").network.read_out == "5x5"


def test_fields_that_only_make_sense_together_change_at_once(changed):
    assert changed("least=8 most=9").learner == replace(Learner(), least=8, most=9)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("read_uot=cell", "unknown setting 'read_uot'; did you mean 'read_out'?"),
        ("rate", "rate = '': a value is missing, as in name=value"),
    ],
)
def test_settings_that_cannot_be(changed, setting, why):
    with pytest.raises(TomnetError) as refused:
        changed(setting)
    assert str(refused.value) == why


TRIALS = {
    "agent_settings": ["--networks", "2", "--steps", "64", "--setting", "belief=0.5"],
    "observer_settings": ["--experiment", "random-agents", "--chunks", "1", "--setting", "batch=2"],
    "devices_agree": ["--encounters", "4", "random-agents/alpha-1"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIALS)
def test_a_trial(load, monkeypatch, capsys, name):
    benchmark = load(name)
    monkeypatch.setattr(sys, "argv", [name, "--preset", "smoke", *TRIALS[name]])
    benchmark.main()
    assert TRIALS[name][-1] in capsys.readouterr().out


def test_reading_is_measured_in_every_format(load, monkeypatch, capsys):
    benchmark = load("read_recordings")
    monkeypatch.setattr(sys, "argv", ["read_recordings", "--episodes", "20", "--agents", "4"])
    benchmark.main()
    out = capsys.readouterr().out
    assert out.startswith("20 episodes of 4 agents")
    for format in ("text", "jsonl", "safetensors"):
        assert f"{format}: read in " in out
        assert f"{format}: check in " in out


def test_following_an_agent_is_measured_for_every_kind_of_observer(load, monkeypatch, capsys):
    benchmark = load("online_answers")
    monkeypatch.setattr(benchmark, "OBSERVERS", ("random-agents/alpha-1",))
    monkeypatch.setattr(sys, "argv", ["online_answers", "--steps", "2"])
    benchmark.main()
    out = capsys.readouterr().out
    for name in ("random-agents/alpha-1", benchmark.UNTRAINED):
        for past in (1, 5):
            assert f"{name}, N_past {past}: a step in " in out


def test_a_page_is_measured_in_every_engine(load, monkeypatch, capsys):
    benchmark = load("page_answers")
    monkeypatch.setattr(sys, "argv", ["page_answers", "--answers", "3"])
    benchmark.main()
    out = capsys.readouterr().out
    for engine in ("node", "chromium"):
        assert f"{engine}, answer: first " in out or f"{engine}, is not installed" in out


def test_the_exact_observer_of_recorded_planners_is_certain_once_it_has_seen_them(load, tmp_path):
    benchmark = load("fit_planners")
    exact = benchmark.write_planners(tmp_path / "episodes", agents=8, episodes=3, seed=0)
    data = make_dataset(read_recordings(tmp_path / "episodes"))
    everyone = np.ones(len(data), bool)
    without, after = (
        Said(past, asked, {"exact": exact.outcomes(data, asked)})
        for past, asked in ((past, ask_all(data, everyone, past, least=2)) for past in (0, 2))
    )
    assert without.outcomes["exact"].sum(-1) == pytest.approx(1)
    assert benchmark.losses(data, after, "exact").mean() < 0.5 < benchmark.losses(data, without, "exact").mean()
    assert benchmark.shares(data, without, after, "exact") == [1, 1, 1]  # of what it knows, it knows all
