"""`tomnet agents`: populations of deep RL agents, trained, measured and shown."""

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ..support.checks import check_between, check_seed, check_writable, check_writable_file
from ..support.cpu import compile_quickly
from ..support.errors import nearest
from ..support.progress import narrated
from .arguments import (
    DeviceArguments,
    PopulationFolder,
    ResultFolder,
    Seed,
    TrainingArguments,
    check_resume,
    object_number,
)
from .console import (
    print_beliefs_and_swaps,
    print_ceiling,
    print_claims,
    print_hands,
    print_json,
    print_memory,
    print_performance,
    say,
)
from .experiments import told_files

if TYPE_CHECKING:
    from ..agents.population import Population
    from ..experiments.analysis.population_evaluation import PopulationTables
    from ..experiments.experiment import Result

LEVELS, MOST_LEVELS = 64, 1_000
MOST_EPISODES = 100


@dataclasses.dataclass
class Train(DeviceArguments, TrainingArguments):
    """Train a population: networks of every condition side by side (laptop: of one), the best of each kept."""

    conditions: Annotated[
        Positional[tuple[str, ...]],
        arg(
            metavar="[CONDITION …]",
            help="conditions to train, as they would be among all the preset's",
            help_behavior_hint="(default: all)",
        ),
    ] = ()
    chunk: Annotated[
        int | None,
        arg(metavar="N", help="number of networks side by side", help_behavior_hint="(default: the preset's)"),
    ] = None

    def __call__(self) -> None:
        from ..agents.population_config import POPULATION_PRESETS
        from ..agents.population_training import train_population
        from ..figures import save
        from ..figures.panels import compose_all
        from ..figures.population_training import learning_panels
        from ..support.json_files import read_jsonl
        from ..support.mesh import size_of
        from ..support.processes import by_the_first
        from ..support.provenance import provenance
        from ..support.run_folder import CONFIG, METRICS

        if self.preset not in POPULATION_PRESETS:
            raise nearest(self.preset, POPULATION_PRESETS, "preset")
        self.compile_as_fits()
        check_seed(self.seed)
        training = POPULATION_PRESETS[self.preset]
        if self.conditions:
            most = len(self.conditions) * training.networks
            training = dataclasses.replace(training, only=self.conditions, chunk=min(training.chunk, most))
        if self.chunk is not None:
            training = dataclasses.replace(training, chunk=self.chunk)
        command = " ".join(["tomnet agents train", *self.conditions, f"--preset {self.preset} --seed {self.seed}"])
        if self.chunk is not None:
            command += f" --chunk {self.chunk}"
        folder = self.folder("agents")
        mesh = self.mesh()

        def check() -> None:
            check_resume(self.resume, folder, found=(folder / CONFIG).exists())
            check_writable(folder)

        def show() -> None:
            save(compose_all(learning_panels(read_jsonl(folder / METRICS))), folder / "figures")
            for name, population in populations.items():
                best, worst = population.returns[0], population.returns[-1]
                returns = f"worst to best {worst:.3f} to {best:.3f} on the levels they were chosen by"
                print(f"{folder / name}.safetensors: {len(population)} kept, {returns}")

        by_the_first(check)
        about = {"preset": self.preset, "command": command, "environment": provenance(size_of(mesh))}
        populations = train_population(training, folder, seed=self.seed, about=about, resume=self.resume, mesh=mesh)
        by_the_first(show)


@dataclasses.dataclass
class Evaluate:
    """Measure a population beside an oracle and a random walk, on levels that it has never met."""

    conditions: Annotated[
        Positional[tuple[str, ...]],
        arg(
            metavar="[CONDITION …]",
            help="conditions to measure, such as 5x5 or blind",
            help_behavior_hint="(default: all)",
        ),
    ] = ()
    population: PopulationFolder = None
    seed: Seed = 1  # the pretrained agents were trained with seed 0
    levels: Annotated[int, arg(metavar="N", help="number of levels, with one episode of each network on each")] = LEVELS
    out: ResultFolder = None
    json: bool = False
    """print claims, tables and environment as JSON"""

    def __call__(self) -> None:
        from ..report.results_file import summary

        check_seed(self.seed)
        check_between("levels", self.levels, 1, MOST_LEVELS)
        if self.out is not None:
            check_writable(self.out)
        populations = find_populations(self.conditions, self.population)
        result, figures = measure(populations, levels=self.levels, seed=self.seed), []
        if self.out is not None:
            from ..experiments.analysis.agent_episodes import same_level
            from ..figures import save
            from ..figures.agent_episodes import species_panels
            from ..figures.panels import compose_all
            from ..figures.population_evaluation import population_panels
            from ..support.json_files import write_json
            from ..support.streams import EVALUATION_STREAM, stream

            write_json(self.out / "result.json", result)
            lived = same_level(stream(self.seed, EVALUATION_STREAM), populations)
            panels = {**population_panels(result.tables), **species_panels(lived)}
            figures = save(compose_all(panels), self.out / "figures")
        if self.json:
            print_json(summary([result]))
        else:
            print_performance(result)
            print_beliefs_and_swaps(result)
            print_memory(result)
            print_hands(result)
            print_claims(result)
        if self.out is not None:
            (say if self.json else print)(told_files(self.out, figures))


