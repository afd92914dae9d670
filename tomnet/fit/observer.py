"""A fitted observer: saved, loaded and asked by name.

observer = load_fitted("fitted/observer.safetensors")
answer = observer.ask(past, current)          # recordings of one agent, and the maze that it is in now
answer.outcome["A"], answer.action["up"], answer.successor.shape, answer.embedding
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from ..observer.checkpoint import blank_observer
from ..observer.config import ObserverConfig
from ..observer.tomnet import ToMnet
from ..recordings.recording import ACTIONS, HEADINGS, NOTHING, UNKNOWN, Recording
from ..recordings.scene import Scene
from ..support.array_files import load_arrays, save_arrays
from ..support.errors import BadFile, BadSetting
from ..support.files import FilePath
from ..support.identity import plain
from ..support.named_arrays import named_arrays, with_arrays
from .dataset import Schema, make_dataset
from .inverse_planner import InversePlanner
from .mixture import Mixture, Weights
from .network import Network, NetworkConfig
from .network_observer import NetworkObserver
from .observers import Asked, NetworkLike, Observer
from .steps import StepModel
from .tomnet_observer import ToMnetObserver

FORMAT, VERSION = "tomnet fitted observer", 2
OBSERVER = "observer.safetensors"

Name = Literal["network", "inverse planner", "mixture"]
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True)
class Answer:
    """What an observer thinks of an agent in a state: probabilities by name, where it will be, and who it is."""

    outcome: dict[str, float]  # what is taken next; of all kinds, and "nothing"
    action: dict[str, float]
    successor: Float[np.ndarray, "gamma row col"]
    embedding: Float[np.ndarray, "feature"]


@dataclass(frozen=True)
class FittedObserver:
    """All three observers that a fit makes, and which of them it recommends."""

    schema: Schema
    network: Network | ToMnet
    planner: InversePlanner
    outcome_weights: Weights
    action_weights: Weights
    recommended: Name
    about: dict[str, Any]

    def named(self, name: str) -> Observer:
        if name not in NAMES:
            raise BadSetting("observer", repr(name), f"must be one of {', '.join(NAMES)}")
        network = network_observer(self.network)
        mixture = Mixture(network, self.planner, self.outcome_weights, self.action_weights)
        return {"network": network, "inverse planner": self.planner, "mixture": mixture}[name]

    def ask(
        self, past: Sequence[Recording], now: Recording | Scene, *, time: int = 0, observer: str | None = None
    ) -> Answer:
        """After these episodes of an agent, in the order of time, about a state that it is in: a scene, or a recording
        at one of its times, of which only what came before is seen."""
        current = _standing(now) if isinstance(now, Scene) else now
        if not 0 <= time < len(current):
            raise BadSetting("time", time, f"there are {len(current)} steps to ask about, counted from 0")
        recordings = [dataclasses.replace(each, agent="asked") for each in (*past, current)]
        for each in recordings:
            self.schema.check(each)
        data = make_dataset(recordings, self.schema, last_asked_at=time)
        last = np.array([len(past)])
        asked = Asked(np.arange(len(past))[None], last, np.zeros(1, int))
        said, network = self.named(observer or self.recommended), network_observer(self.network)
        rows, cols = current.size
        return Answer(
            outcome=dict(zip(self.schema.outcomes, said.outcomes(data, asked)[0].tolist())),
            action=dict(zip(self.schema.action_names, said.actions(data, asked)[0].tolist())),
            successor=network.successor_maps(data, asked)[0, :, :rows, :cols],
            embedding=network.embeddings(data, asked.past)[0],
        )


def network_observer(network: Network | ToMnet) -> NetworkLike:
    return NetworkObserver(network) if isinstance(network, Network) else ToMnetObserver(network)


def _standing(scene: Scene) -> Recording:
    """A scene as an episode of which nothing is known but how it begins."""
    cols = scene.walls.shape[1]
    cell = scene.cell[0] * cols + scene.cell[1]
    objects = np.array([[row * cols + col for _, (row, col) in scene.objects]] * 2, int).reshape(2, -1)
    heading = None if scene.heading is None else np.full(2, HEADINGS.index(scene.heading))
    return Recording(
        agent="asked",
        episode="now",
        walls=scene.walls,
        objects=tuple(letter for letter, _ in scene.objects),
        action_names=ACTIONS[:1],
        actions=np.array([UNKNOWN]),
        cells=np.array([cell, cell]),
        object_cells=objects,
        taken=np.array([NOTHING]),
        headings=heading,
    )


def save_fitted(path: FilePath, observer: FittedObserver) -> None:
    planner = observer.planner
    arrays = {f"network.{name}": array for name, array in named_arrays(observer.network).items()}
    arrays |= {"planner.parameters": planner.parameters, "planner.usual_steps": planner.steps.usual}
    header = {
        "schema": plain(observer.schema),
        "kind": "tomnet" if isinstance(observer.network, ToMnet) else "network",
        "network": plain(observer.network.config),
        "planner": {"detour_cost": planner.detour_cost, "haste": planner.steps.haste},
        "outcome_weights": [*observer.outcome_weights.items()],
        "action_weights": [*observer.action_weights.items()],
        "recommended": observer.recommended,
        "about": observer.about,
    }
    save_arrays(path, arrays, header, format=FORMAT, version=VERSION)


def load_fitted(path: FilePath) -> FittedObserver:
    """From the file, or from the folder of a fit."""
    path = Path(path)
    path = path / OBSERVER if path.is_dir() else path
    arrays, header = load_arrays(path, FORMAT, VERSION)
    try:
        blank = _blank_network(header["kind"], header["network"])
        prefix = "network."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        steps = StepModel(arrays["planner.usual_steps"], header["planner"]["haste"])
        return FittedObserver(
            schema=Schema(**{name: _tuple(value) for name, value in header["schema"].items()}),
            network=with_arrays(blank, own, path),
            planner=InversePlanner(arrays["planner.parameters"], header["planner"]["detour_cost"], steps),
            outcome_weights=dict(header["outcome_weights"]),
            action_weights=dict(header["action_weights"]),
            recommended=header["recommended"],
            about=dict(header["about"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(path, "its header describes no fitted observer that this tomnet can build") from error


def _blank_network(kind: str, config: dict[str, Any]) -> Network | ToMnet:
    """Shapes only."""
    if kind == "tomnet":
        return blank_observer(ObserverConfig(**{name: _tuple(value) for name, value in config.items()}))
    return eqx.filter_eval_shape(lambda: Network(NetworkConfig(**config), key=jax.random.key(0)))


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
