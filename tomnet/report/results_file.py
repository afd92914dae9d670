"""results.json of a report: the claims by id, the tables behind the figures, what the numbers depend on.

    write_json(folder / "results.json", summary(results, waiting))
    read_results(folder / "results.json").claims["G1"].verdict

It has a shape of its own, unlike the result of one experiment: claims of all of them stand together, and some wait.
"""

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..experiments.claims.claim import AtHand, Verdict
from ..experiments.experiment import Result
from ..experiments.registry import EXPERIMENTS
from ..support.errors import BadFile
from ..support.json_files import read_json
from ..support.typed_json import Misfit, from_json

WAITS = "waits for an observer of these agents"
NO_VERDICT = {"verdict": None, "value": None, "interval": None, "waits": WAITS}


# --- Written


def summary(results: list[Result], waiting: Collection[str] = ()) -> dict[str, Any]:
    """What the file holds. `waiting` names experiments whose claims have no verdict yet."""
    experiments = {}
    claims = {id: NO_VERDICT | {"experiment": name} for name in waiting for id in EXPERIMENTS[name].claims}
    for result in results:
        whole = result.to_json()
        claims |= {claim["id"]: claim | {"experiment": result.experiment} for claim in whole["claims"]}
        experiments[result.experiment] = {
            field.name: whole[field.name] for field in dataclasses.fields(ExperimentResult)
        }
    return {"claims": claims, "experiments": experiments, "environment": environment_of(results)}


def environment_of(results: list[Result]) -> dict[str, Any]:
    """One value where all results agree, as they should; otherwise a value for each experiment."""
    each = {result.experiment: result.environment | {"seed": result.seed} for result in results}
    merged = {}
    for name in dict.fromkeys(name for one in each.values() for name in one):
        values = {experiment: one.get(name) for experiment, one in each.items()}
        first = next(iter(values.values()))
        merged[name] = first if all(value == first for value in values.values()) else values
    return merged


def slim(results: Mapping[str, Any]) -> dict[str, Any]:
    """The same without the tables behind the figures."""
    experiments = {
        name: {part: value for part, value in one.items() if part != "tables"}
        for name, one in results["experiments"].items()
    }
    return {**results, "experiments": experiments}


# --- Read


@dataclasses.dataclass(frozen=True)
class ClaimResult:
    """What came of a claim, as `Claim` has it; of one that waits, only for what."""

    experiment: str
    verdict: Verdict | None  # None: it waits
    value: float
    interval: tuple[float, float] | None
    waits: str = ""
    id: str = ""
    statement: str = ""
    unit: str = ""
    decided_by: str = ""
    paper: str | None = None
    ideal: float | None = None
    agents: float | None = None
    control: float | None = None
    ceiling: dict[AtHand, float] | None = None
    detail: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ExperimentResult:
    """What is kept of an experiment beside its claims."""

    preset: str
    seconds: float
    seed: int | None = None
    observers: dict[str, str] = dataclasses.field(default_factory=dict)  # digests by name
    tables: Any = None  # of a type that the experiment knows; here nobody asks


@dataclasses.dataclass(frozen=True)
class Results:
    claims: dict[str, ClaimResult]
    experiments: dict[str, ExperimentResult]
    environment: dict[str, Any]  # as `environment_of` has it

    def environment_in(self, experiment: str, name: str) -> Any:
        """What one of them was measured with."""
        value = self.environment.get(name)
        return value.get(experiment) if isinstance(value, Mapping) else value


def read_results(path: Path) -> Results:
    try:
        results: Results = from_json(Results, read_json(path))
        for id, claim in results.claims.items():
            if claim.verdict and not (claim.unit and claim.decided_by):
                raise Misfit(f"claims.{id} has a verdict, and no unit or no rule")
        return results
    except Misfit as why:
        raise BadFile(path, f"holds no results: {why}", "the results.json of a report is expected") from None