@dataclasses.dataclass
class Show:
    """Draw a few episodes of one agent: what it sees, what it has seen, where it believes its object to be."""

    condition: Annotated[
        Positional[str], arg(metavar="[CONDITION]", help="condition of the agent, such as 5x5 or blind")
    ] = "5x5"
    population: PopulationFolder = None
    network: Annotated[int, arg(metavar="N", help="number of the network among those kept; 0 is the best")] = 0
    preferred: Annotated[str, arg(metavar="LETTER", help="object that it is after")] = "A"
    episodes: Annotated[int, arg(metavar="N", help="number of episodes")] = 3
    seed: Seed = 1
    out: Annotated[
        Path | None,
        arg(
            metavar="DIR",
            help="folder for the pictures",
            help_behavior_hint="(default: runs/show-CONDITION-NETWORK-LETTER-SEED)",
        ),
    ] = None

    def __call__(self) -> None:
        compile_quickly()
        check_seed(self.seed)
        check_between("episodes", self.episodes, 1, MOST_EPISODES)
        who = f"{self.condition}-{self.network}-{self.preferred.upper()}-{self.seed}"  # none among another's episodes
        folder = self.out or Path("runs") / f"show-{who}"
        check_writable(folder)
        (population,) = find_populations((self.condition,), self.population).values()
        preferred = object_number(self.preferred, population.objects)
        from ..experiments.analysis.agent_episodes import recorded_episodes
        from ..figures.agent_episodes import save_episodes
        from ..support.streams import EVALUATION_STREAM, stream

        key = stream(self.seed, EVALUATION_STREAM)
        with narrated("agents show"):
            told = recorded_episodes(key, population, network=self.network, preferred=preferred, count=self.episodes)
        for path in save_episodes(told, folder):
            print(path, flush=True)


@dataclasses.dataclass
class Ceiling:
    """Measure what an observer could know at most, were the networks themselves at hand. Work for a GPU."""

    agents: Annotated[int, arg(metavar="N", help="number of agents, as many as observers are evaluated on")] = 500
    seed: Seed = 1
    rollouts: Annotated[
        int, arg(metavar="N", help="number of rollouts of each agent that it may be, from each query")
    ] = 64
    out: Annotated[Path, arg(metavar="FILE", help="file for the table, and for what it depends on")] = Path(
        "runs/ceiling.json"
    )

    def __call__(self) -> None:
        from ..experiments.ceiling import compute_ceiling, save_ceiling

        check_writable_file(self.out)
        with narrated("ceiling"):
            ceiling = compute_ceiling(self.agents, self.seed, self.rollouts)
        save_ceiling(self.out, ceiling)
        print_ceiling(ceiling)


AGENT_COMMANDS: dict[str, type] = {"train": Train, "evaluate": Evaluate, "show": Show, "ceiling": Ceiling}


def measure(populations: "dict[str, Population]", *, levels: int, seed: int) -> "Result[PopulationTables]":
    """What a population is like, in the shape of an experiment's result."""
    from ..experiments.analysis.population_evaluation import evaluate_population
    from ..experiments.experiment import Result
    from ..support.provenance import provenance

    started = time.monotonic()
    with narrated("agents"):
        tables, claims = evaluate_population(populations, levels=levels, seed=seed)
    presets = sorted({str(population.about.get("preset", "–")) for population in populations.values()})
    agents = sum(len(population) for population in populations.values())
    seconds = round(time.monotonic() - started, 1)
    environ = provenance() | {"agents": agents}
    return Result("deep-agents", " and ".join(presets), seed, tables, claims, seconds, environ)


def find_populations(conditions: tuple[str, ...], folder: Path | None) -> "dict[str, Population]":
    """The populations of these conditions, or of all there are, from a run folder or the zoo."""
    from .. import zoo
    from ..agents.population import find_condition

    for name in conditions:
        find_condition(name)
    return zoo.populations(folder, conditions)
