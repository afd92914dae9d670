"""The `tomnet` command.

Exit codes: 0 done, 2 bad usage or bad input with one clear line, 130 interrupted, 141 if nobody reads the output any
more. Whatever needs JAX is imported inside the commands, so that help and mistakes are answered at once.
"""

import dataclasses
import io
import os
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import Positional, arg

from . import __version__
from .arguments import Seed, check_options, check_resume, check_seed
from .cli_agents import AGENT_COMMANDS
from .cli_sally_anne import SallyAnne
from .console import print_claims, print_json, print_measurements, print_table, say
from .cpu import prepare_cpu
from .errors import BadFile, BadSetting, TomnetError, nearest

if TYPE_CHECKING:
    from .experiments.experiment import Experiment, Result

DONE, BAD_INPUT, INTERRUPTED, CUT_SHORT = 0, 2, 130, 141
FEWEST_AGENTS = 20  # with fewer, some of the groups that an evaluation compares are empty

Name = Annotated[Positional[str], arg(metavar="NAME", help="an experiment; `tomnet list` names them")]
Agents = Annotated[int | None, arg(metavar="N", help="how many", help_behavior_hint="(default: 500)")]


@dataclasses.dataclass
class List:
    """Every experiment: its place in the paper, whether it is pretrained, how long it takes to train."""

    claims: bool = False
    """say what each claim is instead"""

    def __call__(self) -> None:
        if self.claims:
            from .experiments.ledger import STATEMENTS
            from .experiments.registry import EXPERIMENTS

            homes = {claim: experiment.name for experiment in EXPERIMENTS.values() for claim in experiment.claims}
            print_table(
                ("claim", "what the paper says", "decided by"), [(*row, homes[row[0]]) for row in STATEMENTS.items()]
            )
            return
        from . import zoo
        from .experiments.experiment import PRESETS
        from .experiments.registry import EXPERIMENTS

        columns = ("experiment", "section", "figures", "claims", "observers", "pretrained", *PRESETS)
        rows = [
            (
                experiment.name,
                experiment.section,
                ", ".join(experiment.figures),
                ", ".join(experiment.claims),
                len(zoo.member_names(experiment.name)),
                "yes" if zoo.available(experiment.name) else "no",
                *(experiment.minutes.get(preset, "–") for preset in PRESETS),
            )
            for experiment in EXPERIMENTS.values()
        ]
        print_table(columns, rows, "laptop: on two cores; full: on an H200")


@dataclasses.dataclass
class Run:
    """Train the observers of an experiment, evaluate them on fresh agents, draw the figures."""

    name: Name
    preset: Annotated[
        str, arg(metavar="PRESET", help="smoke (hardly trains), laptop (minutes on two cores) or full (one GPU)")
    ] = "laptop"
    seed: Annotated[int, arg(metavar="N", help="of the weights and of the agents met")] = 0
    out: Annotated[
        Path | None,
        arg(metavar="DIR", help="the run folder", help_behavior_hint="(default: runs/NAME-PRESET-SEED)"),
    ] = None
    resume: bool = False
    """go on with the run in that folder"""

    def __call__(self) -> None:
        from .experiments.registry import find
        from .experiments.run import check_preset, run
        from .figures import save_figures

        experiment = find(self.name)
        check_preset(self.preset)
        check_seed(self.seed)
        folder = self.out or Path("runs") / f"{self.name}-{self.preset}-{self.seed}"
        check_run_folder(folder, experiment.name, self.preset, self.resume)
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
    json: bool = False
    """print claims, tables and environment as JSON"""

    def __call__(self) -> None:
        from .experiments.registry import find

        result = measure(find(self.name), self.model, self.agents, self.seed)
        if self.json:
            from .report import summary

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
        from . import zoo
        from .experiments.registry import EXPERIMENTS
        from .experiments.run import OtherAgents
        from .files import write_json
        from .report import build_report

        if self.out.exists() and not self.out.is_dir():
            raise BadFile(self.out, "is not a folder", "the report is one")
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
            verdicts = ", ".join(f"{claim.id} {claim.verdict}" for claim in result.claims)
            say(f"      {verdicts} ({result.seconds:.0f} s)")
        cards = {name: zoo.card(name) for name in (result.experiment for result in results)}
        cards = {name: card for name, card in cards.items() if card.exists()}
        seconds = time.monotonic() - started
        page = build_report(results, self.out, cards=cards, seconds=seconds, waiting=waiting)
        print(f"{page} after {time.monotonic() - started:.0f} s")


