"""The folder of a run: what is trained in it, with which settings, who began it and who went on with it.

config.json              all of that, written before the first step
checkpoint.safetensors   the state of training
metrics.jsonl            how it went so far
"""

import dataclasses
from pathlib import Path
from typing import Any, Literal

from .errors import BadFile
from .files import LOCK, read_json, write_json
from .identity import differences

CONFIG, CHECKPOINT, METRICS = "config.json", "checkpoint.safetensors", "metrics.jsonl"
VERSION = 1
ELSEWHERE = "--out names another folder"

Trained = Literal["population", "observer"]


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
    fields = {field.name for field in dataclasses.fields(Run)}
    if not isinstance(told, dict) or told.keys() != fields | {"version"} or told["trained"] != trained:
        raise BadFile(path, f"holds no run of this tomnet that trains {_named(trained)}", ELSEWHERE)
    if told["version"] != VERSION:
        raise BadFile(path, f"has version {told['version']}, and this tomnet goes on with {VERSION}", ELSEWHERE)
    return Run(**{name: told[name] for name in fields})


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
    return before if finished else _written(folder, dataclasses.replace(before, resumed=[*before.resumed, new.about]))


def _written(folder: Path, run: Run) -> Run:
    write_json(folder / CONFIG, {"version": VERSION} | dataclasses.asdict(run))
    return run


def _named(trained: Trained) -> str:
    return {"population": "a population", "observer": "an observer"}[trained]
