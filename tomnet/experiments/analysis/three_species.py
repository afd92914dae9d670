"""Section 3.3: the three species that its two experiments are about, how they are met, and the agents asked about.

Blind, sighted but stateless, sighted and stateful: "purely reactive" agents are those without any memory.
"""

from functools import lru_cache
from pathlib import Path

import jax

from ...agents.population import Part, condition_file
from ...episodes.encounter import EncounterSpec
from ...observer.config import ObserverConfig, TrainingConfig
from ...support.streams import EVALUATION_STREAM, stream
from ...world.gridworld import SUBGOAL_MAZE
from ..agent_pool import AgentPool
from ..experiment import ANY_PRESET, ObserverSpec, Preset
from ..presets import DEEP_OBSERVER, DEEP_TRAINING
from .evaluation_set import EvaluationSet, draw_evaluation_set

SPECIES_NAMES = {"blind": "blind", "stateless-5x5": "sighted, stateless", "5x5": "sighted, stateful"}
SPECIES = tuple(SPECIES_NAMES)
ENCOUNTERS = EncounterSpec(min_past=4, max_past=4, query_at_start=False)
REUSE = 5  # encounters from each agent's episodes
PARTS: tuple[Part, ...] = ("training", "held out")


def species_spec(
    name: str, preset: Preset, observer: ObserverConfig, training: TrainingConfig, folder: Path | None = None
) -> ObserverSpec:
    """An observer of the training networks of all three."""
    pool = AgentPool(SPECIES, folder=folder, networks=1 if preset == "smoke" else None)
    return ObserverSpec(name, pool, SUBGOAL_MAZE, ENCOUNTERS, observer, training, reuse=REUSE)


def species_evaluation_sets(seed: int, agents: int, folder: Path | None = None) -> dict[Part, EvaluationSet]:
    """Agents that observers have met in training, and agents that they have not. Two experiments ask about the same
    encounters, which take as long as reading them, so they are kept."""
    return _evaluation_sets(tuple(condition_file(name, folder) for name in SPECIES), seed, agents, folder)


@lru_cache(maxsize=1)
def _evaluation_sets(
    population: tuple[Path, ...], seed: int, agents: int, folder: Path | None
) -> dict[Part, EvaluationSet]:
    """`population`, the files, are there to tell populations of one name apart."""
    anyone = species_spec("anyone", ANY_PRESET, DEEP_OBSERVER[ANY_PRESET], DEEP_TRAINING[ANY_PRESET], folder)
    keys = jax.random.split(stream(seed, EVALUATION_STREAM), 5)  # the others are for what experiments draw themselves
    return {part: draw_evaluation_set(key, anyone, part, agents) for part, key in zip(PARTS, keys)}