@dataclasses.dataclass
class Figures:
    """Draw the figures of a finished run again, from its result.json."""

    folder: Annotated[Positional[Path], arg(metavar="DIR", help="the run folder")]

    def __call__(self) -> None:
        from .experiments.registry import find
        from .experiments.run import load_result
        from .figures import save_figures

        result = load_result(self.folder)
        find(result.experiment)
        for path in save_figures(result, self.folder / "figures"):
            print(path)


@dataclasses.dataclass
class Bench:
    """Throughput on this machine: steps, episodes and encounters a second."""

    part: Annotated[Positional[str], arg(metavar="PART", help="world, agents, learning, observer or all")] = "all"
    json: bool = False
    """print the measurements as JSON"""

    def __call__(self) -> None:
        from .bench import PARTS, bench
        from .experiments.environment import environment

        if self.part not in ("all", *PARTS):
            raise nearest(self.part, ("all", *PARTS), "part")
        measured = bench(tuple(PARTS) if self.part == "all" else (self.part,))
        if self.json:
            print_json({"measurements": measured, "environment": environment()})
        else:
            print_measurements(measured, environment())


@dataclasses.dataclass
class AgentsGroup:
    """Populations of deep RL agents: `agents train`, `agents evaluate`, `agents show`."""


COMMANDS: dict[str, type] = {
    "list": List,
    "run": Run,
    "evaluate": Evaluate,
    "report": Report,
    "figures": Figures,
    "agents": AgentsGroup,
    "sally-anne": SallyAnne,
    "bench": Bench,
}
GROUPS: dict[str, dict[str, type]] = {"agents": AGENT_COMMANDS}
"""Commands that have commands of their own."""


def main(argv: list[str] | None = None) -> int:
    prepare_cpu()
    try:
        parse(sys.argv[1:] if argv is None else argv)()
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("tomnet: interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has had enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at the end
        return CUT_SHORT
    except (TomnetError, OSError, RuntimeError) as error:
        line = complaint(error)
        if line is None:
            raise
        say(f"tomnet: {line}")
        # by name, because importing the class would import JAX to report a typing error
        return INTERRUPTED if type(error).__name__ == "Interrupted" else BAD_INPUT
    return DONE


def complaint(error: Exception) -> str | None:
    """The one line for an error that the user can put right; None for one that is a bug in tomnet."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return str(BadFile(error.filename, error.strerror.lower()))
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
    from .experiments.run import RESULT
    from .files import read_json
    from .observer.training import CHECKPOINT, CONFIG

    started = [path for name in (CONFIG, CHECKPOINT) for path in folder.glob(f"*/{name}")]
    found = bool(started) or (folder / RESULT).exists()
    check_resume(resume, folder, found)
    if found and not resume:
        raise BadFile(folder, "holds a run already", "--resume goes on with it, --out names another folder")
    for path in folder.glob(f"*/{CONFIG}"):
        about = read_json(path)["about"]
        if (about["experiment"], about["preset"]) != (experiment, preset):
            other = f"holds a run of {about['experiment']} with preset {about['preset']}"
            raise BadFile(folder, other, "--out names another folder")


def measure(experiment: "Experiment", model: Path | None, agents: int | None, seed: int) -> "Result":
    """Observers from the zoo, a run folder or a file, evaluated on agents that they have never met."""
    from . import zoo
    from .experiments.run import AGENTS, check_agents, evaluate

    check_seed(seed)
    if agents is not None and agents < FEWEST_AGENTS:
        raise BadSetting("agents", agents, f"an evaluation rests on at least {FEWEST_AGENTS}")
    if model is None:
        loaded = zoo.load_all(experiment.name)
    elif model.is_dir():
        loaded = zoo.load_run(model, experiment.name)
    else:
        observer, about = zoo.read(model, experiment.name)
        alone = zoo.member_names(experiment.name) == [about["member"]]
        loaded = ({} if alone else zoo.load_all(experiment.name)) | {about["member"]: (observer, about)}
    check_agents(experiment, {member: about for member, (_, about) in loaded.items()})
    observers = {member: observer for member, (observer, _) in loaded.items()}
    preset = " and ".join(sorted({about["preset"] for _, about in loaded.values()}))
    return evaluate(experiment, observers, preset=preset, agents=agents or AGENTS["laptop"], seed=seed)


if __name__ == "__main__":
    sys.exit(main())
