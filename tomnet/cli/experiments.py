"""Commands about experiments: `list`, `run`, `evaluate`, `figures`."""

import dataclasses
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ..support.checks import ELSEWHERE, check_between, check_made_by_us, check_seed, check_writable
from ..support.cpu import compile_quickly
from ..support.errors import BadFile
from ..support.words import counted
from .arguments import DeviceArguments, From, Model, ResultFolder, Seed, TrainingArguments, check_resume
from .console import print_claims, print_json, print_table, say

if TYPE_CHECKING:
    from ..experiments.experiment import Experiment, Result
    from ..experiments.warm_start import Start

FEWEST_AGENTS = 20  # with fewer, some of the groups that an evaluation compares are empty
SOME_AGENTS = 100  # so many at most are soon met: most of the time goes into compiling
MOST_AGENTS = 10_000  # twenty times what most published numbers rest on; all are in memory at once

Name = Annotated[Positional[str], arg(metavar="NAME", help="experiment; `tomnet list` names them")]
Agents = Annotated[
    int | None,
    arg(
        metavar="N",
        help="agents to meet; of deep RL agents, about so many encounters",
        help_behavior_hint="(default: 500, where cheap 8000)",
    ),
]


@dataclasses.dataclass
class List:
    """List every experiment: its place in the paper, minutes to train, whether it is pretrained."""

    claims: bool = False
    """list what the paper claims instead"""

    def __call__(self) -> None:
        if self.claims:
            from ..experiments.claims.statements import STATEMENTS
            from ..experiments.registry import EXPERIMENTS

            homes = {claim: experiment.name for experiment in EXPERIMENTS.values() for claim in experiment.claims}
            print_table(
                ("claim", "what the paper says", "decided by"), [(*row, homes[row[0]]) for row in STATEMENTS.items()]
            )
            return
        from .. import zoo
        from ..experiments.experiment import PRESETS
        from ..experiments.registry import EXPERIMENTS

        columns = ("experiment", "section", "figures", "claims", *PRESETS)
        rows = [
            (
                experiment.name,
                experiment.section,
                ", ".join(experiment.figures),
                " ".join(experiment.claims) or "beyond paper",
                *(experiment.minutes.get(preset, "") for preset in PRESETS),
            )
            for experiment in EXPERIMENTS.values()
        ]
        print_table(columns, rows, "minutes to train, where measured: full on an H200, the others on two cores")
        missing = [name for name in EXPERIMENTS if not zoo.available(name)]
        print(textwrap.fill(f"not pretrained: {', '.join(missing)}", 80) if missing else "all are pretrained")


@dataclasses.dataclass
class Run(DeviceArguments, TrainingArguments):
    """Train the observers of an experiment, evaluate them on fresh agents, draw the figures."""

    name: Name
    observer: Annotated[
        str | None,
        arg(
            metavar="OBSERVER",
            help="observer to train alone, without an evaluation",
            help_behavior_hint="(default: all)",
        ),
    ] = None
    from_: From = None

    def __call__(self) -> None:
        from ..experiments.experiment import ANY_PRESET
        from ..experiments.registry import find
        from ..experiments.run import check_preset, find_observer, run, train_observer
        from ..figures import save_figures
        from ..observer.training import OBSERVER
        from ..support.processes import by_the_first, is_first

        experiment = find(self.name)
        check_preset(self.preset)
        self.compile_as_fits()
        only = None if self.observer is None else find_observer(experiment, self.preset, self.observer)
        check_seed(self.seed)
        folder, mesh = self.folder(self.name), self.mesh()

        def check() -> None:
            check_run_folder(folder, experiment.name, self.preset, self.resume)
            check_writable(folder)

        by_the_first(check)
        starts = {} if self.from_ is None else _starts(self.from_, [each.name for each in experiment.specs(ANY_PRESET)])
        if only is not None:
            how = {"start": starts.get(only.name), "mesh": mesh}
            train_observer(experiment, only, self.preset, self.seed, folder / only.name, self.resume, **how)
            trained = folder / only.name / OBSERVER
            if is_first():
                print(f"{trained}; `tomnet evaluate {experiment.name} --model {trained}` measures it")
            return
        result = run(experiment, self.preset, self.seed, folder, resume=self.resume, starts=starts, mesh=mesh)

        def show() -> None:
            save_figures(result, folder / "figures")
            print_claims(result)
            print(f"{folder}/result.json, {folder}/figures")

        by_the_first(show)


def _starts(name: str, observers: list[str]) -> "dict[str, Start]":
    """What each observer starts from: the one of its own name, of an experiment that was named; or all from one."""
    from .. import zoo
    from ..experiments.registry import EXPERIMENTS
    from ..experiments.warm_start import Start

    if name in EXPERIMENTS:
        known = zoo.load(name)
        return {each: Start(f"{name}/{each}", known[each]) for each in observers}
    return dict.fromkeys(observers, Start(name, zoo.load_named(name)))


