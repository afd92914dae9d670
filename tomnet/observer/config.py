"""The numbers that describe an observer."""

import dataclasses
from typing import Literal, get_args

from ..episodes.episode import ACTION_COUNT
from ..support.errors import BadSetting
from .frames import channels
from .layers import Normalise, ReadOut

BEHAVIOUR = ("action", "consumption", "successor")
HEADS = (*BEHAVIOUR, "belief")
Character = Literal["episodes", "snapshots", "sequence", "none"]
DEEPEST = 999  # layers are made one by one: a file that asks for a billion would never be through
WORDS = {"character": Character, "normalise": Normalise, "character_read_out": ReadOut, "read_out": ReadOut}


@dataclasses.dataclass(frozen=True)
class ObserverConfig:
    """An observer's architecture. The defaults are those of the paper's section 3.2.

    >>> tomnet.ObserverConfig(size=5, objects=2, embedding=8, heads=("action", "consumption")).character
    'episodes'
    """

    size: int = 11
    objects: int = 4
    character: Character = "episodes"
    embedding: int = 2
    channels: int = 32
    character_channels: int = 32
    character_depth: int = 5
    torso_depth: int = 5
    torso_plain: bool = False  # no residuals, no normalisation: the observer of random agents
    heads: tuple[str, ...] = BEHAVIOUR
    normalise: Normalise = "batch"
    character_read_out: ReadOut = "pool"
    read_out: ReadOut = "pool"  # of the action and consumption heads
    mental: bool = False  # a net for the current episode so far
    mental_channels: int = 32
    mental_depth: int = 5
    bottleneck: bool = False  # embeddings are posteriors, and what they hold has a price

    def __post_init__(self):
        for head in self.heads:
            if head not in HEADS:
                raise BadSetting("ObserverConfig.heads", head, f"the heads are {', '.join(HEADS)}")
        if not self.heads:
            raise BadSetting("ObserverConfig.heads", "()", "an observer predicts something")
        for name, words in WORDS.items():  # or a misspelt one would silently mean another
            if getattr(self, name) not in get_args(words):
                known = ", ".join(map(repr, get_args(words)))
                raise BadSetting(f"ObserverConfig.{name}", repr(getattr(self, name)), f"must be one of {known}")
        for name in ("size", "objects", "embedding", "channels", "character_channels", "mental_channels"):
            if getattr(self, name) < 1:
                raise BadSetting(f"ObserverConfig.{name}", getattr(self, name), "must be above 0")
        for name in ("character_depth", "torso_depth", "mental_depth"):
            plain = name == "torso_depth" and self.torso_plain
            if getattr(self, name) < 1 or (not plain and getattr(self, name) % 2 == 0):
                raise BadSetting(f"ObserverConfig.{name}", getattr(self, name), "a resnet's depth is odd: 1 + pairs")
            if getattr(self, name) > DEEPEST:
                raise BadSetting(f"ObserverConfig.{name}", getattr(self, name), f"must be at most {DEEPEST}")

    @property
    def state_planes(self) -> int:
        return channels(self.objects)

    @property
    def frame_planes(self) -> int:
        """Of a state and the action in it."""
        return self.state_planes + ACTION_COUNT

    @property
    def moments(self) -> int:
        """Numbers that say one dimension of an embedding: its mean, and where there is a bottleneck its spread."""
        return 2 if self.bottleneck else 1

    @property
    def character_size(self) -> int:
        """Of the character embedding; an observer without a character net has none."""
        return 0 if self.character == "none" else self.embedding
