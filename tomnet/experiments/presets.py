"""The observer's size in each preset, for the experiments of section 3.2; size and training for those with deep RL
agents, sections 3.3 to 3.5."""

import dataclasses

from ..observer.tomnet import ObserverConfig
from ..observer.training import TrainingConfig
from .experiment import Preset

SMOKE_OBSERVER = ObserverConfig(channels=8, character_channels=8, character_depth=3, torso_depth=3)
LAPTOP_OBSERVER = ObserverConfig(
    channels=24,
    character_channels=16,
    character_depth=3,
    torso_depth=9,
    character_read_out="agent",
    read_out="agent",
)
FULL_OBSERVER = ObserverConfig(torso_depth=13, character_read_out="agent", read_out="agent")

READER = ObserverConfig(
    objects=5, embedding=8, torso_depth=9, character_read_out="agent", read_out="agent", mental=True
)
DEEP_OBSERVER = {
    "smoke": dataclasses.replace(
        READER,
        channels=8,
        character_channels=8,
        mental_channels=8,
        character_depth=1,
        mental_depth=1,
        torso_depth=3,
    ),
    "laptop": dataclasses.replace(
        READER,
        channels=16,
        character_channels=16,
        mental_channels=8,
        character_depth=3,
        mental_depth=1,
        torso_depth=5,
    ),
    "full": READER,
}
DEEP_TRAINING: dict[Preset, TrainingConfig] = {
    "smoke": TrainingConfig(
        steps=4, batch=4, currents=2, queries=3, swap_probability=0.5, chunk=2, held_out=20, evaluate_every=1
    ),
    "laptop": TrainingConfig(
        steps=400,
        batch=32,
        currents=4,
        queries=8,
        swap_probability=0.5,
        learning_rate=3e-3,
        chunk=20,
        held_out=250,
    ),
    "full": TrainingConfig(
        steps=8_000,
        batch=512,  # of 128 agents
        currents=4,
        queries=8,
        swap_probability=0.5,
        learning_rate=2e-3,
        chunk=20,
        held_out=2000,
        evaluate_every=25,
    ),
}
# For observers whose claims are about what follows a swap: that is 2.8% of what they are asked, and is learned late.
LONG_TRAINING: dict[Preset, TrainingConfig] = {
    **DEEP_TRAINING,
    "full": dataclasses.replace(DEEP_TRAINING["full"], steps=20_000),
}
# For a world in which there are none to draw.
TRAINING_WITHOUT_SWAPS: dict[Preset, TrainingConfig] = {
    preset: dataclasses.replace(training, swap_probability=None) for preset, training in DEEP_TRAINING.items()
}
