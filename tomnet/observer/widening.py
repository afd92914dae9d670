"""An observer without a bottleneck, as one with: the same nets, which begin to say how sure they are.

Embeddings are small numbers: beside a prior of unit variance they would drown in noise. So they are scaled to a mean
square of 1, and what reads them takes the scale back: asked at the means of its posteriors, the new observer predicts
what the old one did.
"""

import dataclasses
from pathlib import Path

import numpy as np
from jaxtyping import Array, Float

from ..episodes.encounter import Encounter
from ..support.named_arrays import named_arrays, with_arrays
from .checkpoint import blank_observer
from .tomnet import ToMnet, read

# Logarithms of the posteriors' variance at the start. What a few numbers tell has to be told well; of a whole map, each
# cell may be vague.
CHARACTER, MENTAL = -2.0, -1.0
FIRST = "resnet.layers[0].convolution.kernel"


def with_bottleneck(observer: ToMnet, encounters: Encounter) -> ToMnet:
    """The scale of embeddings is that on these encounters, of which each is asked about once."""
    config, arrays = observer.config, named_arrays(observer)
    reading, past = read(observer, encounters), encounters.past_real.shape[1]
    torso = f"prediction_net.torso.{'layers[0].kernel' if config.torso_plain else FIRST}"
    planes, mental = config.state_planes, config.mental_channels if config.mental else 0
    if observer.character_net is not None:
        scale = _scale(reading.character.mean)
        # an embedding is a sum over past episodes, and so is the logarithm of its variance
        _tell(arrays, "character_net.dense.weight", "character_net.dense.bias", scale, CHARACTER / past)
        _read(arrays, torso, slice(planes + mental, None), scale)
        if mental:
            _read(arrays, f"mental_net.{FIRST}", slice(config.frame_planes, None), scale)
    if reading.mental is not None:
        scale = _scale(reading.mental.mean)
        _tell(arrays, "mental_net.out.kernel", "mental_net.out.bias", scale, MENTAL)
        _read(arrays, torso, slice(planes, planes + mental), scale)
    config = dataclasses.replace(config, bottleneck=True)
    return with_arrays(blank_observer(config, observer.domain), arrays, Path("an observer without a bottleneck"))


def _scale(embedding: Float[Array, "*batch feature"]) -> Float[np.ndarray, "feature"]:
    square = np.mean(np.asarray(embedding, np.float64) ** 2, tuple(range(embedding.ndim - 1)))
    return np.where(square > 0, np.sqrt(square), 1).astype(np.float32)


def _tell(arrays: dict[str, np.ndarray], weight: str, bias: str, scale: np.ndarray, log_variance: float) -> None:
    """Means, scaled; and beside them the logarithms of their variance, at first the same whatever is seen."""
    mean, shift = arrays[weight] / scale, arrays[bias] / scale
    arrays[weight] = np.concatenate([mean, np.zeros_like(mean)], -1)
    arrays[bias] = np.concatenate([shift, np.full_like(shift, log_variance)])


def _read(arrays: dict[str, np.ndarray], kernel: str, planes: slice, scale: np.ndarray) -> None:
    arrays[kernel] = arrays[kernel].copy()
    arrays[kernel][:, :, planes] *= scale[:, None]
