"""Populations small enough for tests of sections 3.3 to 3.5, few channels and random weights, in a world of short
episodes: without XLA's optimisations, steps take longer than programs take to compile."""

import dataclasses
import sys
from pathlib import Path

import pytest
from agents.small import made_up_population

from tomnet.agents.actor_critic import NetworkConfig
from tomnet.agents.population import CONDITIONS, Population, save_population
from tomnet.world.gridworld import SUBGOAL_MAZE

WORLD = dataclasses.replace(SUBGOAL_MAZE, step_limit=16)
NETWORK = NetworkConfig(channels=4, memory_channels=4, depth=1, belief_channels=4, hidden=8, salience_channels=4)


def small_population(condition: str, count: int = 2) -> Population:
    """Two networks: one to train observers on, one held out."""
    return made_up_population(condition, count, NETWORK, seed=list(CONDITIONS).index(condition))


def save_populations(folder: Path, conditions: tuple[str, ...], count: int = 2) -> Path:
    for condition in conditions:
        save_population(folder / f"{condition}.safetensors", small_population(condition, count))
    return folder


def live_shortly(patch: pytest.MonkeyPatch) -> None:
    """Experiments that are imported already take place in `WORLD`."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tomnet.experiments") and getattr(module, "SUBGOAL_MAZE", None) is SUBGOAL_MAZE:
            patch.setattr(module, "SUBGOAL_MAZE", WORLD)
