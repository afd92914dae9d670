"""The prediction net: embeddings + query state → what the agent will do, and what it believes (appendix A).

A shared torso, and a head for each prediction; heads that were not asked for are left out.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, Scalar

from ..episodes.episode import ACTION_COUNT, QueryState
from ..episodes.predictions import Predictions
from ..episodes.targets import GAMMAS
from .config import ObserverConfig
from .frames import spatialise, state_planes
from .layers import Convolution, Dense, ReadOut, ResNet, pooled, pooled_width


class PooledHead(eqx.Module):
    """A convolution, pooling, a dense layer."""

    convolution: Convolution | None
    dense: Dense
    read_out: ReadOut = eqx.field(static=True)

    def __init__(
        self,
        channels: int,
        outputs: int,
        read_out: ReadOut,
        *,
        key: Key[Scalar, ""],
        convolution: bool = True,
    ):
        conv_key, dense_key = jax.random.split(key)
        self.convolution = Convolution(channels, channels, key=conv_key) if convolution else None
        # the most of many features is far from zero: without this, predictions would begin as certain and wrong
        scale = 0.1 if read_out == "directions" else 1.0
        self.dense = Dense(pooled_width(channels, read_out), outputs, key=dense_key, scale=scale)
        self.read_out = read_out

    def __call__(
        self, features: Float[Array, "agent row col channel"], agent_cell: Array
    ) -> Float[Array, "agent output"]:
        if self.convolution is not None:
            features = jax.nn.relu(self.convolution(features))
        return self.dense(pooled(features, agent_cell, self.read_out))


class SuccessorHead(eqx.Module):
    """Two convolutions, then a softmax over the map for each discount."""

    first: Convolution
    second: Convolution

    def __init__(self, channels: int, *, key: Key[Scalar, ""]):
        first_key, second_key = jax.random.split(key)
        self.first = Convolution(channels, channels, key=first_key)
        self.second = Convolution(channels, len(GAMMAS), key=second_key)

    def __call__(self, features: Float[Array, "agent row col channel"]) -> Float[Array, "agent gamma row col"]:
        logits = self.second(jax.nn.relu(self.first(features))).astype(jnp.float32)
        logits = jnp.moveaxis(logits, -1, 1)
        flat = jax.nn.log_softmax(logits.reshape(*logits.shape[:2], -1), -1)
        return flat.reshape(logits.shape)


class BeliefHead(eqx.Module):
    """A convolution; from it the cells by another one, and by a dense layer that an object is nowhere."""

    first: Convolution
    cells: Convolution
    nowhere: Dense

    def __init__(self, channels: int, objects: int, *, key: Key[Scalar, ""]):
        first_key, cells_key, nowhere_key = jax.random.split(key, 3)
        self.first = Convolution(channels, channels, key=first_key)
        self.cells = Convolution(channels, objects, key=cells_key)
        self.nowhere = Dense(channels, objects, key=nowhere_key)

    def __call__(self, features: Float[Array, "agent row col channel"]) -> Float[Array, "agent object place"]:
        features = jax.nn.relu(self.first(features))
        cells = self.cells(features).astype(jnp.float32)
        cells = jnp.moveaxis(cells, -1, 1).reshape(cells.shape[0], cells.shape[-1], -1)
        nowhere = self.nowhere(features.mean((1, 2)))[..., None]
        return jax.nn.log_softmax(jnp.concatenate([cells, nowhere], -1))


class Torso(eqx.Module):
    """Plain convolutions with ReLUs (random agents), or a resnet."""

    layers: list[Convolution] | None
    resnet: ResNet | None

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        planes = config.state_planes + config.character_size + (config.mental_channels if config.mental else 0)
        channels, depth = config.channels, config.torso_depth
        self.layers = self.resnet = None
        if config.torso_plain:
            widths = [planes] + [channels] * (depth - 1)
            keys = jax.random.split(key, depth)
            self.layers = [Convolution(w, channels, key=k) for w, k in zip(widths, keys, strict=True)]
        else:
            self.resnet = ResNet(planes, channels, depth, config.normalise, key=key)

    def __call__(self, frames: Float[Array, "agent row col plane"], training: bool):
        if self.resnet is not None:
            features, resnet = self.resnet(frames, jnp.ones(frames.shape[0], bool), training)
            return features, eqx.tree_at(lambda torso: torso.resnet, self, resnet)
        assert self.layers is not None
        for layer in self.layers:
            frames = jax.nn.relu(layer(frames))
        return frames, self


class PredictionNet(eqx.Module):
    torso: Torso
    action: PooledHead | None
    consumption: PooledHead | None
    successor: SuccessorHead | None
    belief: BeliefHead | None

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""]):
        torso_key, action_key, consumption_key, successor_key = jax.random.split(key, 4)
        channels, heads, read_out = config.channels, config.heads, config.read_out
        self.torso = Torso(config, key=torso_key)
        self.action = self.consumption = self.successor = self.belief = None
        if "action" in heads:
            self.action = PooledHead(
                channels, ACTION_COUNT, read_out, key=action_key, convolution=not config.torso_plain
            )
        if "consumption" in heads:
            self.consumption = PooledHead(channels, config.objects, read_out, key=consumption_key)
        if "successor" in heads:
            self.successor = SuccessorHead(channels, key=successor_key)
        if "belief" in heads:
            self.belief = BeliefHead(channels, config.objects, key=jax.random.fold_in(key, 4))

    def __call__(
        self,
        character: Float[Array, "agent feature"],
        mental: Float[Array, "agent row col channel"] | None,
        query: QueryState,
        training: bool,
        dtype,
    ) -> tuple[Predictions, "PredictionNet"]:
        planes = jax.vmap(state_planes, in_axes=(0, None))(query, dtype)
        if mental is not None:
            planes = jnp.concatenate([planes, mental.astype(dtype)], -1)
        features, torso = self.torso(jax.vmap(spatialise)(planes, character), training)
        predictions = Predictions(
            action=None if self.action is None else jax.nn.log_softmax(self.action(features, query.agent_cell)),
            consumption=None if self.consumption is None else self.consumption(features, query.agent_cell),
            successor=None if self.successor is None else self.successor(features),
            belief=None if self.belief is None else self.belief(features),
        )
        return predictions, eqx.tree_at(lambda net: net.torso, self, torso)