@dataclasses.dataclass
class Evaluate:
    """Measure observers, pretrained ones by default, on fresh agents and levels."""

    name: Name
    seed: Seed = 1
    model: Model = None
    agents: Agents = None
    out: ResultFolder = None
    json: bool = False
    """print claims, tables and environment as JSON"""

    def __call__(self) -> None:
        from ..experiments.registry import find

        experiment = find(self.name)
        if self.out is not None:
            check_evaluation_folder(self.out, experiment.name)
        if self.agents is not None and self.agents <= SOME_AGENTS and not experiment.about_networks:
            compile_quickly()  # to let networks act would take longer than was saved
        result = measure(experiment, self.model, self.agents, self.seed)
        figures = []
        if self.out is not None:
            from ..experiments.run import RESULT
            from ..figures import save_figures
            from ..support.json_files import write_json

            write_json(self.out / RESULT, result)
            figures = save_figures(result, self.out / "figures")
        if self.json:
            from ..report.results_file import summary

            print_json(summary([result]))
        else:
            print_claims(result)
        if self.agents is not None and self.agents < experiment.agents:
            say(f"{counted(self.agents, 'agent')} give a first look; verdicts are meant for {experiment.agents:,}")
        if self.out is not None:
            (say if self.json else print)(told_files(self.out, figures))


@dataclasses.dataclass
class Figures:
    """Draw the figures of a finished run again, from its result.json."""

    folder: Annotated[Positional[Path], arg(metavar="DIR", help="run folder")]

    def __call__(self) -> None:
        from ..experiments.registry import find
        from ..experiments.run import load_result
        from ..figures import save_figures

        result = load_result(self.folder)
        find(result.experiment)
        check_writable(self.folder / "figures")
        for path in save_figures(result, self.folder / "figures"):
            print(path)


def told_files(folder: Path, figures: list[Path]) -> str:
    """Where an evaluation went: each figure once, whatever the formats."""
    from ..experiments.run import RESULT

    names = ", ".join(dict.fromkeys(path.stem for path in figures)) or "none"
    return f"{folder / RESULT}; {folder / 'figures'}: {names}"


def check_evaluation_folder(folder: Path, experiment: str) -> None:
    """An earlier evaluation of the same experiment is replaced; a run, whose result it would be taken for, is not."""
    from ..experiments.run import RESULT
    from ..support.json_files import read_json
    from ..support.run_folder import CONFIG

    check_made_by_us(folder, RESULT)
    if any(folder.glob(CONFIG)) or any(folder.glob(f"*/{CONFIG}")):
        raise BadFile(folder, "holds a run, and what was measured of that", ELSEWHERE)
    if (folder / RESULT).exists():
        found = read_json(folder / RESULT)
        if not isinstance(found, dict) or found.get("experiment") != experiment:
            raise BadFile(folder / RESULT, f"holds something else than an evaluation of {experiment}", ELSEWHERE)


def check_run_folder(folder: Path, experiment: str, preset: str, resume: bool) -> None:
    """A run that was started or finished there is touched on demand only, and by a run of the same kind."""
    from ..experiments.run import RESULT
    from ..support.run_folder import CONFIG, read_run

    runs = [run for path in folder.glob(f"*/{CONFIG}") if (run := read_run(path.parent, "observer"))]
    found = bool(runs) or (folder / RESULT).exists()
    check_resume(resume, folder, found)
    if found and not resume:
        raise BadFile(folder, "holds a run already", "--resume goes on with it, --out names another folder")
    if not found and any(path.is_file() for path in folder.glob("*")):
        raise BadFile(folder, "holds other files, and no run", ELSEWHERE)
    for about in (run.about for run in runs):
        if (about.get("experiment"), about.get("preset")) != (experiment, preset):
            other = f"holds a run of {about.get('experiment')} with preset {about.get('preset')}"
            raise BadFile(folder, other, "--out names another folder")


def measure(experiment: "Experiment", model: Path | None, agents: int | None, seed: int) -> "Result":
    """Observers from the zoo, a run folder or a file, evaluated on agents that they have never met."""
    from .. import zoo
    from ..experiments.run import check_agents, evaluate

    check_seed(seed)
    agents = experiment.agents if agents is None else agents
    check_between("agents", agents, FEWEST_AGENTS, MOST_AGENTS)
    if model is None:
        loaded = zoo.load_all(experiment.name)
    elif (file := zoo.observer_in(model)) is None:
        loaded = zoo.load_run(model, experiment.name)
    else:
        observer, description = zoo.read(file, experiment.name)
        alone = zoo.observer_names(experiment.name) == [description.observer]
        others = {} if alone else zoo.load_all(experiment.name)
        loaded = others | {description.observer: (observer, description)}
    check_agents(experiment, {name: description for name, (_, description) in loaded.items()})
    observers = {name: observer for name, (observer, _) in loaded.items()}
    preset = " and ".join(sorted({description.preset for _, description in loaded.values()}))
    return evaluate(experiment, observers, preset=preset, agents=agents, seed=seed)
