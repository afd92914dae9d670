"""What an observer of an experiment says about itself, in the header of its file: whose it is, whom it met, how it was
trained.

`run.train_observer` and the training that it starts write it. An observer that is trained outside of the experiments
may say anything else: so `load_observer` gives what there is, and the zoo reads it as this.
"""

import dataclasses
from typing import Any

from .experiment import Preset


@dataclasses.dataclass(frozen=True)
class Description:
    """By the first five an observer is known; the others are told on its card, where it says them."""

    experiment: str
    observer: str
    preset: Preset
    met: Any  # what `ObserverSpec.met` was, to be compared with what it is now
    populations: dict[str, str]  # of deep RL agents: digests by condition
    command: str | None = None
    encounters: int = 0
    queries: int = 0  # 0: one in each encounter
    start: str | None = None  # the digest of the observer that training began with
    training: dict[str, Any] | None = None
    seconds: float = 0.0
    seed: int | None = None
    environment: dict[str, Any] = dataclasses.field(default_factory=dict)
    resumed: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # who went on with the run, and where
