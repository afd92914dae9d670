"""The folder of a run: what is trained in it, with which settings, who began it and who went on with it.

config.json              all of that, written before the first step
checkpoint.safetensors   the state of training
metrics.jsonl            how it went so far
"""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from .checks import ELSEWHERE
from .errors import BadFile
from .identity import differences
from .json_files import read_json, write_json
from .run_lock import LOCK
from .typed_json import Misfit, from_json

CONFIG, CHECKPOINT, METRICS = "config.json", "checkpoint.safetensors", "metrics.jsonl"
VERSION = 1
# what the last bits of weights depend on, as `provenance` names it
ROUNDING = ("device", "threads", "jax", "devices", "compiled")

Trained = Literal["population", "observer", "fitted"]


@dataclasses.dataclass(frozen=True)
class Run:
    trained: Trained
    settings: dict[str, Any]  # all that the weights depend on, as plain values
    about: dict[str, Any]  # who began it, and how
    resumed: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # the same of those who went on with it

    @property
    def origin(self) -> dict[str, Any]:
        """For the header of what comes out of it."""
        return self.about | ({"resumed": self.resumed} if self.resumed else {})


def read_run(folder: Path, trained: Trained) -> Run | None:
    """What a folder says of the run in it; None where there is none."""
    path = folder / CONFIG
    if not path.exists():
        return None
    told = read_json(path)
    if not isinstance(told, dict) or told.get("trained") != trained:
        raise BadFile(path, f"holds no run that trains {_named(trained)}", ELSEWHERE)
    if told.pop("version", None) != VERSION:
        raise BadFile(path, f"was begun by another version, and this one goes on with version {VERSION}", ELSEWHERE)
    try:
        return from_json(Run, told)
    except Misfit as why:
        raise BadFile(path, f"holds no run: {why}", ELSEWHERE) from None


def enter_run(folder: Path, new: Run, *, resume: bool, finished: bool = False) -> Run:
    """Begins a run in a folder or goes on with the one there; one that holds anything else is left alone.

    Whoever finds a run `finished` has not gone on with it.
    """
    before = read_run(folder, new.trained)
    if before is None:
        if folder.exists() and any(path.name != LOCK for path in folder.iterdir()):
            raise BadFile(folder, f"holds something else than a run that trains {_named(new.trained)}", ELSEWHERE)
        return _written(folder, new)
    if not resume:
        raise BadFile(folder, "holds a run already", f"--resume goes on with it, {ELSEWHERE}")
    other = list(differences(before.settings, new.settings))
    if other:
        raise BadFile(folder, f"holds another run: {'; '.join(other)}", ELSEWHERE)
    if finished:
        return before
    elsewhere = list(_changed(before.about, new.about))
    if elsewhere:
        bits = "the last bits of its weights may not be those of a run without a break"
        print(f"tomnet: {folder} goes on elsewhere: {'; '.join(elsewhere)}; {bits}", file=sys.stderr, flush=True)
    return _written(folder, dataclasses.replace(before, resumed=[*before.resumed, new.about]))


def _changed(began: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Where a run goes on in other surroundings than those that it began in."""
    was, here = (about.get("environment", about) for about in (began, now))
    if not isinstance(was, dict) or not isinstance(here, dict):
        return
    usual = {"devices": 1, "compiled": "fully"}  # is not told of
    was, here = (usual | environment for environment in (was, here))
    for name in ROUNDING:
        if name in was and name in here and was[name] != here[name]:
            yield f"{name} was {was[name]}, is {here[name]}"


def _written(folder: Path, run: Run) -> Run:
    write_json(folder / CONFIG, {"version": VERSION} | vars(run))
    return run


def _named(trained: Trained) -> str:
    return {"population": "a population", "observer": "an observer", "fitted": "a fitted observer"}[trained]
