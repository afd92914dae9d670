"""Pretrained observers and agents, each with a card that says what they are.

    observers = zoo.load("goal-inference")                    # by name, ready for `observe`
    agent = zoo.agents("5x5").agent(network=3, preferred=1)   # a deep RL agent, ready for `rollout`

They lie in `zoo/<experiment>/<observer>.safetensors` and `zoo/agents/<condition>.safetensors`. How a run becomes part
of the zoo is in `cards.adopt`.
"""

from collections.abc import Iterable
from os import PathLike
from os.path import isdir
from pathlib import Path
from typing import TypeVar

import jax

from ..agents.population import CONDITIONS, Population, condition_file, find_condition, load_condition
from ..experiments.description import Description
from ..experiments.experiment import ANY_PRESET
from ..experiments.registry import EXPERIMENTS, find
from ..observer.checkpoint import load_observer
from ..observer.tomnet import ToMnet
from ..observer.training import OBSERVER
from ..support.errors import BadFile, BadSetting, TomnetError, nearest
from ..support.files import FilePath
from ..support.identity import differences
from ..support.run_folder import read_run
from ..support.typed_json import Misfit, from_json
from ..support.zoo_folder import zoo_folder

FOLDER = zoo_folder()
CARD = "README.md"
AGENTS = "agents"
T = TypeVar("T")


# --- Observers


class ByObserver(dict[str, T]):
    """By the name of an observer; an unknown one gives the nearest."""

    def __missing__(self, name: str) -> T:
        raise nearest(name, self, "observer")


# a PyTree, as a plain dictionary is
jax.tree_util.register_pytree_node(
    ByObserver, lambda held: (list(held.values()), tuple(held)), lambda names, held: ByObserver(zip(names, held))
)


def available(experiment: str) -> bool:
    """Whether every observer of the experiment is here."""
    return all(observer_file(experiment, name).exists() for name in observer_names(experiment))


def names() -> list[str]:
    """Every pretrained observer, as `experiment/observer`; one that several experiments share, once for each."""
    here = filter(available, EXPERIMENTS)
    return [f"{experiment}/{name}" for experiment in here for name in observer_names(experiment)]


def load_named(name: FilePath) -> ToMnet:
    """By `experiment/observer`, or from a file."""
    if not isinstance(name, str | PathLike):
        why = "should be the name of an observer, such as 'goal-inference/2d', or its file"
        raise BadSetting("observer", repr(name)[:40], why)
    name = str(name)
    if name.endswith(".safetensors"):
        return load_observer(Path(name))[0]
    if name in names():
        return load_one(*name.split("/"))
    if name and isdir(name):
        file = observer_in(Path(name))
        if file is None:
            raise BadFile(name, f"a folder that holds no observer, no {OBSERVER}")
        raise BadFile(name, "a folder, and not the name or the file of an observer", f"perhaps {file} is meant")
    raise nearest(name, names(), "observer")


def load_one(experiment: str, name: str) -> ToMnet:
    return read(observer_file(experiment, name), experiment, name)[0]


def load(experiment: str) -> ByObserver[ToMnet]:
    return ByObserver({name: observer for name, (observer, _) in load_all(experiment).items()})


def load_all(experiment: str) -> ByObserver[tuple[ToMnet, Description]]:
    """The observers by name, each with what it says about itself: command, encounters, device."""
    if not available(experiment):
        advice = f"`tomnet run {experiment}` trains them"
        raise TomnetError(f"the zoo holds no pretrained observers of {experiment}; {advice}")
    names = observer_names(experiment)
    return ByObserver({name: read(observer_file(experiment, name), experiment, name) for name in names})


def about(experiment: str) -> ByObserver[Description]:
    return ByObserver({name: description for name, (_, description) in load_all(experiment).items()})


def card(experiment: str) -> Path:
    return FOLDER / find(experiment).name / CARD


def load_run(folder: Path, experiment: str) -> dict[str, tuple[ToMnet, Description]]:
    """The trained observers of a run folder, each with what it says about itself."""
    loaded = {}
    for name in observer_names(experiment):
        path = folder / name / OBSERVER
        if not path.exists():
            raise _no_observer(folder, experiment, name)
        loaded[name] = read(path, experiment, name)
    return loaded


