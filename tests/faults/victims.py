"""Runs small enough to be killed hundreds of times, and what is left of one in its folder.

Nothing here touches JAX's backend when it is imported: `server` forks after that, and threads do not survive a fork.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tomnet.agents.actor_critic import NetworkConfig
from tomnet.agents.population_training import PopulationTraining, train_population
from tomnet.agents.random_policy import RandomSpecies
from tomnet.agents.reinforcement import LearnerConfig
from tomnet.api import draw_encounters
from tomnet.episodes.encounter import Encounter, EncounterSpec
from tomnet.observer.config import ObserverConfig
from tomnet.observer.training import TrainingConfig, train
from tomnet.support.json_files import read_jsonl
from tomnet.support.provenance import provenance
from tomnet.support.run_folder import METRICS
from tomnet.world.gridworld import World

TINY = World(size=3, objects=1, max_walls=0, step_limit=1)
OBSERVER = ObserverConfig(
    size=3,
    objects=1,
    heads=("action",),
    character="snapshots",
    character_channels=4,
    channels=4,
    character_depth=1,
    torso_depth=1,
    torso_plain=True,
)
# a checkpoint after every second step, so that most moments are near a save
OBSERVER_TRAINING = TrainingConfig(steps=60, chunk=2, batch=4, held_out=4, checkpoint_seconds=0.0)

# two chunks of fifteen updates, a checkpoint after each
POPULATION = PopulationTraining(
    learner=LearnerConfig(steps=240, worlds=4, unroll=4, pool=8),
    network=NetworkConfig(
        size=5, kinds=4, channels=4, memory_channels=4, depth=1, belief_channels=4, hidden=8, salience_channels=4
    ),
    conditions=("blind", "3x3"),
    networks=2,
    keep=1,
    chunk=2,
    levels=4,
    world=World(size=5, objects=3, subgoal=True, max_walls=1, step_limit=5),
    report_every=1,
    checkpoint_seconds=0.0,
)


def sample(key, count: int) -> Encounter:
    return draw_encounters(key, RandomSpecies((0.1,)).sample(key, count), TINY, EncounterSpec(0, 2, snapshots=True))


def train_observer(folder: Path) -> None:
    about = {"environment": provenance()}
    train(OBSERVER, OBSERVER_TRAINING, sample, folder, seed=0, about=about, resume=True)


def train_agents(folder: Path) -> None:
    train_population(POPULATION, folder, seed=0, about={"environment": provenance()}, resume=True)


VICTIMS: dict[str, Callable[[Path], None]] = {"observer": train_observer, "population": train_agents}


def outcome(folder: Path) -> dict[str, Any]:
    """What a finished run came to: every weight, bit for bit, what is said of it but for the time that it took and who
    went on with it, and its metrics."""
    files = {path.name: _parts(path.read_bytes()) for path in sorted(folder.glob("*.safetensors"))}
    return {**files, METRICS: [_timeless(row) for row in read_jsonl(folder / METRICS)]}


def _parts(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the arrays of a safetensors file, as bytes."""
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header["__metadata__"] = _timeless(json.loads(header["__metadata__"]["tomnet"]) | {"sha256": None})
    return header, raw[start:]


def _timeless(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _timeless(value) for name, value in told.items() if name not in ("seconds", "resumed")}
    return told
