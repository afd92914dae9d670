"""A long piece of work in stages, each of them commands in processes of their own: what is done is not done again."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import BadFile, TomnetError
from .files import write_atomically
from .interrupts import Interrupted, stop_requests
from .json_files import read_json, write_json
from .run_folder import CONFIG

STAGES, TABLE, LOGS = "stages.json", "stages.md", "logs"
POLL = 0.1  # seconds


@dataclasses.dataclass(frozen=True)
class Command:
    """`python -m MODULE WORDS`, told to go on where a run has begun in its folder."""

    module: str
    words: tuple[str, ...]
    run_folder: Path | None = None

    @property
    def argv(self) -> list[str]:
        begun = self.run_folder is not None and (self.run_folder / CONFIG).exists()
        return [sys.executable, "-m", self.module, *self.words, *(["--resume"] if begun else [])]


@dataclasses.dataclass(frozen=True)
class Stage:
    """Its commands come one after the other, once the stages that it needs are done."""

    name: str
    kind: str  # those of a kind take about as long
    commands: tuple[Command, ...]
    needs: frozenset[str] = frozenset()


@dataclasses.dataclass
class Spent:
    seconds: float = 0.0
    done: bool = False


@dataclasses.dataclass
class _Working:
    """A stage under way: its commands that are left, and the process of the one that runs."""

    stage: Stage
    left: list[Command]
    started: float
    process: subprocess.Popen


def carry_out(stages: Sequence[Stage], folder: Path, *, jobs: int, environment: Mapping[str, str]) -> None:
    """All of them, so many side by side. One that fails ends the work once those beside it are through."""
    spent = _spent(folder)
    unknown = sorted(set().union(*(stage.needs for stage in stages)) - {stage.name for stage in stages})
    assert not unknown, unknown
    working: list[_Working] = []
    failed: list[str] = []
    told = False
    with stop_requests() as stopped, _all_ended(working):
        while True:
            halted = bool(failed) or stopped.is_set()
            for stage in [] if halted else _ready(stages, spent, working)[: jobs - len(working)]:
                number = sum(_is_done(each.name, spent) for each in stages) + len(working) + 1
                print(f"[{number}/{len(stages)}] {stage.name}{_left(stages, spent, jobs)}", file=sys.stderr, flush=True)
                working.append(_begin(stage, folder, jobs, environment))
            if not working:
                break
            if stopped.is_set() and not told:
                told = True
                for each in working:  # they save first
                    each.process.send_signal(signal.SIGINT)
            time.sleep(POLL)
            for each in list(working):
                code = each.process.poll()
                if code is None:
                    continue
                if code == 0 and each.left and not halted:
                    each.process = _start(each.left.pop(0), each.stage, folder, jobs, environment)
                    continue
                working.remove(each)
                one = spent.setdefault(each.stage.name, Spent())
                one.seconds += time.monotonic() - each.started
                one.done = code == 0 and not each.left
                _keep(folder, stages, spent)
                if code != 0 and not stopped.is_set():
                    failed.append(each.stage.name)
    again = "the same command goes on from here"
    if stopped.is_set():
        raise Interrupted(f"interrupted; {again}")
    if failed:
        where = "what it said is above" if jobs == 1 else f"what it said is in {folder / LOGS}"
        raise TomnetError(f"{' and '.join(failed)} failed; {where}; {again}")


def _is_done(name: str, spent: Mapping[str, Spent]) -> bool:
    return name in spent and spent[name].done


def _ready(stages: Sequence[Stage], spent: Mapping[str, Spent], working: Sequence[_Working]) -> list[Stage]:
    """Those that can begin now."""
    busy = {each.stage.name for each in working}
    waiting = [stage for stage in stages if not _is_done(stage.name, spent) and stage.name not in busy]
    return [stage for stage in waiting if all(_is_done(name, spent) for name in stage.needs)]


@contextmanager
def _all_ended(working: list[_Working]) -> Iterator[None]:
    """A second Ctrl-C does not wait, and nothing that was begun goes on unseen."""
    try:
        yield
    finally:
        for each in working:
            each.process.kill()


def _begin(stage: Stage, folder: Path, jobs: int, environment: Mapping[str, str]) -> _Working:
    first, *left = stage.commands
    return _Working(stage, left, time.monotonic(), _start(first, stage, folder, jobs, environment))


def _start(command: Command, stage: Stage, folder: Path, jobs: int, environment: Mapping[str, str]) -> subprocess.Popen:
    """In a group of its own: Ctrl-C reaches it once, from here. Several at once would talk across each other."""
    how = {"env": os.environ | environment, "process_group": 0}
    if jobs == 1:
        return subprocess.Popen(command.argv, **how)
    (folder / LOGS).mkdir(exist_ok=True)
    with open(folder / LOGS / f"{stage.name.replace('/', '-')}.log", "ab") as log:
        return subprocess.Popen(command.argv, stdout=log, stderr=log, **how)


def _left(stages: Sequence[Stage], spent: Mapping[str, Spent], jobs: int) -> str:
    """How long it has been, and how long it will be if every stage takes as long as others of its kind have."""
    done = [stage for stage in stages if _is_done(stage.name, spent)]
    if not done:
        return ""
    known = {kind: [spent[one.name].seconds for one in done if one.kind == kind] for kind in {one.kind for one in done}}
    left = [known.get(stage.kind) for stage in stages if stage not in done]
    minutes = sum(sum(each) / len(each) for each in left if each) / 60 / jobs
    others = "" if all(left) else " and what was not done before"
    return f" ({sum(spent[one.name].seconds for one in done) / 60:.0f} min spent; about {minutes:.0f}{others} left)"


def _spent(folder: Path) -> dict[str, Spent]:
    path = folder / STAGES
    if not path.exists():
        return {}
    try:
        return {name: Spent(float(one["seconds"]), bool(one["done"])) for name, one in read_json(path).items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadFile(path, "does not say which stages are done") from error


def _keep(folder: Path, stages: Sequence[Stage], spent: Mapping[str, Spent]) -> None:
    write_json(folder / STAGES, {name: dataclasses.asdict(one) for name, one in spent.items()})
    rows = [(stage.name, spent[stage.name].seconds) for stage in stages if stage.name in spent]
    lines = [f"| {name} | {seconds / 60:.1f} |" for name, seconds in (*rows, ("all", sum(each for _, each in rows)))]
    write_atomically(folder / TABLE, "\n".join(["| stage | minutes |", "|---|---|", *lines, ""]).encode())
