"""The observer's size in each preset, for the experiments of section 3.2."""

from ..observer.tomnet import ObserverConfig

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
