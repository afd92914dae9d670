"""Adopting a finished run into the zoo, and the cards of what is there."""

from pathlib import Path

from .. import zoo
from ..agents.population import save_population
from ..experiments.experiment import Result
from ..experiments.registry import find
from ..observer.checkpoint import save_observer
from ..support.files import write_atomically
from .agents import compose_agents_card
from .observers import compose_card


def adopt_observers(run_folder: Path, experiment: str) -> None:
    """Take the trained observers of a run into the zoo: all of them, or none if one cannot be read.

    An observer that several experiments share goes where it is at home.
    """
    for name, (observer, description) in zoo.load_run(Path(run_folder), experiment).items():
        save_observer(zoo.observer_file(experiment, name), observer, description)


def write_card(experiment: str, result: Result) -> None:
    """The card, from what the observers say about themselves and what an evaluation said about them."""
    write_atomically(zoo.card(experiment), compose_card(find(experiment), zoo.load_all(experiment), result).encode())


def adopt_agents(run_folder: Path) -> None:
    """Take the populations of a run into the zoo: all of them, or none if one cannot be read."""
    for name, population in zoo.populations(Path(run_folder)).items():
        save_population(zoo.FOLDER / zoo.AGENTS / f"{name}.safetensors", population)


def write_agents_card(result: Result) -> None:
    """The card, from what the populations say about themselves and what `tomnet agents evaluate` measured."""
    write_atomically(zoo.agents_card(), compose_agents_card(zoo.populations(), result).encode())
