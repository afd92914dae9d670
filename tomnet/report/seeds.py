"""docs/seeds.json: what came of every claim with other seeds, and on how many of them its verdict is the same.

    tomnet results seed-*/results.json --seeds docs/seeds.json

A seed decides which agents and levels are drawn, on one kind of device: a CPU and a GPU draw others. So each result is
kept with its command and its device, and with digests of the observers that it is about.

docs/retrained.json is the same of observers that were trained again, from another seed of training:

    tomnet run false-beliefs --preset full --seed 1 --out again
    tomnet evaluate false-beliefs --model again --json > again.json
    tomnet results again.json --seeds docs/retrained.json
"""

import dataclasses
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from ..experiments.claims.claim import Verdict
from ..experiments.registry import EXPERIMENTS
from ..figures.measured import measured
from ..support.errors import BadFile
from ..support.json_files import read_json, write_json
from ..support.typed_json import Misfit, from_json, to_json
from .pages import DOCS
from .results_file import Results

FORMAT, VERSION = "tomnet seeds", 1
SEEDS = DOCS / "seeds.json"
NOT_MEASURED = "not measured"


@dataclasses.dataclass(frozen=True)
class SeedClaim:
    verdict: Verdict
    value: float
    interval: tuple[float, float] | None


@dataclasses.dataclass(frozen=True)
class SeedResult:
    """An experiment with one seed, in short."""

    command: str
    device: str
    cores: int | None
    commit: str | None
    claims: dict[str, SeedClaim]


@dataclasses.dataclass(frozen=True)
class SeedResults:
    observers: dict[str, str]  # digests by name, the same for all seeds
    seeds: dict[str, SeedResult]


@dataclasses.dataclass(frozen=True)
class Seeds:
    experiments: dict[str, SeedResults] = dataclasses.field(default_factory=dict)

    def of(self, experiment: str, observers: Mapping[str, str]) -> dict[str, SeedResult]:
        """By seed, in order; none where they are of other observers."""
        kept = self.experiments.get(experiment)
        if kept is None or not observers or kept.observers != observers:
            return {}
        return dict(sorted(kept.seeds.items(), key=lambda item: int(item[0])))

    def of_others(self, experiment: str, observers: Mapping[str, str], seed: int | None) -> SeedResult | None:
        """What came, with the same seed, of other observers of the experiment than those."""
        kept = self.experiments.get(experiment)
        return None if kept is None or kept.observers == observers else kept.seeds.get(str(seed))


def read_seeds(path: Path) -> Seeds:
    plain = read_json(path)
    if not isinstance(plain, dict) or (plain.get("format"), plain.get("version")) != (FORMAT, VERSION):
        raise BadFile(path, "holds no seeds that this tomnet can read")
    try:
        seeds: Seeds = from_json(Seeds, plain.get("seeds"))
    except Misfit as why:
        raise BadFile(path, f"holds no seeds: {why}") from None
    odd = [seed for kept in seeds.experiments.values() for seed in kept.seeds if not seed.isdecimal()]
    if odd:
        raise BadFile(path, f"holds no seeds: {odd[0]!r} is none")
    return seeds


def stored_seeds(path: Path = SEEDS) -> Seeds:
    """Those of the docs, or none."""
    return read_seeds(path) if path.exists() else Seeds()


def save_seeds(path: Path, seeds: Seeds) -> None:
    write_json(path, {"format": FORMAT, "version": VERSION, "seeds": seeds})


def with_results(seeds: Seeds, results: Results, path: Path) -> Seeds:
    """With those of one more results.json, which `path` names; what there was with the same seed gives way."""
    kept = dict(seeds.experiments)
    for name, one in results.experiments.items():
        if not one.observers:
            raise BadFile(path, f"does not say which observers of {name} it is about", "evaluated again, it does")
        if name in kept and kept[name].observers != one.observers:
            why = f"is about other observers of {name} than the seeds that are kept already"
            raise BadFile(path, why, "--seeds names another file, or one that is not there yet")
        before = kept[name].seeds if name in kept else {}
        try:
            kept[name] = SeedResults(one.observers, before | {str(one.seed): _seed_result(name, results)})
        except Misfit as why:
            raise BadFile(path, f"has no claims of {name} with a seed: {why}") from None
    return Seeds({name: kept[name] for name in EXPERIMENTS if name in kept})  # in the order of the paper


def _seed_result(name: str, results: Results) -> SeedResult:
    seed, place = results.experiments[name].seed, partial(results.environment_in, name)
    if seed is None:
        raise Misfit("'seed' is missing")
    own = {id: claim for id, claim in results.claims.items() if claim.experiment == name}
    fields = [field.name for field in dataclasses.fields(SeedClaim)]
    told = {field: place(field) for field in ("device", "cores", "commit")} | {
        "command": f"tomnet evaluate {name} --agents {place('agents')} --seed {seed}",
        "claims": {id: {field: getattr(claim, field) for field in fields} for id, claim in own.items()},
    }
    return from_json(SeedResult, to_json(told))


# --- In words


def trained_again(id: str, again: SeedResult | None) -> dict[str, str]:
    """The same claim of observers trained from another seed; nothing where there are none."""
    if again is None or id not in again.claims:
        return {}
    claim = again.claims[id]
    return {"trained again, from another seed": f"{claim.verdict}, {measured(claim.value, claim.interval)}"}


def on_seeds(id: str, verdict: str, seeds: Mapping[str, SeedResult]) -> str:
    """`5 of 5 seeds`, and where a verdict is not the same on all of them, what it is on the others; or nothing."""
    if not seeds:
        return ""
    found = {seed: one.claims[id].verdict if id in one.claims else NOT_MEASURED for seed, one in seeds.items()}
    same = [seed for seed, word in found.items() if word == verdict]
    others = {word: [seed for seed in found if found[seed] == word] for word in found.values() if word != verdict}
    differs = "".join(f"; {word} on {_seeds(which)}" for word, which in others.items())
    return f"{len(same)} of {len(found)} seeds{differs}"


def _seeds(which: list[str]) -> str:
    return f"seed{'s' if len(which) > 1 else ''} {', '.join(which)}"


def all_on_seeds(verdicts: Mapping[str, str], seeds: Mapping[str, SeedResult], *, brief: bool = False) -> str:
    """The same of several claims in few words; or nothing, if `brief` also where all seeds agree."""
    told = {id: on_seeds(id, verdict, seeds) for id, verdict in verdicts.items()}
    if not seeds or not told:
        return ""
    differ = [id for id, text in told.items() if ";" in text]
    if differ:
        return f"; {', '.join(differ)} differ{'' if len(differ) > 1 else 's'} between seeds"
    return "" if brief else f"; {len(seeds)} of {len(seeds)} seeds"


def seeds_table(kept: Mapping[str, Mapping[str, SeedResult]]) -> list[tuple[str, ...]]:
    """Where the verdicts of other seeds come from: a row for each experiment."""
    rows = []
    for name, seeds in kept.items():
        if seeds:
            last = list(seeds.values())[-1]
            places = _distinct(f"{one.device}, {one.cores} cores" for one in seeds.values())
            commits = _distinct(str(one.commit) for one in seeds.values())
            rows.append((name, ", ".join(seeds), f"`{last.command}`", places, commits))
    return rows


def _distinct(words: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(words))
