"""A fitted observer: saved, loaded and asked by name.

agent = tomnet.meet("fitted", past)     # recordings of one agent, and an observer fitted to others
said = agent.ask(current)               # the maze that it is in now: a picture, a scene or a recording
said.action["up"], said.outcome["A"], said.successor[0.9].shape, said.character.mean
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from ..asking.answer import Embedding, Named
from ..asking.inputs import drawn, recordings_from
from ..episodes.targets import GAMMAS
from ..recordings.recording import HEADINGS, NOTHING, UNKNOWN, Recording, is_step
from ..recordings.scene import Scene
from ..support.array_files import load_arrays, save_arrays, stored_format
from ..support.errors import BadFile, BadSetting
from ..support.files import FilePath
from ..support.identity import plain
from ..support.named_arrays import named_arrays, with_arrays
from ..support.typed_json import Misfit, from_json, to_json
from ..support.warn import BeyondTraining, warn_once
from ..support.words import counted
from .dataset import QUERIES, Schema, make_dataset, spread_out
from .domain import FitDomain
from .inverse_planner import InversePlanner
from .mixture import Mixture, Weights
from .network_observer import NetworkObserver
from .observer_protocol import Asked, NeuralObserver, Observer
from .steps import StepModel
from .tomnet_observer import ToMnetObserver

FORMAT, VERSION = "tomnet fitted observer", 2
NO_FITTED_OBSERVER = "its header describes no fitted observer that this tomnet can build"
OBSERVER = "observer.safetensors"

Name = Literal["network", "inverse planner", "mixture"]
NAMES: tuple[Name, ...] = get_args(Name)
KINDS = {each.kind: each for each in (NetworkObserver, ToMnetObserver)}


@dataclass(frozen=True)
class FittedAnswer:
    """What an observer thinks of an agent in a state: probabilities by name, where it will be, and who it is."""

    outcome: Named[str]  # what is taken next; of all kinds, and "nothing"
    action: Named[str]
    successor: Named[float]  # by discount, `[row, col]`
    character: Embedding

    @property
    def heads(self) -> tuple[str, ...]:
        """What there is to read, as of any answer."""
        return "outcome", "action", "successor"

    def __str__(self) -> str:
        return f"next action: {self.action}\nis taken next: {self.outcome}"

    __repr__ = __str__


@dataclass(frozen=True)
class FittedObserver:
    """All three observers that a fit makes, and which of them it recommends."""

    schema: Schema
    neural: NeuralObserver
    planner: InversePlanner
    outcome_weights: Weights
    action_weights: Weights
    recommended: Name
    about: dict[str, Any]
    domain: FitDomain | None = None  # None: its file does not say

    def named(self, name: str) -> Observer:
        if name not in NAMES:
            raise BadSetting("observer", repr(name), f"must be one of {', '.join(NAMES)}")
        mixture = Mixture(self.neural, self.planner, self.outcome_weights, self.action_weights)
        return {"network": self.neural, "inverse planner": self.planner, "mixture": mixture}[name]

    def check(self, recording: Recording, *, seen: bool = True) -> None:
        """Whether it can be asked about, and where it is `seen` whether all of it can be read."""
        self.schema.check(recording)
        self.neural.check(recording, seen=seen)

    def meet(self, past: Iterable[Recording]) -> "FittedAgent":
        """An agent by its past episodes, in the order of time; see `tomnet.meet`."""
        return FittedAgent(self, recordings_from(past))

    def ask(
        self, past: Sequence[Recording], now: Recording | Scene | str, *, time: int = 0, observer: str | None = None
    ) -> FittedAnswer:
        """After these episodes of an agent, in the order of time, about a state that it is in: a scene, the picture of
        one, or a recording at one of its times, of which only what came before is seen."""
        current = _current(now, self.schema)
        if not is_step(time, current):
            steps = counted(len(current), "step")
            raise BadSetting("time", time, f"should be the number of one of {steps}, counted from 0")
        recordings = [dataclasses.replace(each, agent="asked") for each in (*past, current)]
        for each in recordings[:-1]:
            self.check(each)
        self.check(recordings[-1], seen=False)
        reasons = [] if self.domain is None else list(self.domain.reasons(len(past), recordings))
        if reasons:
            warn_once(f"unlike what this observer met in fitting: {'; '.join(reasons)}", BeyondTraining)
        now_asked, at = recordings[-1], np.full(QUERIES, time)
        data = make_dataset(recordings, self.schema, times=lambda each: at if each is now_asked else spread_out(each))
        last = np.array([len(past)])
        asked = Asked(np.arange(len(past))[None], last, np.zeros(1, int))
        said = self.named(observer or self.recommended)
        rows, cols = current.size
        return FittedAnswer(
            outcome=Named(self.schema.outcomes, said.outcomes(data, asked)[0]),
            action=Named(self.schema.action_names, said.actions(data, asked)[0]),
            successor=Named(GAMMAS, self.neural.successor_maps(data, asked)[0, :, :rows, :cols]),
            character=Embedding(self.neural.characters(data, asked.past)[0], None),
        )


@dataclass(frozen=True)
class FittedAgent:
    """What a fitted observer makes of one agent, by its past: `tomnet.meet` gives one, and `ask` asks it."""

    observer: FittedObserver
    past: tuple[Recording, ...]

    def ask(self, state: Recording | Scene | str, *, time: int = 0) -> FittedAnswer:
        """What the agent will do in a state: a picture, a scene, or a recording at one of its times."""
        return self.observer.ask(self.past, state, time=time)


def _current(now: Any, schema: Schema) -> Recording:
    if isinstance(now, Recording):
        return now
    if not isinstance(now, Scene | str):
        raise BadSetting("state", type(now).__name__, "should be a recording, a scene or the picture of one")
    return _standing(drawn(now) if isinstance(now, str) else now, schema.action_names)


def _standing(scene: Scene, action_names: tuple[str, ...]) -> Recording:
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
        action_names=action_names,
        actions=np.array([UNKNOWN]),
        cells=np.array([cell, cell]),
        object_cells=objects,
        taken=np.array([NOTHING]),
        headings=heading,
    )


@dataclass(frozen=True)
class PlannerHeader:
    detour_cost: float
    haste: float


@dataclass(frozen=True)
class Header:
    """Of a fitted observer's file."""

    schema: Schema
    kind: str  # of KINDS
    network: dict[str, Any]  # its config, which is of its kind
    planner: PlannerHeader
    outcome_weights: list[tuple[int, float]]  # JSON's tables have no numbers for keys
    action_weights: list[tuple[int, float]]
    recommended: Name
    about: dict[str, Any]
    domain: FitDomain | None = None  # files from before it was known have none


