"""The `tomnet` command.

Exit codes: 0 done, 2 bad usage or bad input with one clear line, 130 interrupted, 141 if nobody reads the output any
more. Whatever needs JAX is imported inside the commands, so that help and mistakes are answered at once.
"""

import dataclasses
import io
import os
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import Positional, arg

from .. import __version__
from ..support.cpu import check_platform, prepare_cpu
from ..support.errors import BadFile, BadSetting, TomnetError, nearest
from ..support.interrupts import INTERRUPTED, Interrupted, acknowledged
from ..support.progress import narrated
from .agents import AGENT_COMMANDS
from .arguments import Seed, check_between, check_options, check_resume, check_seed, check_writable
from .console import degrade_gracefully, print_claims, print_json, print_measurement, print_table, say, shown_verdict
from .sally_anne import SallyAnne

if TYPE_CHECKING:
    from ..experiments.experiment import Experiment, Result

DONE, BAD_INPUT, CUT_SHORT = 0, 2, 141
FEWEST_AGENTS = 20  # with fewer, some of the groups that an evaluation compares are empty
MOST_AGENTS = 10_000  # ten times what the published numbers rest on; all are in memory at once

Name = Annotated[Positional[str], arg(metavar="NAME", help="an experiment; `tomnet list` names them")]
Agents = Annotated[int | None, arg(metavar="N", help="how many", help_behavior_hint="(default: 500)")]


@dataclasses.dataclass
class List:
    """Every experiment: its place in the paper, how long it takes to train, whether it is pretrained."""

    claims: bool = False
    """say what each claim is instead"""

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
                " ".join(experiment.claims),
                *(experiment.minutes.get(preset, "") for preset in PRESETS),
            )
            for experiment in EXPERIMENTS.values()
        ]
        print_table(columns, rows, "minutes to train, where measured: full on an H200, the others on two cores")
        missing = [name for name in EXPERIMENTS if not zoo.available(name)]
        print(textwrap.fill(f"not pretrained: {', '.join(missing)}", 80) if missing else "all are pretrained")


@dataclasses.dataclass
class Run:
    """Train the observers of an experiment, evaluate them on fresh agents, draw the figures."""

    name: Name
    observer: Annotated[
        str | None,
        arg(metavar="OBSERVER", help="train this one alone, and evaluate nothing", help_behavior_hint="(default: all)"),
    ] = None
    preset: Annotated[
        str, arg(metavar="PRESET", help="smoke (hardly trains), laptop (two cores) or full (one GPU)")
    ] = "laptop"
    seed: Annotated[int, arg(metavar="N", help="of the weights and of the agents met")] = 0
    out: Annotated[
        Path | None,
        arg(metavar="DIR", help="the run folder", help_behavior_hint="(default: runs/NAME-PRESET-SEED)"),
    ] = None
    resume: bool = False
    """go on with the run in that folder"""

    def __call__(self) -> None:
        from ..experiments.registry import find
        from ..experiments.run import check_preset, find_observer, run, train_observer
        from ..figures import save_figures
        from ..observer.training import OBSERVER

        experiment = find(self.name)
        check_preset(self.preset)
        only = None if self.observer is None else find_observer(experiment, self.preset, self.observer)
        check_seed(self.seed)
        folder = self.out or Path("runs") / f"{self.name}-{self.preset}-{self.seed}"
        check_run_folder(folder, experiment.name, self.preset, self.resume)
        check_writable(folder)
        if only is not None:
            train_observer(experiment, only, self.preset, self.seed, folder / only.name, self.resume)
            trained = folder / only.name / OBSERVER
            print(f"{trained}; `tomnet evaluate {experiment.name} --model {trained}` measures it")
            return
        result = run(experiment, self.preset, self.seed, folder, resume=self.resume)
        save_figures(result, folder / "figures")
        print_claims(result)
        print(f"{folder}/result.json, {folder}/figures")


@dataclasses.dataclass
class Evaluate:
    """Measure observers, pretrained ones by default, on fresh agents and levels."""

    name: Name
    seed: Seed = 1
    model: Annotated[
        Path | None,
        arg(
            metavar="FILE",
            help="a run folder, or an observer file that takes the place of the pretrained one",
            help_behavior_hint="(default: pretrained)",
        ),
    ] = None
    agents: Agents = None
    out: Annotated[
        Path | None,
        arg(metavar="DIR", help="also write result.json and the figures here", help_behavior_hint="(default: no)"),
    ] = None
    json: bool = False
    """print claims, tables and environment as JSON"""

    def __call__(self) -> None:
        from ..experiments.registry import find

        result = measure(find(self.name), self.model, self.agents, self.seed)
        if self.out is not None:
            from ..experiments.run import RESULT
            from ..figures import save_figures
            from ..support.files import write_json

            write_json(self.out / RESULT, result.to_json())
            save_figures(result, self.out / "figures")
        if self.json:
            from ..report.page import summary

            print_json(summary([result]))
        else:
            print_claims(result)


