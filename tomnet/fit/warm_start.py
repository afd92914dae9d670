"""A pretrained observer to start from: one that was fitted before, or a ToMnet from the zoo; and whether it fits.

What was fitted before is a network of the same kind, which reads mazes of any size. A ToMnet reads what it was built
for: one size of grid, objects by their letters, five actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import zoo
from ..recordings.recording import Recording
from ..support.errors import TomnetError
from ..support.named_arrays import digest_of
from .dataset import Schema, schema_of
from .fitted_observer import OBSERVER, is_fitted, load_fitted
from .observer_protocol import NeuralObserver
from .tomnet_observer import ToMnetObserver


@dataclass(frozen=True)
class Start:
    name: str
    observer: NeuralObserver
    schema: Schema | None  # what a fitted one knows

    @property
    def digest(self) -> str:
        return digest_of(self.observer.network)


def load_start(name: str) -> Start:
    """By the name of an observer in the zoo, from its file, or from the folder of a fit."""
    path = Path(name)
    path = path / OBSERVER if path.is_dir() else path
    if is_fitted(path):
        fitted = load_fitted(path)
        return Start(name, fitted.neural, fitted.schema)
    return Start(name, ToMnetObserver(zoo.load_named(str(path) if path.is_file() else name)), None)


def check_start(start: Start, recordings: Sequence[Recording]) -> None:
    """One line that names everything in which observer and recordings differ."""
    other = [*start.observer.unlike(start.schema, schema_of(recordings), recordings)]
    if other:
        raise TomnetError(f"{start.name} is no start for these recordings: {'; '.join(other)}")
