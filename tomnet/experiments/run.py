"""Running an experiment: train its observers, evaluate them on fresh agents, keep everything in one folder."""

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from jax.sharding import Mesh

from ..observer.tomnet import ToMnet
from ..observer.training import train
from ..support.errors import BadFile, TomnetError, nearest
from ..support.json_files import read_json, write_json
from ..support.mesh import size_of
from ..support.named_arrays import digest_of
from ..support.processes import by_the_first
from ..support.progress import narrated, stage
from ..support.provenance import provenance
from ..support.typed_json import Misfit
from .beside_ceiling import beside_ceiling, stored_ceiling
from .description import Description
from .experiment import ANY_PRESET, PRESETS, Experiment, ObserverSpec, Preset, Result
from .registry import find
from .warm_start import Start, first_observer, started

RESULT = "result.json"
AGENTS = {"smoke": 40, "laptop": 500, "full": 1000}
"""How many agents, never met in training, `run` measures its observers on: a preset that trains less measures less."""


def check_preset(name: str) -> Preset:
    for preset in PRESETS:
        if name == preset:
            return preset
    raise nearest(name, PRESETS, "preset")


def run(
    experiment: Experiment,
    preset: str,
    seed: int,
    folder: Path,
    *,
    resume: bool = False,
    starts: Mapping[str, Start] = MappingProxyType({}),
    mesh: Mesh | None = None,
) -> Result:
    """Train, evaluate, and write `result.json`. A run that was stopped goes on with `resume`; `starts`, by the names of
    observers, are pretrained ones that these start from. Of several processes each evaluates, so that none has to wait
    for another, and the first one writes."""
    specs = experiment.specs(check_preset(preset))
    for spec in specs:  # before the first of them is trained
        if spec.name in starts:
            started(spec, starts[spec.name])
    observers = {
        spec.name: train_observer(
            experiment, spec, preset, seed, folder / spec.name, resume, start=starts.get(spec.name), mesh=mesh
        )
        for spec in specs
    }
    result = evaluate(experiment, observers, preset=preset, agents=AGENTS[preset], seed=seed)
    by_the_first(lambda: write_json(folder / RESULT, result))
    return result


def find_observer(experiment: Experiment, preset: str, name: str) -> ObserverSpec:
    specs = {spec.name: spec for spec in experiment.specs(check_preset(preset))}
    if name not in specs:
        raise nearest(name, specs, f"observer of {experiment.name}")
    return specs[name]


def train_observer(
    experiment: Experiment,
    spec: ObserverSpec,
    preset: str,
    seed: int,
    folder: Path,
    resume: bool,
    *,
    start: Start | None = None,
    mesh: Mesh | None = None,
) -> ToMnet:
    if start is not None:
        spec = started(spec, start)
    about = {
        "experiment": experiment.name,
        "observer": spec.name,
        "preset": preset,
        "command": f"tomnet run {experiment.name} --preset {preset} --seed {seed}" + _from(start),
        **spec.training.met_after(spec.training.steps),
        "environment": provenance(size_of(mesh)),
    }
    return train(
        spec.observer,
        spec.training,
        spec.sampler(),
        folder,
        seed=seed,
        identity={"met": spec.met, "populations": spec.populations()} | (start.identity if start else {}),
        about=about,
        sample_held_out=spec.sampler(held_out=True),
        resume=resume,
        start=first_observer(spec, start, seed) if start else None,
        title=f"{experiment.name}/{spec.name}",
        mesh=mesh,
    )


def _from(start: Start | None) -> str:
    return f" --from {start.name}" if start else ""


def evaluate(experiment: Experiment, observers: dict[str, ToMnet], *, preset: str, agents: int, seed: int) -> Result:
    began = time.monotonic()
    with narrated(experiment.name):
        # a damaged file is named now, not minutes into the work
        ceiling = stored_ceiling() if experiment.about_networks else None
        stage(f"{agents} agents act")
        tables, claims = experiment.evaluate(observers, agents, seed)
        claims = beside_ceiling(claims, tables, ceiling)
    seconds, environment = round(time.monotonic() - began, 1), provenance() | {"agents": agents}
    digests = {name: digest_of(observer) for name, observer in observers.items()}
    return Result(experiment.name, preset, seed, tables, claims, seconds, environment, digests)


class OtherAgents(TomnetError):
    """An observer of deep RL agents, and beside it agents that it has neither met nor been kept from meeting."""


def check_agents(experiment: Experiment, described: Mapping[str, Description]) -> None:
    """Whether observers, by what they say about themselves, met the populations that they are to be asked about."""
    for spec in experiment.specs(ANY_PRESET):
        check_populations(f"{experiment.name}/{spec.name}", described[spec.name].populations, spec.populations())


def check_populations(observer: str, met: dict[str, str], here: dict[str, str]) -> None:
    """Digests by condition, of those that an observer met and of those that are here."""
    other = [name for name, digest in here.items() if met.get(name) != digest]
    if other:
        raise OtherAgents(
            f"{observer} met other agents of {', '.join(other)} than those here; retrained, it meets these"
        )


def load_result(folder: Path) -> Result:
    return read_result(folder / RESULT)


def read_result(path: Path) -> Result:
    plain = read_json(path)
    if not isinstance(plain, dict) or not isinstance(plain.get("experiment"), str):  # JSON, but not of ours
        raise BadFile(path, "holds no result of an experiment")
    try:
        return Result.from_json(plain, find(plain["experiment"]).tables)
    except Misfit as why:
        raise BadFile(path, f"holds no result of {plain['experiment']}: {why}") from None
