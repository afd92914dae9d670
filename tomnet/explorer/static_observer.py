"""One observer as a script for a page without a server: its numbers and names, and the weights as text.

A classic script that defines one global, because modules and fetches do not work from disk; `page/observer.js` runs
it. Batch normalisation is folded into the convolution before it: in inference both are linear, so the page knows one
layer instead of two. Weights stay float32, as the zoo has them: in bf16 the script would be half as long, and some
probabilities would move by 0.03.
"""

import base64
import json

import equinox as eqx
import jax
import numpy as np

from .. import zoo
from ..episodes.targets import GAMMAS
from ..observer.config import BEHAVIOUR
from ..observer.layers import Convolution, NormalisedConvolution
from ..observer.tomnet import ToMnet
from ..support.errors import BadSetting
from ..support.named_arrays import named_arrays
from ..world.gridworld import ACTIONS
from ..world.levels import LETTERS

EXPERIMENT, OBSERVER = "goal-snapshots", "all-heads"
GLOBAL = "TOMNET_OBSERVER"
VERSION = 1  # of what `page/observer.js` reads
PORTABLE = {
    "character": "snapshots",
    "character_read_out": "agent",
    "read_out": "agent",
    "heads": BEHAVIOUR,
    "normalise": "batch",
    "torso_plain": False,
    "mental": False,
    "bottleneck": False,
}
"""The one architecture that `page/observer.js` knows; its widths and depths are free."""


def static_observer() -> str:
    """The pretrained observer of planners that a page without a server asks."""
    return observer_script(zoo.load_one(EXPERIMENT, OBSERVER), f"{EXPERIMENT}/{OBSERVER}")


def observer_script(observer: ToMnet, name: str) -> str:
    """An observer as a script; the same observer always gives the same text."""
    arrays = folded_arrays(observer)
    data = describe(observer, name) | {
        "arrays": {array_name: array.shape for array_name, array in arrays.items()},
        "weights": base64.b64encode(b"".join(array.astype("<f4").tobytes() for array in arrays.values())).decode(),
    }
    return f"const {GLOBAL} = {json.dumps(data, separators=(',', ':'))};\n"


def describe(observer: ToMnet, name: str) -> dict:
    """What a page needs to know of an observer beside its weights."""
    config, domain = observer.config, observer.domain
    for field, known in PORTABLE.items():
        if getattr(config, field) != known:
            raise BadSetting(f"ObserverConfig.{field}", getattr(config, field), f"a page can run {known!r} only")
    if domain is None or domain.subgoal:
        raise BadSetting("ToMnet.domain", domain, "a page can run an observer trained without a subgoal only")
    return {
        "version": VERSION,
        "name": name,
        "size": config.size,
        "embedding": config.embedding,
        "max_past": domain.max_past,
        "character_depth": config.character_depth,
        "torso_depth": config.torso_depth,
        "actions": ACTIONS,
        "objects": tuple(LETTERS[: config.objects]),
        "discounts": GAMMAS,
    }


def folded_arrays(observer: ToMnet) -> dict[str, np.ndarray]:
    """Kernels, weights and biases by name, always in one order; no normalisation is left."""

    def normalised(part) -> bool:
        return isinstance(part, NormalisedConvolution)

    plain = jax.tree.map(lambda part: folded(part) if normalised(part) else part, observer, is_leaf=normalised)
    return named_arrays(plain)


def folded(layer: NormalisedConvolution) -> Convolution:
    """A convolution and its batch normalisation as one convolution with a bias."""
    # in float64 and not compiled: rounded once, and to the same bits on every machine
    norm = {name: array.astype(np.float64) for name, array in named_arrays(layer.norm).items()}
    gain = norm["scale"] / np.sqrt(norm["running_variance"] + 1e-5)
    kernel = np.asarray(layer.convolution.kernel, np.float64) * gain
    bias = norm["shift"] - norm["running_mean"] * gain
    return eqx.tree_at(
        lambda convolution: (convolution.kernel, convolution.bias),
        layer.convolution,
        (kernel.astype(np.float32), bias.astype(np.float32)),
        is_leaf=lambda leaf: leaf is None,
    )