def save_fitted(path: FilePath, observer: FittedObserver) -> None:
    planner = observer.planner
    arrays = {f"network.{name}": array for name, array in named_arrays(observer.neural.network).items()}
    arrays |= {"planner.parameters": planner.parameters, "planner.usual_steps": planner.steps.usual}
    header = Header(
        schema=observer.schema,
        kind=observer.neural.kind,
        network=plain(observer.neural.network.config),
        planner=PlannerHeader(planner.detour_cost, planner.steps.haste),
        outcome_weights=[*observer.outcome_weights.items()],
        action_weights=[*observer.action_weights.items()],
        recommended=observer.recommended,
        about=observer.about,
        domain=observer.domain,
    )
    save_arrays(path, arrays, to_json(header), format=FORMAT, version=VERSION)


def is_fitted(path: FilePath) -> bool:
    """Whether this is the folder of a fit, or the file that it made."""
    path = Path(path)
    path = path / OBSERVER if path.is_dir() else path
    return path.is_file() and stored_format(path) == FORMAT


def load_fitted(path: FilePath) -> FittedObserver:
    """An observer that `tomnet fit` made, from its folder or its file; `tomnet.meet` lets it meet an agent.

    >>> tomnet.load_fitted("nowhere")
    Traceback (most recent call last):
    tomnet...BadFile: nowhere: no such file or directory
    """
    path = Path(path)
    path = path / OBSERVER if path.is_dir() else path
    arrays, told = load_arrays(path, FORMAT, VERSION)
    try:
        header: Header = from_json(Header, told)
        blank = KINDS[header.kind].blank(_tuples(header.network))
        prefix = "network."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        steps = StepModel(arrays["planner.usual_steps"], header.planner.haste)
        return FittedObserver(
            schema=header.schema,
            neural=dataclasses.replace(blank, network=with_arrays(blank.network, own, path)),
            planner=InversePlanner(arrays["planner.parameters"], header.planner.detour_cost, steps),
            outcome_weights=dict(header.outcome_weights),
            action_weights=dict(header.action_weights),
            recommended=header.recommended,
            about=header.about,
            domain=header.domain,
        )
    except (BadSetting, Misfit) as why:
        raise BadFile(path, f"{NO_FITTED_OBSERVER}: {why}") from None
    except (KeyError, TypeError, ValueError) as error:  # an array that is missing, or a config of another kind
        raise BadFile(path, NO_FITTED_OBSERVER) from error


def _tuples(said: dict[str, Any]) -> dict[str, Any]:
    """JSON has lists where a dataclass has tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
