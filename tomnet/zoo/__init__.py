"""Pretrained observers and agents, each with a card that says what they are.

    observers = zoo.load("goal-inference")                    # by member name, ready for `observe`
    agent = zoo.agents("5x5").agent(network=3, preferred=1)   # a deep RL agent, ready for `rollout`

They lie in `zoo/<experiment>/<member>.safetensors` and `zoo/agents/<condition>.safetensors`. A run becomes part of the
zoo with `adopt` or `adopt_agents`; `write_card` and `write_agents_card` then describe it from its headers and an
evaluation.
"""

from pathlib import Path
from typing import Any, TypeVar

import jax

from ..agents.population import CONDITIONS, Population, condition_file, find_condition, load_condition, save_population
from ..agents.run_folder import CONFIG
from ..errors import BadFile, TomnetError, nearest
from ..experiments.experiment import Result
from ..experiments.registry import EXPERIMENTS, find
from ..experiments.run import check_preset
from ..files import read_json, write_atomically
from ..identity import differences
from ..observer.checkpoint import load_observer, save_observer
from ..observer.tomnet import ToMnet
from ..observer.training import OBSERVER
from .agent_cards import compose_agents_card
from .cards import compose_card

FOLDER = Path(__file__).parent
CARD = "README.md"
AGENTS = "agents"
T = TypeVar("T")
SAID = ("experiment", "member", "preset", "met", "populations")  # what every observer says about itself


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
    return all(_path(experiment, member).exists() for member in member_names(experiment))


def names() -> list[str]:
    """Every pretrained observer, as `experiment/member`; one that several experiments share, once for each."""
    return [f"{experiment}/{member}" for experiment in EXPERIMENTS for member in member_names(experiment)]


def load_one(experiment: str, member: str) -> ToMnet:
    return read(_path(experiment, member), experiment, member)[0]


def load(experiment: str) -> ByObserver[ToMnet]:
    return ByObserver({member: observer for member, (observer, _) in load_all(experiment).items()})


def load_all(experiment: str) -> ByObserver[tuple[ToMnet, dict[str, Any]]]:
    """The observers by member name, each with what it says about itself: command, encounters, device."""
    if not available(experiment):
        advice = f"`tomnet run {experiment}` trains them"
        raise TomnetError(f"the zoo holds no pretrained observers of {experiment}; {advice}")
    members = member_names(experiment)
    return ByObserver({member: read(_path(experiment, member), experiment, member) for member in members})


def about(experiment: str) -> ByObserver[dict[str, Any]]:
    return ByObserver({member: description for member, (_, description) in load_all(experiment).items()})


def card(experiment: str) -> Path:
    return FOLDER / find(experiment).name / CARD


def load_run(folder: Path, experiment: str) -> dict[str, tuple[ToMnet, dict[str, Any]]]:
    """The trained observers of a run folder, each with what it says about itself."""
    loaded = {}
    for member in member_names(experiment):
        path = folder / member / OBSERVER
        if not path.exists():
            raise _no_observer(folder, experiment, member)
        loaded[member] = read(path, experiment, member)
    return loaded


def _no_observer(folder: Path, experiment: str, member: str) -> BadFile:
    """A run that goes on, or a folder above or below the one that was meant."""
    why = f"holds no trained observer {member!r}, no {member}/{OBSERVER}"
    if any((folder / name).is_dir() for name in member_names(experiment)):
        return BadFile(folder, why, "is the run finished?")
    if (folder / OBSERVER).exists():
        return BadFile(folder, why, f"the run folder lies above, the observer file is {folder / OBSERVER}")
    return BadFile(folder, why, f"the folder of a run of {experiment} is expected, or an observer file")


def read(path: Path, experiment: str, member: str | None = None) -> tuple[ToMnet, dict[str, Any]]:
    """One observer file, which must be of this experiment and, where given, this member."""
    try:
        observer, description = load_observer(path)
        its_experiment, its_member, preset, met, _ = (description[name] for name in SAID)
    except (KeyError, TypeError, ValueError) as error:  # its checksum is right, so someone wrote it this way
        raise BadFile(path, "its header does not describe an observer of an experiment") from error
    where = home(experiment, its_member)
    if where is None or where != home(its_experiment, its_member):
        raise BadFile(path, f"an observer of {its_experiment}/{its_member}, not of {experiment}")
    if member is not None and its_member != member:
        raise BadFile(path, f"the observer {its_member!r}, not {member!r}")
    meant = next(each for each in find(experiment).members(check_preset(preset)) if each.name == its_member)
    other = "; ".join(differences(met, meant.met))
    if other:
        raise BadFile(path, f"met others than {experiment}/{its_member} of preset {preset}: {other}")
    return observer, description


def adopt(run_folder: Path, experiment: str) -> None:
    """Take the trained observers of a run into the zoo: all of them, or none if one cannot be read.

    An observer that several experiments share goes where it is at home.
    """
    for member, (observer, description) in load_run(Path(run_folder), experiment).items():
        save_observer(_path(experiment, member), observer, description)


def write_card(experiment: str, result: Result) -> None:
    """The card, from what the observers say about themselves and what an evaluation said about them."""
    write_atomically(card(experiment), compose_card(find(experiment), load_all(experiment), result).encode())


def member_names(experiment: str) -> list[str]:
    return [member.name for member in find(experiment).members("laptop")]  # every preset has the same ones


def home(experiment: str, member: str) -> str | None:
    """The experiment that trains this observer of that one: itself, unless it borrows it. None if there is none."""
    members = EXPERIMENTS[experiment].members("laptop") if experiment in EXPERIMENTS else ()
    return next((each.home or experiment for each in members if each.name == member), None)


def _path(experiment: str, member: str) -> Path:
    return FOLDER / (home(experiment, member) or experiment) / f"{member}.safetensors"


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
    if not (folder / CONFIG).exists():
        return []
    settings = read_json(folder / CONFIG)
    if not isinstance(settings, dict) or not isinstance(settings.get("conditions"), list):
        raise BadFile(folder / CONFIG, "holds no settings of a population")
    return [str(name) for name in settings["conditions"]]


def adopt_agents(run_folder: Path) -> None:
    """Take the populations of a run into the zoo: all of them, or none if one cannot be read."""
    for name, population in populations(Path(run_folder)).items():
        save_population(FOLDER / AGENTS / f"{name}.safetensors", population)


def agents_card() -> Path:
    return FOLDER / AGENTS / CARD


def write_agents_card(result: Result) -> None:
    """The card, from what the populations say about themselves and what `tomnet agents evaluate` measured."""
    write_atomically(agents_card(), compose_agents_card(populations(), result).encode())
