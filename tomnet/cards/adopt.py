"""Adopting a finished run into the zoo, and the cards of what is there.

python -m tomnet.cards.adopt agents RUN                           the populations of a run
python -m tomnet.cards.adopt agents-card RESULT.json              their card, from `tomnet agents evaluate --out`
python -m tomnet.cards.adopt observers RUN EXPERIMENT             all observers of a run
python -m tomnet.cards.adopt observer RUN EXPERIMENT OBSERVER     one of them
python -m tomnet.cards.adopt cards REPORT                         every observer's card, from a report's folder
"""

import sys
from pathlib import Path

from .. import zoo
from ..agents.population import save_population
from ..experiments.analysis.population_evaluation import PopulationTables
from ..experiments.experiment import Result
from ..experiments.registry import EXPERIMENTS, find
from ..experiments.run import read_result
from ..observer.training import OBSERVER
from ..support.files import write_atomically
from ..support.json_files import read_json
from .agents import compose_agents_card
from .observers import compose_card


def adopt_observers(run_folder: Path, experiment: str) -> None:
    """Take the trained observers of a run into the zoo: all of them, or none if one cannot be read.

    An observer that several experiments share goes where it is at home.
    """
    for name in zoo.load_run(Path(run_folder), experiment):
        adopt_observer(run_folder, experiment, name)


def adopt_observer(run_folder: Path, experiment: str, name: str) -> None:
    """Take one of them."""
    path = Path(run_folder) / name / OBSERVER
    zoo.read(path, experiment, name)  # which refuses what is not this one
    write_atomically(zoo.observer_file(experiment, name), path.read_bytes())


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


def main(argv: list[str]) -> None:
    match argv:
        case ["agents", run_folder]:
            adopt_agents(Path(run_folder))
        case ["agents-card", path]:
            write_agents_card(Result.from_json(read_json(Path(path)), PopulationTables))
        case ["observers", run_folder, experiment]:
            adopt_observers(Path(run_folder), experiment)
        case ["observer", run_folder, experiment, name]:
            adopt_observer(Path(run_folder), experiment, name)
        case ["cards", report]:
            for name in filter(zoo.available, EXPERIMENTS):
                if (path := Path(report) / f"{name}.json").exists():  # else it waits for other agents
                    write_card(name, read_result(path))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