def observer_in(path: Path, names: Iterable[str] = ()) -> Path | None:
    """An observer file: the path itself, or in the folder where it was trained; in the folder of a run, the first there
    is of these names."""
    if not path.is_dir():
        return path
    files = [path / OBSERVER, *(path / name / OBSERVER for name in names)]
    return next((file for file in files if file.exists()), None)


def _no_observer(folder: Path, experiment: str, name: str) -> BadFile:
    """A run that goes on, or a folder above or below the one that was meant."""
    why = f"holds no trained observer {name!r}, no {name}/{OBSERVER}"
    if any((folder / other).is_dir() for other in observer_names(experiment)):
        return BadFile(folder, why, "is the run finished?")
    if (folder / OBSERVER).exists():
        return BadFile(folder, why, f"the run folder lies above, the observer file is {folder / OBSERVER}")
    return BadFile(folder, why, f"the folder of a run of {experiment} is expected, or an observer file")


def read(path: Path, experiment: str, name: str | None = None) -> tuple[ToMnet, Description]:
    """One observer file, which must be of this experiment and, where given, of this name."""
    observer, about = load_observer(path)
    try:
        description: Description = from_json(Description, about)
    except Misfit as why:  # its checksum is right, so someone wrote it this way
        raise BadFile(path, f"its header does not describe an observer of an experiment: {why}") from None
    its_experiment, its_name, preset = description.experiment, description.observer, description.preset
    where = home(experiment, its_name)
    if where is None or where != home(its_experiment, its_name):
        raise BadFile(path, f"an observer of {its_experiment}/{its_name}, not of {experiment}")
    if name is not None and its_name != name:
        raise BadFile(path, f"the observer {its_name!r}, not {name!r}")
    meant = next(each for each in find(experiment).specs(preset) if each.name == its_name)
    other = "; ".join(differences(description.met, meant.met))
    if other:
        raise BadFile(path, f"met others than {experiment}/{its_name} of preset {preset}: {other}")
    return observer, description


def observer_names(experiment: str) -> list[str]:
    return [each.name for each in find(experiment).specs(ANY_PRESET)]


def home(experiment: str, name: str) -> str | None:
    """The experiment that trains this observer of that one: itself, unless it borrows it. None if there is none."""
    specs = EXPERIMENTS[experiment].specs(ANY_PRESET) if experiment in EXPERIMENTS else ()
    return next((each.home or experiment for each in specs if each.name == name), None)


def observer_file(experiment: str, name: str) -> Path:
    return FOLDER / (home(experiment, name) or experiment) / f"{name}.safetensors"


# --- Agents


def agents(condition: str) -> Population:
    """The pretrained deep RL agents of one condition, such as `5x5` or `blind`."""
    name = find_condition(condition).name
    return populations(None, (name,))[name]


def populations(folder: Path | None = None, conditions: tuple[str, ...] = ()) -> dict[str, Population]:
    """The populations of these conditions, or of all there are: pretrained ones, or those of a run folder."""
    place = FOLDER / AGENTS if folder is None else Path(folder)
    wanted = [find_condition(name).name for name in conditions]
    if folder is not None and not place.is_dir():
        raise BadFile(place, "not a folder" if place.exists() else "no such folder")
    there = [name for name in CONDITIONS if condition_file(name, place).exists()]
    missing = [name for name in dict.fromkeys([*wanted, *_promised(place)]) if name not in there]
    if missing or not there:
        what = " and ".join(missing) or "any condition"
        if folder is None:
            raise TomnetError(f"the zoo holds no pretrained agents of {what}; `tomnet agents train` trains them")
        hint = f"there are {', '.join(there)}" if there else "the folder of a run of `tomnet agents train` is expected"
        hint = "is the run finished?" if _promised(place) else hint
        raise BadFile(place, f"holds no trained agents of {what}", hint)
    return {name: load_condition(name, place) for name in wanted or there}


def _promised(folder: Path) -> list[str]:
    """The conditions of a run, by its settings: they are there once it is finished, and not one by one."""
    run = read_run(folder, "population")
    return [] if run is None else run.settings.get("only") or run.settings["conditions"]


def agents_card() -> Path:
    return FOLDER / AGENTS / CARD