@dataclasses.dataclass
class Report:
    """Evaluate everything pretrained and write the report: index.html, results.json, every figure."""

    seed: Seed = 1  # the pretrained observers were trained with seed 0
    out: Annotated[Path, arg(metavar="DIR", help="where to")] = Path("report")
    agents: Agents = None

    def __call__(self) -> None:
        from .. import zoo
        from ..experiments.registry import EXPERIMENTS
        from ..experiments.run import OtherAgents
        from ..report.page import build_report
        from ..support.files import write_json

        check_writable(self.out)
        started = time.monotonic()
        pretrained = [experiment for experiment in EXPERIMENTS.values() if zoo.available(experiment.name)]
        if not pretrained:
            raise TomnetError("nothing is pretrained; `tomnet run NAME` trains an experiment's observers")
        for experiment in pretrained:
            zoo.load(experiment.name)  # a damaged file is named now, not minutes into the work
        results, waiting = [], []
        for number, experiment in enumerate(pretrained, start=1):
            say(f"[{number}/{len(pretrained)}] {experiment.name}")
            try:
                result = measure(experiment, None, self.agents, self.seed)
            except OtherAgents as why:
                say(f"      waits: {why}")
                waiting.append(experiment.name)
                continue
            write_json(self.out / f"{experiment.name}.json", result.to_json())
            results.append(result)
            verdicts = ", ".join(f"{claim.id} {shown_verdict(claim, result)}" for claim in result.claims)
            say(f"      {verdicts} ({result.seconds:.0f} s)")
        cards = {result.experiment: zoo.card(result.experiment) for result in results}
        cards |= {zoo.AGENTS: zoo.agents_card()}
        cards = {name: card for name, card in cards.items() if card.exists()}
        seconds = time.monotonic() - started
        page = build_report(results, self.out, cards=cards, seconds=seconds, waiting=waiting)
        print(f"{page} after {time.monotonic() - started:.0f} s")


@dataclasses.dataclass
class Results:
    """Every claim of a report as a page of Markdown, from its results.json: docs/results.md is one."""

    path: Annotated[Positional[Path], arg(metavar="FILE", help="results.json, or what `evaluate --json` printed")]
    out: Annotated[
        Path | None,
        arg(
            metavar="FILE.md",
            help="write it here, and beside it, as FILE.json, the claims that it was made from",
            help_behavior_hint="(default: print it)",
        ),
    ] = None
    readme: Annotated[
        Path | None,
        arg(metavar="README.md", help="also renew the table of results there", help_behavior_hint="(default: no)"),
    ] = None

    def __call__(self) -> None:
        from ..report.results import read_results, readme_with, results_markdown, slim
        from ..support.files import write_atomically, write_json

        results = read_results(self.path)
        if self.out is None:
            if self.readme is not None:
                raise BadSetting("readme", self.readme, "its links lead to the page, which --out names")
            print(results_markdown(results), end="")
            return
        if self.out.suffix != ".md":
            raise BadSetting("out", self.out, "must end in .md")
        data = self.out.with_suffix(".json")
        if data.resolve() != self.path.resolve():  # which would lose its tables
            write_json(data, slim(results))
        write_atomically(self.out, results_markdown(results, data.name).encode())
        print(self.out)
        if self.readme is not None:
            page = os.path.relpath(self.out, self.readme.parent)
            write_atomically(self.readme, readme_with(results, self.readme.read_text(), page).encode())
            print(self.readme)


@dataclasses.dataclass
class Figures:
    """Draw the figures of a finished run again, from its result.json."""

    folder: Annotated[Positional[Path], arg(metavar="DIR", help="the run folder")]

    def __call__(self) -> None:
        from ..experiments.registry import find
        from ..experiments.run import load_result
        from ..figures import save_figures

        result = load_result(self.folder)
        find(result.experiment)
        check_writable(self.folder / "figures")
        for path in save_figures(result, self.folder / "figures"):
            print(path)


@dataclasses.dataclass
class Bench:
    """Throughput on this machine: steps, episodes and encounters a second."""

    part: Annotated[Positional[str], arg(metavar="PART", help="world, agents, learning, observer or all")] = "all"
    json: bool = False
    """print the measurements as JSON"""

    def __call__(self) -> None:
        from ..support.provenance import provenance
        from .bench import PARTS, bench

        if self.part not in ("all", *PARTS):
            raise nearest(self.part, ("all", *PARTS), "part")
        measured = []
        with narrated("bench"):
            for row in bench(tuple(PARTS) if self.part == "all" else (self.part,)):
                measured.append(row)
                if not self.json:
                    print_measurement(row)
        if self.json:
            print_json({"measurements": measured, "environment": provenance()})
        else:
            print(", ".join(f"{name} {value}" for name, value in provenance().items()))


@dataclasses.dataclass
class AgentsGroup:
    """Populations of deep RL agents: `agents train`, `agents evaluate`, `agents show`, `agents ceiling`."""


COMMANDS: dict[str, type] = {
    "list": List,
    "run": Run,
    "evaluate": Evaluate,
    "report": Report,
    "results": Results,
    "figures": Figures,
    "agents": AgentsGroup,
    "sally-anne": SallyAnne,
    "bench": Bench,
}
GROUPS: dict[str, dict[str, type]] = {"agents": AGENT_COMMANDS}
"""Commands that have commands of their own."""


