"""The paper's ToMnet, pretrained in our own worlds, asked about recordings as every observer is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..episodes.history import History
from ..observer.checkpoint import blank_observer
from ..observer.config import BEHAVIOUR, ObserverConfig
from ..observer.tomnet import Reading, ToMnet, ask
from ..recordings.episodes import check_fits, with_some_action
from ..recordings.recording import ACTIONS, Recording
from ..support.trees import pick
from .dataset import Dataset, Schema
from .fine_tuning import PAST, fine_tune
from .network_observer import in_parts
from .observer_protocol import Asked, other_names
from .split import Split
from .tomnet_inputs import episodes_of, letters, query_of
from .training import FitTraining

LEAST = 1e-6  # probability that nothing is taken, however sure the consumption head is of the objects


@dataclass(frozen=True, eq=False)
class ToMnetObserver:
    kind: ClassVar[str] = "tomnet"
    network: ToMnet

    @staticmethod
    def blank(config: Mapping[str, Any]) -> "ToMnetObserver":
        """Shapes only."""
        return ToMnetObserver(blank_observer(ObserverConfig(**config)))

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        """Each kind by itself, as the consumption head has it; what is left over is that nothing is taken."""
        kinds = [letters(self.network.config).index(kind) for kind in data.schema.kinds]
        logits = self._asked(data, asked, lambda reading: reading.predictions.consumption)
        taken = np.asarray(jax.nn.sigmoid(logits))[:, kinds] * data.possible[asked.place][:, :-1]
        nothing = np.maximum(1 - taken.sum(-1, keepdims=True), LEAST)
        said = np.concatenate([taken, nothing], -1)
        return said / said.sum(-1, keepdims=True)

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        numbers = [ACTIONS.index(name) for name in data.schema.action_names]
        said = np.exp(self._asked(data, asked, lambda reading: reading.predictions.action))[:, numbers]
        return said / said.sum(-1, keepdims=True)

    def successor_maps(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked gamma row col"]:
        return np.exp(self._asked(data, asked, lambda reading: reading.predictions.successor))

    def embeddings(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked embedding"]:
        none = np.zeros(len(past), int)
        return self._asked(data, Asked(past, none, none), lambda reading: reading.character.mean)

    def characters(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked feature"]:
        return self.embeddings(data, past)

    def _asked(self, data: Dataset, asked: Asked, part: Callable[[Reading], Any]) -> np.ndarray:
        numbers = np.unique(asked.past[asked.past >= 0])
        episodes = episodes_of(data, numbers, self.network.config)

        def read(some: Asked) -> Array:
            place = np.searchsorted(numbers, np.maximum(some.past, 0)) % max(len(numbers), 1)
            history = History(pick(episodes, place), jnp.asarray(some.past >= 0))
            return part(ask(self.network, history, query_of(data, some, self.network.config)))

        return in_parts(asked, read)

    def check(self, recording: Recording, *, seen: bool) -> None:
        config = self.network.config
        check_fits(recording if seen else with_some_action(recording), config.size, letters(config))

    def most_past(self, training: FitTraining) -> int:
        return PAST

    def trained_on(
        self,
        data: Dataset,
        split: Split,
        training: FitTraining,
        folder: Path,
        *,
        seed: int,
        stopped: Callable[[], bool],
    ) -> "ToMnetObserver":
        return ToMnetObserver(fine_tune(self.network, data, split.train, split.validation, folder, seed=seed))

    def unlike(self, known: Schema | None, found: Schema, recordings: Sequence[Recording]) -> Iterator[str]:
        config = self.network.config
        if any(each.size != (config.size, config.size) for each in recordings):
            sizes = sorted({each.size for each in recordings})
            told = ", ".join(f"{rows}×{cols}" for rows, cols in sizes[:3]) + (", …" if len(sizes) > 3 else "")
            yield f"size: it knows {config.size}×{config.size}, found {told}"
        if not set(found.kinds) <= set(letters(config)):
            yield from other_names("objects", letters(config), found.kinds)
        elif any(len(set(each.objects)) < len(each.objects) for each in recordings):
            yield "objects: it knows one of each, found several with a letter"
        if not set(found.action_names) <= set(ACTIONS):
            yield from other_names("actions", ACTIONS, found.action_names)
        elif any((each.actions < 0).any() for each in recordings):
            yield "actions: it knows every one, found unknown ones"
        if found.headed:
            yield "headings: it knows none, found some"
        if config.heads != BEHAVIOUR:
            yield from other_names("heads", config.heads, BEHAVIOUR)
        if config.character != "episodes" or config.mental:
            net = "a mental net" if config.mental else f"a character net for {config.character}"
            yield f"nets: it has {net}, and whole past episodes are what there is"
