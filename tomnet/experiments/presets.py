"""The observer's size in each preset, for the experiments of section 3.2; size and training for those with deep RL
agents, sections 3.3 to 3.5."""

import dataclasses

from ..observer.config import ObserverConfig, TrainingConfig
from .experiment import Preset

PLANNER_OBSERVER: dict[Preset, ObserverConfig] = {
    "smoke": ObserverConfig(channels=8, character_channels=8, character_depth=3, torso_depth=3),
    "laptop": ObserverConfig(
        channels=24,
        character_channels=16,
        character_depth=3,
        torso_depth=9,
        character_read_out="agent",
        read_out="agent",
    ),
    "full": ObserverConfig(torso_depth=13, character_read_out="agent", read_out="agent"),
}

READER = ObserverConfig(
    objects=5, embedding=8, torso_depth=9, character_read_out="agent", read_out="agent", mental=True
)
DEEP_OBSERVER: dict[Preset, ObserverConfig] = {
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
    "smoke": TrainingConfig(steps=4, batch=4, currents=2, queries=3, chunk=4, held_out=20, evaluate_every=1),
    "laptop": TrainingConfig(steps=300, batch=40, currents=5, queries=8, learning_rate=3e-3, chunk=20, held_out=250),
    "full": TrainingConfig(
        steps=6_400, batch=640, currents=5, queries=8, learning_rate=2e-3, chunk=20, held_out=2000, evaluate_every=25
    ),
}
BETA = 0.01  # nats of loss for a nat in the embeddings, at last
# The paper's price beside the paper's losses, which by its Table A1 are means: beside sums a nat would be far cheaper.
BOTTLENECK_TRAINING: dict[Preset, TrainingConfig] = {
    preset: dataclasses.replace(training, beta=BETA, reduction="mean") for preset, training in DEEP_TRAINING.items()
}
# Many steps, each on few episodes: a bottleneck closes by so much in a step, whatever it is that step has seen.
BOTTLENECK_TRAINING["laptop"] = dataclasses.replace(
    BOTTLENECK_TRAINING["laptop"], steps=2_000, batch=16, currents=2, queries=4, learning_rate=1e-3
)
# For observers whose claims are about what follows a swap: that is 2.8% of what they are asked, and is learned late.
OFTEN = 0.5
SWAP_TRAINING: dict[Preset, TrainingConfig] = {
    preset: dataclasses.replace(training, swap_probability=OFTEN) for preset, training in DEEP_TRAINING.items()
}
SWAP_TRAINING["full"] = dataclasses.replace(SWAP_TRAINING["full"], steps=16_000)  # 10.2 M current episodes