def main(argv: list[str] | None = None) -> int:
    prepare_cpu()
    degrade_gracefully()
    try:
        with acknowledged("what is being compiled or computed is through"):
            command = parse(sys.argv[1:] if argv is None else argv)
            check_platform()
            command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("tomnet: interrupted")
        return INTERRUPTED
    except Interrupted as error:
        say(f"tomnet: {error}")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has had enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at the end
        return CUT_SHORT
    except (TomnetError, OSError, RuntimeError, MemoryError) as error:
        line = complaint(error)
        if line is None:
            raise
        say(f"tomnet: {line}")
        return BAD_INPUT
    return DONE


def complaint(error: Exception) -> str | None:
    """The one line for an error that the user can put right; None for one that is a bug in tomnet."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return str(BadFile(error.filename, error.strerror.lower()))
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return "out of memory: fewer agents, levels or networks at a time need less"
    if isinstance(error, RuntimeError) and str(error).startswith("Unable to initialize backend"):
        return str(TomnetError(str(error).splitlines()[0]))
    return str(error) if isinstance(error, TomnetError) else None


def parse(argv: list[str]) -> Callable[[], None]:
    """The command that the arguments ask for, or one line that says what is wrong with them."""
    if argv == ["--version"]:
        return lambda: print(f"tomnet {__version__}")
    if argv and argv[0] in GROUPS:
        return parse_one_of(GROUPS[argv[0]], argv[1:], f"tomnet {argv[0]}", COMMANDS[argv[0]].__doc__ or "")
    return parse_one_of(COMMANDS, argv, "tomnet", f"Machine Theory of Mind, version {__version__}.")


def parse_one_of(commands: dict[str, type], argv: list[str], program: str, description: str) -> Callable[[], None]:
    if not argv:
        raise TomnetError(f"a command is missing: {', '.join(commands)}; `{program} --help` explains them")
    if not argv[0].startswith("-") and argv[0] not in commands:
        raise nearest(argv[0], commands, "command" if program == "tomnet" else f"`{program}` command")
    if argv[0] in commands:
        check_options(commands[argv[0]], argv[1:])
    box = io.StringIO()
    try:
        with redirect_stderr(box):
            return tyro.extras.subcommand_cli_from_dict(
                commands,
                prog=program,
                description=description,
                args=argv,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if not stop.code:  # help was asked for, and printed
            raise
        raise TomnetError(_first_paragraph(box.getvalue())) from None


def _first_paragraph(box: str) -> str:
    """tyro answers bad usage with a box of several paragraphs; the first one says what is wrong."""
    lines = [line.strip("│ ") for line in box.splitlines()[1:-1]]
    end = next((number for number, line in enumerate(lines) if line.startswith("──")), len(lines))
    return " ".join(line for line in lines[:end] if line) or "bad usage; see `tomnet --help`"


def check_run_folder(folder: Path, experiment: str, preset: str, resume: bool) -> None:
    """A run that was started or finished there is touched on demand only, and by a run of the same kind."""
    from ..experiments.run import RESULT
    from ..support.run_folder import CONFIG, read_run

    runs = [run for path in folder.glob(f"*/{CONFIG}") if (run := read_run(path.parent, "observer"))]
    found = bool(runs) or (folder / RESULT).exists()
    check_resume(resume, folder, found)
    if found and not resume:
        raise BadFile(folder, "holds a run already", "--resume goes on with it, --out names another folder")
    for about in (run.about for run in runs):
        if (about.get("experiment"), about.get("preset")) != (experiment, preset):
            other = f"holds a run of {about['experiment']} with preset {about['preset']}"
            raise BadFile(folder, other, "--out names another folder")


def measure(experiment: "Experiment", model: Path | None, agents: int | None, seed: int) -> "Result":
    """Observers from the zoo, a run folder or a file, evaluated on agents that they have never met."""
    from .. import zoo
    from ..experiments.run import AGENTS, check_agents, evaluate

    check_seed(seed)
    agents = AGENTS["laptop"] if agents is None else agents
    check_between("agents", agents, FEWEST_AGENTS, MOST_AGENTS)
    if model is None:
        loaded = zoo.load_all(experiment.name)
    elif model.is_dir():
        loaded = zoo.load_run(model, experiment.name)
    else:
        observer, about = zoo.read(model, experiment.name)
        alone = zoo.observer_names(experiment.name) == [about["observer"]]
        loaded = ({} if alone else zoo.load_all(experiment.name)) | {about["observer"]: (observer, about)}
    check_agents(experiment, {name: about for name, (_, about) in loaded.items()})
    observers = {name: observer for name, (observer, _) in loaded.items()}
    preset = " and ".join(sorted({about["preset"] for _, about in loaded.values()}))
    return evaluate(experiment, observers, preset=preset, agents=agents, seed=seed)


if __name__ == "__main__":
    sys.exit(main())
