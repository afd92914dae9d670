"""ToMnet: the character net and the prediction net, composed; and the numbers that describe one."""

import dataclasses
from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key, Scalar

from ..episodes.encounter import Encounter
from ..episodes.episode import ACTION_COUNT, Episode, Snapshot
from ..errors import BadSetting
from .character_net import CharacterNet, EpisodeNet, SequenceNet, SnapshotNet
from .frames import capacity_for, channels, frame_count, pack
from .layers import Normalise, ReadOut
from .prediction_net import HEADS, PredictionNet, Predictions

Character = Literal["episodes", "snapshots", "sequence"]
WORDS = {"character": Character, "normalise": Normalise, "character_read_out": ReadOut, "read_out": ReadOut}


@dataclasses.dataclass(frozen=True)
class ObserverConfig:
    """An observer's architecture. The defaults are those of the paper's section 3.2."""

    size: int = 11
    objects: int = 4
    character: Character = "episodes"
    embedding: int = 2
    channels: int = 32
    character_channels: int = 32
    character_depth: int = 5
    torso_depth: int = 5
    torso_plain: bool = False  # no residuals, no normalisation: the observer of random agents
    heads: tuple[str, ...] = HEADS
    normalise: Normalise = "batch"
    character_read_out: ReadOut = "pool"
    read_out: ReadOut = "pool"  # of the action and consumption heads

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
        for name in ("size", "objects", "embedding", "channels", "character_channels"):
            if getattr(self, name) < 1:
                raise BadSetting(f"ObserverConfig.{name}", getattr(self, name), "must be above 0")
        for name in ("character_depth", "torso_depth"):
            plain = name == "torso_depth" and self.torso_plain
            if getattr(self, name) < 1 or (not plain and getattr(self, name) % 2 == 0):
                raise BadSetting(f"ObserverConfig.{name}", getattr(self, name), "a resnet's depth is odd: 1 + pairs")


class ToMnet(eqx.Module):
    character_net: CharacterNet
    prediction_net: PredictionNet
    config: ObserverConfig = eqx.field(static=True)

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        character_key, prediction_key = jax.random.split(key)
        planes = channels(config.objects)
        width, depth, kind = config.character_channels, config.character_depth, config.normalise
        if config.character == "sequence":
            self.character_net = SequenceNet(planes + ACTION_COUNT, config.embedding, width, key=character_key)
        else:
            net = EpisodeNet if config.character == "episodes" else SnapshotNet
            self.character_net = net(
                planes + ACTION_COUNT,
                config.embedding,
                width,
                depth,
                kind,
                config.character_read_out,
                key=character_key,
            )
        self.prediction_net = PredictionNet(
            planes + config.embedding,
            config.objects,
            config.channels,
            config.torso_depth,
            kind,
            config.heads,
            config.read_out,
            config.torso_plain,
            key=prediction_key,
        )
        self.config = config

    def characterise(
        self,
        past: Episode,
        past_real: Bool[Array, "agent past"],
        *,
        capacity: int,
        training: bool = False,
        dtype=jnp.float32,
    ) -> tuple[Float[Array, "agent feature"], CharacterNet]:
        """The character embedding of each agent from its past episodes."""
        if past_real.shape[1] == 0:
            return jnp.zeros((past_real.shape[0], self.config.embedding)), self.character_net
        episodes = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), past)
        packed = pack(episodes, past_real.reshape(-1), capacity, dtype)
        return self.character_net(packed, past_real, training)

    def predict(self, character: Float[Array, "agent feature"], query: Snapshot, dtype=jnp.float32) -> Predictions:
        """Predictions for each agent in its query state."""
        return self.prediction_net(character, query, False, dtype)[0]

    def train_step_predictions(self, encounters: Encounter, capacity: int, dtype) -> tuple[Predictions, "ToMnet"]:
        """Predictions in training mode, and this observer with its normalisation statistics moved on."""
        check_no_recent(encounters)
        character, character_net = self.characterise(
            encounters.past, encounters.past_real, capacity=capacity, training=True, dtype=dtype
        )
        predictions, prediction_net = self.prediction_net(character, encounters.query, True, dtype)
        nets = (character_net, prediction_net)
        return predictions, eqx.tree_at(lambda net: (net.character_net, net.prediction_net), self, nets)


def check_no_recent(encounters: Encounter) -> None:
    if encounters.recent is not None:
        raise BadSetting("Meeting.query_at_start", False, "this observer has no net for the current episode")


@eqx.filter_jit
def _observe(observer: ToMnet, encounters: Encounter, capacity: int, dtype) -> tuple[Array, Predictions]:
    character, _ = observer.characterise(encounters.past, encounters.past_real, capacity=capacity, dtype=dtype)
    return character, observer.predict(character, encounters.query, dtype)


def observe(
    observer: ToMnet, encounters: Encounter, dtype=jnp.float32
) -> tuple[Float[Array, "agent feature"], Predictions]:
    """Character embeddings and predictions for a batch of encounters, normalisation in inference mode."""
    config = observer.config
    check_no_recent(encounters)
    if encounters.query.walls.shape[-1] != config.size:
        raise BadSetting("size", encounters.query.walls.shape[-1], f"this observer knows grids of {config.size}")
    if encounters.query.object_cells.shape[-1] != config.objects:
        raise BadSetting("objects", encounters.query.object_cells.shape[-1], f"this observer knows {config.objects}")
    count = frame_count(encounters.past, encounters.past_real).sum()
    return _observe(observer, encounters, capacity_for(int(count)), dtype)
