"""Where training begins: at random, or with a pretrained observer, whose shape the new one then has."""

import dataclasses

from ..observer.config import ObserverConfig
from ..observer.tomnet import ToMnet
from ..observer.widening import with_bottleneck
from ..support.errors import TomnetError
from ..support.identity import differences, plain
from ..support.named_arrays import digest_of
from ..support.streams import START_STREAM, stream
from .experiment import ObserverSpec

MEANT = ("size", "objects", "heads", "character", "embedding", "mental", "bottleneck")
"""What an observer of an experiment is; how wide and deep its nets are is its preset's, and may be another's."""


@dataclasses.dataclass(frozen=True)
class Start:
    name: str
    observer: ToMnet

    @property
    def identity(self) -> dict[str, str]:
        """For a run folder: training goes on with the same weights or not at all."""
        return {"start": digest_of(self.observer)}


GENTLER = 0.1
"""Of the preset's learning rate: at the whole of it, what was known is unlearned first (docs/performance.md)."""
SCALED_ON = 200  # encounters with agents of the training set


def started(spec: ObserverSpec, start: Start) -> ObserverSpec:
    """The spec with the shape of the observer that it starts from, if that is of its kind, and with smaller steps; one
    that is given a bottleneck has more to learn, and takes those of the preset."""
    shape, training = start.observer.config, spec.training
    widened = spec.observer.bottleneck and not shape.bottleneck
    if widened:
        shape = dataclasses.replace(shape, bottleneck=True)
    else:
        training = dataclasses.replace(training, learning_rate=GENTLER * training.learning_rate)
        if shape.bottleneck:  # its price begins where it ended, or what has closed would open first
            training = dataclasses.replace(training, anneal=0.0)
    other = "; ".join(differences(_meant(shape), _meant(spec.observer)))
    if other:
        raise TomnetError(f"{spec.name} cannot start from {start.name}: its {other}")
    return dataclasses.replace(spec, observer=shape, training=training)


def first_observer(spec: ObserverSpec, start: Start, seed: int) -> ToMnet:
    """The first weights of a spec that was `started`."""
    if spec.observer.bottleneck == start.observer.config.bottleneck:
        return start.observer
    encounters = spec.sampler(held_out=True)(stream(seed, START_STREAM), SCALED_ON)
    return with_bottleneck(start.observer, encounters.one_by_one())


def _meant(config: ObserverConfig) -> dict:
    return {name: plain(getattr(config, name)) for name in MEANT}
