"""One file of every kind that tomnet reads, and how it is read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from agents.small import made_up_population
from fit.small import two_kinds
from helpers import made_up, random_encounters
from recordings.made_up import SIMPLE_TEXT, simple

import tomnet
from tomnet.agents import population_training
from tomnet.agents.population import load_population, save_population
from tomnet.episodes.store import load_episodes, save_episodes
from tomnet.experiments.ceiling import Ceiling, read_ceiling, save_ceiling
from tomnet.experiments.run import load_result
from tomnet.fit.dataset import schema_of
from tomnet.fit.fitted_observer import FittedObserver, load_fitted, save_fitted
from tomnet.fit.inverse_planner import InversePlanner
from tomnet.fit.steps import StepModel
from tomnet.fit.tomnet_observer import ToMnetObserver
from tomnet.observer.checkpoint import load_observer, load_state, save_observer, save_state
from tomnet.observer.config import ObserverConfig
from tomnet.recordings.folder import read_recordings, write_recordings
from tomnet.report.results_file import read_results
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.json_files import append_jsonl, truncate_jsonl, write_json
from tomnet.support.run_folder import CONFIG, METRICS, Run, enter_run, read_run

SMALL = ObserverConfig(size=3, objects=1, channels=4, character_channels=4, character_depth=1, torso_depth=1)
ROOT = Path(tomnet.__file__).parents[1]


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, one of them in a folder, and its reader."""

    file: str
    write: Callable[[Path], Any]
    read: Callable[[Path], Any]


def write_fitted(path: Path) -> None:
    recordings = two_kinds(2, 2)
    weights = {0: 0.5, 1: 0.7}
    planner = InversePlanner(np.arange(4.0), 0.1, StepModel(np.zeros(5), 1.0))
    observer = FittedObserver(
        schema_of(recordings), ToMnetObserver(made_up(SMALL)), planner, weights, weights, "network", {}
    )
    save_fitted(path, observer)


def write_ceiling(path: Path) -> None:
    save_ceiling(path, Ceiling(8, 1, 4, {"5x5": "digest"}, (), "tomnet agents ceiling", 0.5, {"device": "CPU"}))


def write_metrics(path: Path) -> None:
    for step in range(1, 6):
        append_jsonl(path, {"step": step, "seconds": 0.5 * step, "action": 1.5, "held_out": {"action": 1.25}})


def go_on_with_metrics(path: Path) -> None:
    """As a run does that is resumed."""
    truncate_jsonl(path, lambda row: row["step"] <= 3)


def write_result(path: Path) -> None:
    from figures.hand_made import hand_made

    write_json(path, hand_made("goal-inference"))


def write_episodes(path: Path) -> None:
    episodes = random_encounters().past
    save_episodes(path, episodes, {"world": None})


STATE = made_up(SMALL)
AGENTS_IN_TRAINING = (population_training.STATE_FORMAT, population_training.VERSION)
ARRAYS = {"weight": np.linspace(0, 1, 300, dtype=np.float32).reshape(3, 100), "step": np.array(7)}

# what a flipped bit has touched is refused
CHECKSUMMED = {
    "observer": Kind(
        "observer.safetensors",
        lambda path: save_observer(path, made_up(SMALL), {"experiment": "none"}),
        load_observer,
    ),
    "population": Kind("3x3.safetensors", lambda path: save_population(path, made_up_population()), load_population),
    "checkpoint of an observer": Kind(
        "checkpoint.safetensors",
        lambda path: save_state(path, STATE, {"seconds": 1.0}),
        lambda path: load_state(path, STATE),
    ),
    "checkpoint of a population": Kind(
        "checkpoint.safetensors",
        lambda path: save_arrays(path, ARRAYS, {"chunk": 0, "updates": 7}, *AGENTS_IN_TRAINING, keep_previous=True),
        lambda path: load_arrays(path, *AGENTS_IN_TRAINING),
    ),
    "fitted observer": Kind("observer.safetensors", write_fitted, load_fitted),
    "recordings": Kind(
        "episodes.safetensors",
        lambda path: write_recordings([simple(), simple(episode="2")], path, "safetensors"),
        read_recordings,
    ),
    "episodes": Kind("episodes.safetensors", write_episodes, load_episodes),
}

# what has none is refused in one line, or read as what it then says
PLAIN = {
    "episode as text": Kind("monday.txt", lambda path: path.write_text(SIMPLE_TEXT), read_recordings),
    "episodes as JSON lines": Kind(
        "episodes.jsonl",
        lambda path: write_recordings([simple(), simple(episode="2")], path, "jsonl"),
        read_recordings,
    ),
    "config.json of a run": Kind(
        CONFIG,
        lambda path: enter_run(path.parent, Run("observer", {"seed": 0}, {"command": "tomnet run"}), resume=False),
        lambda path: read_run(path.parent, "observer"),
    ),
    "metrics.jsonl of a run": Kind(METRICS, write_metrics, go_on_with_metrics),
    "result.json of an experiment": Kind("result.json", write_result, lambda path: load_result(path.parent)),
    "results.json of a report": Kind(
        "results.json", lambda path: path.write_bytes((ROOT / "docs/results.json").read_bytes()), read_results
    ),
    "ceiling.json": Kind("ceiling.json", write_ceiling, read_ceiling),
}


def hostile_json() -> dict[str, bytes]:
    """Texts that keep to the letter of JSON and mean harm."""
    return {
        "brackets 100,000 deep": b"[" * 100_000,
        "objects 100,000 deep": b'{"a":' * 100_000,
        "a number of 5,000 digits": b"9" * 5_000,
        "a number beyond all floats": b"1e999",
        "not a number": b"NaN",
        "a lone surrogate": b'"\\ud800"',
        "another encoding": json.dumps({"a": "é"}).encode("utf-16"),
        "a million zeros": b"[" + b"0," * 1_000_000 + b"0]",
    }
