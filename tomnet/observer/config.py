"""The numbers that describe an observer, and how it is trained."""

import dataclasses
from typing import Literal, get_args

from ..episodes.episode import ACTION_COUNT
from ..support.errors import BadSetting
from .frames import channels
from .layers import Normalise, ReadOut
from .losses import Reduction

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


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """How an observer is trained, and how often it is looked at and saved.

    >>> tomnet.TrainingConfig(steps=400, batch=32).learning_rate
    0.001
    """

    steps: int
    batch: int = 64  # encounters in a step: current episodes, however many queries there are about each
    currents: int = 1  # current episodes of an agent, which share its past
    queries: int = 1  # about each current episode, at times of their own
    swap_probability: float | None = None  # in current episodes, weighted back; None: as the world has it
    reduction: Reduction = "sum"  # of a head's losses over objects and discounts
    learning_rate: float = 1e-3
    chunk: int = 20  # steps between two looks at the clock, the loss and the checkpoint
    held_out: int = 256  # encounters evaluated while it runs
    evaluate_every: int = 10  # chunks
    checkpoint_seconds: float = 30.0
    beta: float = 0.0  # the price of a nat in the bottleneck, at last
    anneal: float = 0.25  # the share of the steps over which it rises

    def __post_init__(self):
        for name in ("steps", "batch", "learning_rate", "chunk", "held_out", "evaluate_every"):
            if not getattr(self, name) > 0:
                raise BadSetting(f"TrainingConfig.{name}", getattr(self, name), "must be above 0")
        if self.currents < 1 or self.batch % self.currents:
            raise BadSetting("TrainingConfig.currents", self.currents, f"must divide batch={self.batch}")
        if self.queries < 1:
            raise BadSetting("TrainingConfig.queries", self.queries, "must be above 0")
        if self.swap_probability is not None and not 0 < self.swap_probability < 1:
            why = "must lie between 0 and 1: what the world may do, swap or not, must stay possible"
            raise BadSetting("TrainingConfig.swap_probability", self.swap_probability, why)
        if self.reduction not in get_args(Reduction):
            raise BadSetting("TrainingConfig.reduction", repr(self.reduction), "must be 'sum' or 'mean'")

    def met_after(self, steps: int) -> dict[str, int]:
        """Current episodes met, and queries about them, in that many steps."""
        return {"encounters": steps * self.batch, "queries": steps * self.batch * self.queries}
