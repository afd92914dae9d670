"""The ceiling of sections 3.3 to 3.5: what the networks themselves would tell an observer who had them at hand.

    tomnet agents ceiling --agents 500 --out ceiling.json

or, where there is no tyro, `python -m tomnet.experiments.ceiling` with the same options. It meets the same agents in
the same encounters as the observers' experiments do for the same number of agents and the same seed, on the same kind
of device. Every known agent is led along every episode, which takes a GPU for more than a few agents; so the rows are
written to a file, with the populations that they are about.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from jaxtyping import Array, Key

from ..agents.population import Part, load_condition
from ..ideal.known_agents import ROLLOUTS, KnownAgents
from ..support.checks import check_between, check_seed, check_writable_file
from ..support.cpu import check_platform, prepare_cpu
from ..support.errors import BadFile, TomnetError
from ..support.json_files import read_json, write_json
from ..support.progress import narrated, stage
from ..support.provenance import provenance
from ..support.streams import EVALUATION_STREAM, stream
from ..support.typed_json import Misfit, from_json
from ..support.words import counted
from ..world.gridworld import SUBGOAL_MAZE
from .analysis.ceiling_measures import (
    POOLS,
    CeilingRow,
    Measure,
    beliefs,
    foretell,
    known_agents,
    losses,
    recognition,
    rows,
    swap_effects,
    taken_for_each_other,
)
from .analysis.statistics import Estimate
from .analysis.three_species import SPECIES, species_evaluation_sets
from .belief_embeddings import EASY, HARD
from .explicit_beliefs import mixed_evaluation_set
from .sally_anne.specs import MIXED, NARROW, WIDE
from .sally_anne.swap_curves import PARTING, curves, gap_at, parting
from .sally_anne.walks import Walks, walk_all

FORMAT, VERSION = "tomnet ceiling", 1
CEILING_STREAM = 0x6365696C  # far from the small numbers that experiments split the evaluation stream into
THREE_SPECIES, MIXED_POPULATION = ", ".join(SPECIES), ", ".join(MIXED)
AGENTS, MOST_AGENTS, MOST_ROLLOUTS = 500, 10_000, 10_000


@dataclasses.dataclass(frozen=True)
class Ceiling:
    """The rows, and what they depend on."""

    agents: int
    seed: int
    rollouts: int
    populations: dict[str, str]  # condition → digest
    rows: tuple[CeilingRow, ...]
    command: str
    seconds: float
    environment: dict[str, Any]

    def find(self, population: str, known: Part, measure: str) -> CeilingRow | None:
        """None where it was not measured."""
        return next((r for r in self.rows if (r.population, r.known, r.measure) == (population, known, measure)), None)


def compute_ceiling(agents: int, seed: int, rollouts: int = ROLLOUTS) -> Ceiling:
    check_seed(seed)
    check_between("agents", agents, 1, MOST_AGENTS)
    check_between("rollouts", rollouts, 1, MOST_ROLLOUTS)
    stage(f"every network replays all episodes of {counted(agents, 'agent')}, which is work for a GPU")
    started, populations = time.monotonic(), digests()
    measured = [*_of_three_species(agents, seed, rollouts), *_of_mixed_population(agents, seed, rollouts)]
    return Ceiling(
        agents,
        seed,
        rollouts,
        populations,
        tuple(measured),
        command(agents, seed, rollouts),
        round(time.monotonic() - started, 1),
        provenance(),
    )


def command(agents: int, seed: int, rollouts: int) -> str:
    return f"tomnet agents ceiling --agents {agents} --seed {seed} --rollouts {rollouts}"


def digests() -> dict[str, str]:
    """Of every population that the ceiling is about, as they are now."""
    return {name: load_condition(name).digest for name in dict.fromkeys((*SPECIES, *MIXED))}


def _keys(seed: int, part: Part) -> Key[Array, "3"]:
    key = jax.random.fold_in(stream(seed, EVALUATION_STREAM), CEILING_STREAM)
    return jax.random.split(jax.random.fold_in(key, POOLS.index(part)), 3)


def _of_three_species(agents: int, seed: int, rollouts: int) -> list[CeilingRow]:
    """Section 3.3: the encounters of `deep-rl-agents` and `agent-embeddings`."""
    met, found = species_evaluation_sets(seed, agents)["held out"], []
    for part in POOLS:
        stage(f"the {part} networks of {THREE_SPECIES} are known")
        known = known_agents(SPECIES, part, SUBGOAL_MAZE)
        foretold = foretell(_keys(seed, part)[0], known, met, SPECIES, rollouts)
        found += rows(THREE_SPECIES, part, [*recognition(foretold), *losses(foretold)])
    return found


def _of_mixed_population(agents: int, seed: int, rollouts: int) -> list[CeilingRow]:
    """Sections 3.4 and 3.5: the encounters of `explicit-beliefs`, the walks of `false-beliefs-mixed`."""
    met, walks, found = mixed_evaluation_set(seed, agents), walk_all(seed, (NARROW, WIDE), agents), []
    for part in POOLS:
        stage(f"the {part} networks of {MIXED_POPULATION} are known")
        known = known_agents(MIXED, part, SUBGOAL_MAZE)
        keys = _keys(seed, part)
        foretold = foretell(keys[1], known, met, MIXED, rollouts)
        pairs = [taken_for_each_other(foretold, *pair) for pair in (HARD, EASY)]
        told = [*recognition(foretold), *pairs, *losses(foretold), *beliefs(foretold)]
        found += rows(MIXED_POPULATION, part, [*told, *_swaps(keys[2], known, walks)])
    return found


def _swaps(key: Key[Array, ""], known: KnownAgents, walks: dict[str, Walks]) -> Iterator[Measure]:
    """F5: the gap between wide and narrow fields of view, and where it is widest; B2: what swaps do to beliefs, in view
    and out of view. No ratio of the two: out of view it is next to nothing for whoever knows the agents."""
    natural = {name: curves(swap_effects(key, known, one), SUBGOAL_MAZE.size) for name, one in walks.items()}
    two = natural[NARROW], natural[WIDE]
    for far in PARTING:
        yield f"swap effect, {WIDE} less {NARROW}, at distance {far}", gap_at(far, *two, "observer", "policy")
    gap = gap_at(parting(*two, "policy").widest, *two, "observer", "policy")
    yield f"swap effect, {WIDE} less {NARROW}, widest", gap
    for name, table in natural.items():
        for where, row in (("in view", table.in_view), ("out of view", table.out_of_view)):
            mean = row.observer["belief"]
            yield f"swap effect on beliefs, {where}, {name}", Estimate(mean.mean, *mean.interval, mean.count)


# --- On disk


def save_ceiling(path: Path, ceiling: Ceiling) -> None:
    write_json(path, {"format": FORMAT, "version": VERSION, "ceiling": ceiling})


def read_ceiling(path: Path) -> Ceiling:
    """A stored ceiling, whosever it is."""
    plain = read_json(path)
    if not isinstance(plain, dict) or (plain.get("format"), plain.get("version")) != (FORMAT, VERSION):
        raise BadFile(path, "this is no ceiling that this tomnet can read")
    try:
        return from_json(Ceiling, plain.get("ceiling"))
    except Misfit as why:
        raise BadFile(path, f"holds no ceiling: {why}") from None


def other_agents(ceiling: Ceiling) -> list[str]:
    """Conditions of which there are other agents now than those that the ceiling is about."""
    return [name for name, digest in digests().items() if ceiling.populations.get(name) != digest]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The ceiling of sections 3.3 to 3.5, written to a file.")
    for name, default in (("agents", AGENTS), ("seed", 1), ("rollouts", ROLLOUTS)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    told = parser.parse_args(argv)
    prepare_cpu()
    try:
        check_platform()
        check_writable_file(told.out)
        with narrated("ceiling"):
            save_ceiling(told.out, compute_ceiling(told.agents, told.seed, told.rollouts))
    except TomnetError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
