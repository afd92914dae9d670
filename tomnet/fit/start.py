"""A pretrained observer to start from: one that was fitted before, or a ToMnet from the zoo; and whether it fits.

What was fitted before is a network of the same kind, which reads mazes of any size. A ToMnet reads what it was built
for: one size of grid, objects by their letters, five actions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import zoo
from ..observer.config import BEHAVIOUR
from ..observer.tomnet import ToMnet
from ..recordings.recording import ACTIONS, Recording
from ..support.errors import TomnetError
from ..support.named_arrays import digest_of
from .dataset import Schema, schema_of
from .network import Network
from .observer import OBSERVER, is_fitted, load_fitted
from .tomnet_observer import letters


@dataclass(frozen=True)
class Start:
    name: str
    network: Network | ToMnet
    schema: Schema | None  # what a fitted one knows

    @property
    def digest(self) -> str:
        return digest_of(self.network)


def load_start(name: str) -> Start:
    """By the name of an observer in the zoo, from its file, or from the folder of a fit."""
    path = Path(name)
    path = path / OBSERVER if path.is_dir() else path
    if is_fitted(path):
        fitted = load_fitted(path)
        return Start(name, fitted.network, fitted.schema)
    return Start(name, zoo.load_named(str(path) if path.is_file() else name), None)


def check_start(start: Start, recordings: Iterable[Recording]) -> None:
    """One line that names everything in which observer and recordings differ."""
    recordings = list(recordings)
    found = schema_of(recordings)
    if isinstance(start.network, Network):
        assert start.schema is not None
        other = [*_unlike("objects", start.schema.kinds, found.kinds)]
        other += _unlike("actions", start.schema.action_names, found.action_names)
    else:
        other = [*_unlike_tomnet(start.network, found, recordings)]
    if other:
        raise TomnetError(f"{start.name} is no start for these recordings: {'; '.join(other)}")


def _unlike(what: str, known: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    if tuple(known) != tuple(found):
        yield f"{what}: it knows {', '.join(known) or 'none'}, found {', '.join(found) or 'none'}"


def _unlike_tomnet(network: ToMnet, found: Schema, recordings: list[Recording]) -> Iterator[str]:
    config = network.config
    if any(each.size != (config.size, config.size) for each in recordings):
        sizes = sorted({each.size for each in recordings})
        told = ", ".join(f"{rows}×{cols}" for rows, cols in sizes[:3]) + (", …" if len(sizes) > 3 else "")
        yield f"size: it knows {config.size}×{config.size}, found {told}"
    if not set(found.kinds) <= set(letters(config)):
        yield from _unlike("objects", letters(config), found.kinds)
    elif any(len(set(each.objects)) < len(each.objects) for each in recordings):
        yield "objects: it knows one of each, found several with a letter"
    if not set(found.action_names) <= set(ACTIONS):
        yield from _unlike("actions", ACTIONS, found.action_names)
    elif any((each.actions < 0).any() for each in recordings):
        yield "actions: it knows every one, found unknown ones"
    if found.headed:
        yield "headings: it knows none, found some"
    if config.heads != BEHAVIOUR:
        yield from _unlike("heads", config.heads, BEHAVIOUR)
    if config.character != "episodes" or config.mental:
        net = "a mental net" if config.mental else f"a character net for {config.character}"
        yield f"nets: it has {net}, and whole past episodes are what there is"
