"""A ToMnet for recorded agents of any kind: who is this, what will it take, what will it do next, where will it be?

As in the paper a character net reads past episodes and a prediction net a query state. Two things differ. Past episodes
are read in the order of time, because agents may take turns with what they want, which a sum over episodes cannot tell.
And objects share their weights: there is a memory for each kind, read and written in the same way for all, so that tens
of agents suffice where the paper's nets need thousands.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key, Scalar

from ..observer.config import DEEPEST
from ..observer.layers import Dense, ResNet, pooled
from ..observer.prediction_net import SuccessorHead
from ..support.errors import BadSetting
from .features import PLANES, Table, Views, planes_of


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes. The defaults suit anything from 20 to 20,000 episodes: weights are shared by kinds and by cells."""

    kinds: int
    actions: int
    seen_features: int
    episode_features: int
    asked_features: int
    memory: int = 32
    embedding: int = 8
    hidden: int = 64
    channels: int = 16
    depth: int = 3

    def __post_init__(self):
        if self.depth > DEEPEST:
            raise BadSetting("NetworkConfig.depth", self.depth, f"must be at most {DEEPEST}")

    @staticmethod
    def of(table: Table, actions: int, **sizes: int) -> "NetworkConfig":
        seen, episode, asked = (part.shape[-1] for part in (table.seen, table.episode, table.asked))
        return NetworkConfig(table.seen.shape[1], actions, seen, episode, asked, **sizes)


class MLP(eqx.Module):
    layers: list[Dense]

    def __init__(self, widths: list[int], *, key: Key[Scalar, ""]):
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = [Dense(*pair, key=key) for pair, key in zip(zip(widths, widths[1:]), keys)]

    def __call__(self, features: Float[Array, "*batch feature_in"]) -> Float[Array, "*batch feature_out"]:
        for layer in self.layers[:-1]:
            features = jax.nn.relu(layer(features))
        return self.layers[-1](features)


def _over_kinds(each: Float[Array, "kind feature"]) -> Float[Array, "feature"]:
    """The mean; zero where there are no objects at all."""
    return each.sum(0) / max(len(each), 1)


class Character(eqx.Module):
    """What is known of an agent: a memory for each kind of object, and an embedding of all of them together."""

    memory: Float[Array, "*batch kind feature"]
    embedding: Float[Array, "*batch embedding"]


class CharacterNet(eqx.Module):
    """One agent's episodes in the order of time: a recurrent memory for each kind, all with the same weights."""

    look: MLP
    remember: eqx.nn.GRUCell
    embed: Dense

    def __init__(self, config: NetworkConfig, *, key: Key[Scalar, ""]):
        look_key, remember_key, embed_key = jax.random.split(key, 3)
        memory, seen = config.memory, 2 * config.seen_features + config.episode_features
        self.look = MLP([seen, memory, memory], key=look_key)
        self.remember = eqx.nn.GRUCell(2 * memory, memory, key=remember_key)
        self.embed = Dense(2 * memory, config.embedding, key=embed_key)

    def __call__(
        self,
        seen: Float[Array, "past kind feature"],
        episode: Float[Array, "past feature_of_all"],
        real: Bool[Array, "past"],
    ) -> Character:
        """The character before the first episode, after it, after the second, …: one more than there are episodes."""
        kinds = seen.shape[1]

        def after(memory, now):
            seen, episode, real = now
            all_kinds = jnp.broadcast_to(_over_kinds(seen), seen.shape)
            looked = self.look(jnp.concatenate([seen, all_kinds, jnp.tile(episode, (kinds, 1))], -1))
            others = jnp.broadcast_to(_over_kinds(memory), memory.shape)
            new = jax.vmap(self.remember)(jnp.concatenate([jax.nn.relu(looked), others], -1), memory)
            memory = jnp.where(real, new, memory)
            return memory, memory

        blank = jnp.zeros((kinds, self.remember.hidden_size))
        _, memories = jax.lax.scan(after, blank, (seen, episode, real))
        memory = jnp.concatenate([blank[None], memories])
        both = jnp.concatenate([jax.vmap(_over_kinds)(memory), memory.max(1, initial=-1.0)], -1)
        return Character(memory, jnp.tanh(self.embed(both)))


class OutcomeHead(eqx.Module):
    """Which kind is taken next, from what is remembered of each and how far it is; or nothing."""

    each: MLP
    none: MLP
    liked: Float[Array, "kind feature"]  # what all agents make of a kind; nothing, until the data say otherwise

    def __init__(self, config: NetworkConfig, *, key: Key[Scalar, ""]):
        each_key, none_key = jax.random.split(key)
        self.liked = jnp.zeros((config.kinds, 2))
        known = config.memory + config.embedding + config.asked_features + 2
        self.each = MLP([known, config.hidden, config.hidden, 1], key=each_key)
        self.none = MLP([config.embedding + config.asked_features, config.hidden, 1], key=none_key)

    def __call__(
        self,
        character: Character,
        asked: Float[Array, "kind feature_asked"],
        possible: Bool[Array, "outcome"],
    ) -> Float[Array, "outcome"]:
        kinds = len(asked)
        tiled = jnp.broadcast_to(character.embedding, (kinds, *character.embedding.shape))
        value = self.each(jnp.concatenate([character.memory, tiled, asked, self.liked], -1))[:, 0]
        nothing = self.none(jnp.concatenate([character.embedding, _over_kinds(asked)], -1))
        return jax.nn.log_softmax(jnp.where(possible, jnp.concatenate([value, nothing]), -1e9))


class MapNet(eqx.Module):
    """The next action and the successor maps, from the maze seen with the likely goals in mind."""

    torso: ResNet
    action: MLP
    successor: SuccessorHead

    def __init__(self, config: NetworkConfig, *, key: Key[Scalar, ""]):
        torso_key, action_key, successor_key = jax.random.split(key, 3)
        planes = PLANES + config.embedding
        self.torso = ResNet(planes, config.channels, config.depth, "layer", key=torso_key)
        self.action = MLP([2 * config.channels + planes, config.hidden, config.actions], key=action_key)
        self.successor = SuccessorHead(config.channels, key=successor_key)

    def __call__(
        self, views: Views, outcomes: Float[Array, "asked outcome"], embedding: Float[Array, "asked embedding"]
    ) -> tuple[Float[Array, "asked action"], Float[Array, "asked gamma row col"]]:
        planes = jax.vmap(planes_of)(views, outcomes)
        tiled = jnp.broadcast_to(embedding[:, None, None], (*planes.shape[:3], embedding.shape[-1]))
        planes = jnp.concatenate([planes, tiled], -1)
        features, _ = self.torso(planes, jnp.ones(len(planes), bool), False)
        here = jnp.take_along_axis(
            planes.reshape(len(planes), -1, planes.shape[-1]), views.cell[:, None, None], axis=1
        )[:, 0]
        at_agent = jnp.concatenate([pooled(features, views.cell, "agent"), here], -1)
        return jax.nn.log_softmax(self.action(at_agent)), self.successor(features)


class Network(eqx.Module):
    character_net: CharacterNet
    outcome_head: OutcomeHead
    map_net: MapNet
    config: NetworkConfig = eqx.field(static=True)

    def __init__(self, config: NetworkConfig, *, key: Key[Scalar, ""]):
        character_key, outcome_key, map_key = jax.random.split(key, 3)
        self.character_net = CharacterNet(config, key=character_key)
        self.outcome_head = OutcomeHead(config, key=outcome_key)
        self.map_net = MapNet(config, key=map_key)
        self.config = config
