"""The `tomnet` command.

Exit codes: 0 done, 1 some of the files that were to be checked are broken or nothing was recorded, 2 bad usage or bad
input with one clear line, 3 the other processes of a run are gone, 130 interrupted, 141 if nobody reads the output any
more. Whatever needs JAX is imported inside the commands, so that help and mistakes are answered at once.
"""

import dataclasses
import io
import os
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr
from typing import Annotated

import tyro
from tyro.conf import Positional, arg

from .. import __version__
from ..support.cpu import check_platform, prepare_cpu
from ..support.errors import BadFile, TomnetError, nearest
from ..support.interrupts import INTERRUPTED, Interrupted, acknowledged
from ..support.progress import narrated
from .agents import AGENT_COMMANDS
from .arguments import DeviceArguments, check_options
from .console import degrade_gracefully, print_json, print_measurement, say
from .episodes import EPISODE_COMMANDS, EpisodesGroup, Record
from .experiments import Evaluate, Figures, List, Run
from .explore import Explore
from .fit import Fit
from .overseer import LOST_ANOTHER, has_lost_another, is_overseen, overseen
from .report import Report, Results
from .reproduce import Reproduce
from .sally_anne import SallyAnne
from .watch import Watch

DONE, BAD_INPUT, CUT_SHORT = 0, 2, 141


@dataclasses.dataclass
class Bench:
    """Measure the throughput of this machine: steps, episodes and encounters a second."""

    part: Annotated[
        Positional[str], arg(metavar="PART", help="part to measure: world, agents, learning, observer or all")
    ] = "all"
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
    """Train, measure and show deep RL agents: `agents train`, `evaluate`, `show` and `ceiling`."""


COMMANDS: dict[str, type] = {
    "list": List,
    "run": Run,
    "evaluate": Evaluate,
    "report": Report,
    "results": Results,
    "reproduce": Reproduce,
    "figures": Figures,
    "agents": AgentsGroup,
    "episodes": EpisodesGroup,
    "record": Record,
    "fit": Fit,
    "watch": Watch,
    "sally-anne": SallyAnne,
    "explore": Explore,
    "bench": Bench,
}
GROUPS: dict[str, dict[str, type]] = {"agents": AGENT_COMMANDS, "episodes": EPISODE_COMMANDS}
"""Commands that have commands of their own."""


def main(argv: list[str] | None = None) -> int:
    prepare_cpu()
    degrade_gracefully()
    asked_to_stop = threading.Event()
    try:
        with acknowledged("what is being compiled or computed is through") as asked_to_stop:
            argv = sys.argv[1:] if argv is None else argv
            command = parse(argv)
            check_platform()
            code = overseen(argv) if _is_one_of_several(command) and not is_overseen() else command()
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
    except Exception as error:
        if asked_to_stop.is_set():  # a library that is interrupted while it is loaded has words of its own for it
            say("tomnet: interrupted")
            return INTERRUPTED
        line = complaint(error)
        if line is None:
            raise
        say(f"tomnet: {line}")
        return BAD_INPUT
    return DONE if code is None else code


def _is_one_of_several(command: Callable[[], int | None]) -> bool:
    return isinstance(command, DeviceArguments) and command.together


def complaint(error: Exception) -> str | None:
    """The one line for an error that the user can put right; None for one that is a bug in tomnet."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return str(BadFile(error.filename, error.strerror.lower()))
    if has_lost_another(error):
        return LOST_ANOTHER
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return "out of memory: fewer agents, levels or networks at a time need less"
    if isinstance(error, RuntimeError) and str(error).startswith("Unable to initialize backend"):
        return str(TomnetError(str(error).splitlines()[0]))
    return str(error) if isinstance(error, TomnetError) else None


def parse(argv: list[str]) -> Callable[[], int | None]:
    """The command that the arguments ask for, or one line that says what is wrong with them."""
    if argv == ["--version"]:
        return lambda: print(f"tomnet {__version__}")
    if argv and argv[0] in GROUPS:
        return parse_one_of(GROUPS[argv[0]], argv[1:], f"tomnet {argv[0]}", COMMANDS[argv[0]].__doc__ or "")
    return parse_one_of(COMMANDS, argv, "tomnet", f"Machine Theory of Mind, version {__version__}.")


def parse_one_of(
    commands: dict[str, type], argv: list[str], program: str, description: str
) -> Callable[[], int | None]:
    if not argv:
        raise TomnetError(f"a command is missing: {', '.join(commands)}; `{program} --help` explains them")
    if not argv[0].startswith("-") and argv[0] not in commands:
        raise nearest(argv[0], commands, "command" if program == "tomnet" else f"`{program}` command")
    if argv[0] in commands:
        check_options(commands[argv[0]], argv[1:], f"{program} {argv[0]}")
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


if __name__ == "__main__":
    sys.exit(main())
