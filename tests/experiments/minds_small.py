"""Populations small enough for tests of sections 3.4 and 3.5: the paper's world, few channels, random weights."""

from pathlib import Path

from agents.small import made_up_population

from tomnet.agents.actor_critic import NetworkConfig
from tomnet.agents.population import CONDITIONS, Population, save_population

NETWORK = NetworkConfig(channels=4, memory_channels=4, depth=1, belief_channels=4, hidden=8, salience_channels=4)


def small_population(condition: str, count: int = 2) -> Population:
    """Two networks: one to train observers on, one held out."""
    return made_up_population(condition, count, NETWORK, seed=list(CONDITIONS).index(condition))


def save_populations(folder: Path, conditions: tuple[str, ...], count: int = 2) -> Path:
    for condition in conditions:
        save_population(folder / f"{condition}.safetensors", small_population(condition, count))
    return folder
