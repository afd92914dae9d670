"""Where training begins: at random, or with a pretrained observer, whose shape the new one then has."""

import dataclasses

from ..observer.config import ObserverConfig
from ..observer.tomnet import ToMnet
from ..support.errors import TomnetError
from ..support.identity import differences, plain
from ..support.named_arrays import digest_of
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


def started(spec: ObserverSpec, start: Start) -> ObserverSpec:
    """The spec with the shape of the observer that it starts from, if that is of its kind, and with smaller steps."""
    other = "; ".join(differences(_meant(start.observer.config), _meant(spec.observer)))
    if other:
        raise TomnetError(f"{spec.name} cannot start from {start.name}: its {other}")
    training = dataclasses.replace(spec.training, learning_rate=GENTLER * spec.training.learning_rate)
    return dataclasses.replace(spec, observer=start.observer.config, training=training)


def _meant(config: ObserverConfig) -> dict:
    return {name: plain(getattr(config, name)) for name in MEANT}
