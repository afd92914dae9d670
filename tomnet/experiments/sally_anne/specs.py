"""Sections 3.4 and 3.5: whom the observers of false beliefs meet, how, and how they are trained.

Every observer here reads four past episodes and the current one so far, and is asked at any time of an episode. The
mixed population has all agents with a memory, from the blind to those that see 9×9: "a range of different fields of
view", of which the paper shows the blind among the embeddings (Fig. 14).
"""

import dataclasses

from ...episodes.encounter import EncounterSpec
from ...observer.config import BEHAVIOUR, HEADS, TrainingConfig
from ...world.gridworld import SUBGOAL_MAZE, World
from ..agent_pool import AgentPool
from ..experiment import ObserverSpec, Preset
from ..presets import DEEP_OBSERVER, DEEP_TRAINING, SWAP_TRAINING

N_PAST = 4
ENCOUNTERS = EncounterSpec(N_PAST, N_PAST, query_at_start=False)
FIVE = ("5x5",)
MIXED = ("blind", "3x3", "5x5", "7x7", "9x9")
SIGHTED = ("3x3", "5x5", "7x7", "9x9")  # for the blind nothing is ever in view
NARROW, WIDE = "3x3", "9x9"  # whose curves are shown side by side
WITH_FUTURES = (NARROW, WIDE)  # whose futures are looked at as well: for all of them it would take too long


def spec(
    name: str,
    preset: Preset,
    conditions: tuple[str, ...],
    *,
    beliefs: bool,
    world: World = SUBGOAL_MAZE,
    bottleneck: bool = False,
    training: dict[Preset, TrainingConfig] = DEEP_TRAINING,
    home: str | None = None,
) -> ObserverSpec:
    """An observer of the training networks of these conditions; with `beliefs`, of what they report as well."""
    heads = HEADS if beliefs else BEHAVIOUR
    observer = dataclasses.replace(DEEP_OBSERVER[preset], heads=heads, bottleneck=bottleneck)
    species = AgentPool(conditions, beliefs=beliefs)
    return ObserverSpec(name, species, world, ENCOUNTERS, observer, training[preset], reuse=N_PAST + 1, home=home)


def mixed_spec(preset: Preset, *, home: str | None = None) -> ObserverSpec:
    """The one observer of the mixed population; behaviour is section 3.4's affair, beliefs are section 3.5's."""
    return spec("mixed", preset, MIXED, beliefs=True, training=SWAP_TRAINING, home=home)


def control_spec(preset: Preset, *, home: str | None = None) -> ObserverSpec:
    """An observer without a theory of mind: it sees the query alone, and nothing of the agent that it is asked about.

    It is trained as the mixed one is, on as many encounters, but with swaps as often as the world has them. Who has
    seen the episode knows whether there was one; to who has not, drawing them more often would be a lie about how
    often agents are wrong.
    """
    mixed = mixed_spec(preset, home=home)
    observer = dataclasses.replace(mixed.observer, character="none", mental=False)
    training = dataclasses.replace(mixed.training, swap_probability=None)
    return dataclasses.replace(mixed, name="control", observer=observer, training=training)
