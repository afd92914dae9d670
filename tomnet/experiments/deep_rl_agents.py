"""Section 3.3, first experiment: observers of deep RL agents, with and without a character net and a mental net.

    tomnet run deep-rl-agents --preset laptop

Goal: with both nets, losses on agents never met that lie 35% (action), 61% (consumption) and 19% (successor maps)
below those with neither, as in the paper's Table A1; and the species told from the character embedding in 95%.

Three species: blind, sighted but stateless, sighted and stateful. Needs the pretrained agents of the zoo, or a folder
of populations that `tomnet agents train` wrote.
"""

import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, Scalar

from ..agents.population import Part, condition_file
from ..episodes.encounter import EncounterSpec
from ..episodes.episode import Snapshot
from ..episodes.futures import empirical_successors
from ..episodes.rollout import start_rollout
from ..episodes.targets import GAMMAS
from ..observer.tomnet import Reading, ToMnet
from ..support.streams import EVALUATION_STREAM, stream
from ..support.trees import pick
from ..world.gridworld import SUBGOAL_MAZE
from .agent_pool import AgentPool
from .analysis.character_space import READ_OUTS, ReadOut, confusion
from .analysis.evaluation_set import (
    EvaluationSet,
    Met,
    draw_evaluation_set,
    losses_of,
    predict_everything,
    read_everything,
    shuffled_losses,
    somebody_else,
)
from .analysis.examples import PlainEpisode, PlainSnapshot, plain_episode, plain_snapshot
from .analysis.population import draw_levels
from .analysis.rollout_baseline import BASELINE_ROLLOUTS, baseline_losses, first_encounters
from .claims.claim import Claim, if_measured, verdict
from .claims.divergence import jensen_shannon
from .claims.statements import STATEMENTS
from .claims.statistics import Estimate, bootstrap, mean_interval
from .experiment import ANY_PRESET, Experiment, ObserverSpec, Preset
from .presets import DEEP_OBSERVER, DEEP_TRAINING

SPECIES = ("blind", "stateless-5x5", "5x5")
ENCOUNTERS = EncounterSpec(min_past=4, max_past=4, query_at_start=False)
OBSERVERS = {"none": (), "char": ("character",), "mental": ("mental",), "both": ("character", "mental")}
"""By name: the embeddings that an observer has."""
SHUFFLES = (
    ("char", ("character",)),
    ("mental", ("mental",)),
    ("both", ("character",)),
    ("both", ("mental",)),
    ("both", ("character", "mental")),
)
PARTS: tuple[Part, ...] = ("training", "held out")
HEADS = ("action", "consumption", "successor")
# Table A1 of the paper: (observer, what is shuffled) → by head, on training and on test agents. Only shares compare:
# our losses are sums over objects and discounts, as in its appendix on losses, and rollouts of the agents themselves
# lose more than its figures.
PAPER = {
    ("none", ()): {"action": (1.14, 1.12), "consumption": (0.34, 0.36), "successor": (2.48, 2.53)},
    ("char", ()): {"action": (0.84, 0.86), "consumption": (0.19, 0.16), "successor": (2.23, 2.21)},
    ("char", ("character",)): {"action": (1.61, 1.62), "consumption": (0.83, 0.77), "successor": (3.17, 3.13)},
    ("mental", ()): {"action": (0.83, 0.98), "consumption": (0.32, 0.30), "successor": (2.36, 2.29)},
    ("mental", ("mental",)): {"action": (1.61, 1.65), "consumption": (0.43, 0.43), "successor": (2.92, 2.80)},
    ("both", ()): {"action": (0.72, 0.73), "consumption": (0.16, 0.14), "successor": (2.16, 2.04)},
    ("both", ("character",)): {"action": (1.57, 1.69), "consumption": (0.82, 0.78), "successor": (3.27, 3.19)},
    ("both", ("mental",)): {"action": (1.16, 1.20), "consumption": (0.23, 0.23), "successor": (2.45, 2.33)},
    ("both", ("character", "mental")): {"action": (1.99, 2.02), "consumption": (0.83, 0.77), "successor": (3.53, 3.31)},
}
CUTS = {"action": 0.35, "consumption": 0.61, "successor": 0.19}  # the paper's, from none to both, on test agents
GENERALISES, NEARLY = 0.05, 0.15  # how far losses on agents never met may lie above those on agents met in training
TELLS, HALF_TELLS = 0.95, 0.80  # accuracies of the species
MAP_LEVELS, MAP_ROLLOUTS, SHOWN_OBJECT = 12, 64, 0


def specs(preset: Preset, folder: Path | None = None) -> tuple[ObserverSpec, ...]:
    pool = AgentPool(SPECIES, folder=folder, networks=1 if preset == "smoke" else None)

    def spec(name: str, embeddings: tuple[str, ...]) -> ObserverSpec:
        character = "episodes" if "character" in embeddings else "none"
        observer = dataclasses.replace(DEEP_OBSERVER[preset], character=character, mental="mental" in embeddings)
        return ObserverSpec(name, pool, SUBGOAL_MAZE, ENCOUNTERS, observer, DEEP_TRAINING[preset], reuse=5)

    return tuple(spec(name, embeddings) for name, embeddings in OBSERVERS.items())


@dataclasses.dataclass(frozen=True)
class LossRow:
    """Table A1: one observer's loss on agents of one part, with or without shuffled embeddings."""

    part: Part
    observer: str
    shuffled: tuple[str, ...]
    head: str
    loss: Estimate
    paper: float
    rise: Estimate | None  # what shuffling added


@dataclasses.dataclass(frozen=True)
class Cut:
    """On held-out agents: the share of `none`'s loss that an observer saves, and by how many nats `both` leads it."""

    cut: Estimate
    paper: float
    lead: Estimate


@dataclasses.dataclass(frozen=True)
class Generalisation:
    """`both`'s losses on agents met in training and on held-out ones; the gap is relative to the former."""

    training: float
    held_out: float
    gap: Estimate
    paper: float


@dataclasses.dataclass(frozen=True)
class HeadFloor:
    """The floor of one prediction, beside what observers lose in the very same encounters."""

    floor: Estimate
    excess: Estimate  # of `both`
    none: float
    both: float

    @property
    def saves(self) -> float:
        """Of `none`'s loss, if one had the agent itself at hand."""
        return 1 - self.floor.mean / self.none


@dataclasses.dataclass(frozen=True)
class Floor:
    encounters: int
    rollouts: int
    heads: dict[str, HeadFloor]
    policy: Estimate  # what the agent's own policy loses on the next action


@dataclasses.dataclass(frozen=True)
class SpeciesMap:
    name: str
    past: PlainEpisode
    expected: Float[np.ndarray, "gamma row col"]
    happened: Float[np.ndarray, "gamma row col"]


@dataclasses.dataclass(frozen=True)
class Maps:
    """Fig. 7b: where one agent of each species is expected to go from one start, beside where its rollouts go."""

    rule: str
    query: PlainSnapshot
    preferred: int
    past: int
    rollouts: int
    gammas: tuple[float, ...]
    species: list[SpeciesMap]
    apart: Float[np.ndarray, "expected happened"]  # D_JS, mean over levels
    nearest_is_own: float


@dataclasses.dataclass(frozen=True)
class Tables:
    met: dict[Part, Met]
    losses: list[LossRow]
    cuts: dict[str, dict[str, Cut]]  # by head and observer
    generalisation: dict[str, Generalisation]  # by head
    floor: Floor
    species: dict[str, ReadOut]  # by "neighbours" and "linear": of the species, from e_char, of agents never met
    maps: Maps


def evaluate(
    observers: dict[str, ToMnet], agents: int, seed: int, folder: Path | None = None
) -> tuple[Tables, list[Claim]]:
    *_, shuffle_key, floor_key, map_key = _keys(seed)
    spec, met = _any_spec(folder), species_evaluation_sets(seed, agents, folder)
    losses: Losses = {}
    readings = {}
    for place, (part, evaluation_set) in enumerate(met.items()):
        other = somebody_else(jax.random.fold_in(shuffle_key, place), len(evaluation_set.who))
        for name in OBSERVERS:
            reading = read_everything(observers[name], evaluation_set.encounters)
            losses[part, name, ()] = losses_of(reading.predictions, evaluation_set.encounters.targets)
            for shuffled in (shuffled for observer, shuffled in SHUFFLES if observer == name):
                losses[part, name, shuffled] = shuffled_losses(
                    observers[name], reading, evaluation_set.encounters, shuffled, other
                )
            if name == "both":
                readings[part] = reading
    held_out = met["held out"]
    means = {
        (part, *which): {head: met[part].means(loss) for head, loss in by_head.items()}
        for (part, *which), by_head in losses.items()
    }
    each = max(1, held_out.times // (2 * spec.reuse))
    floor = baseline_losses(floor_key, held_out, readings["held out"].predictions, spec.world, each=each)
    tables = Tables(
        met={part: Met.of(one) for part, one in met.items()},
        losses=loss_rows(means),
        cuts=cut_table(means),
        generalisation=generalisation_table(means),
        floor=floor_table(held_out, losses, floor, each),
        species=species_table(met, readings),
        maps=_maps(map_key, observers["both"], held_out, readings["held out"]),
    )
    return tables, _claims(tables)


def species_evaluation_sets(seed: int, agents: int, folder: Path | None = None) -> dict[Part, EvaluationSet]:
    """Agents that observers have met in training, and agents that they have not. Two experiments ask about the same
    encounters, which take as long as reading them, so they are kept."""
    return _evaluation_sets(tuple(condition_file(name, folder) for name in SPECIES), seed, agents, folder)


@lru_cache(maxsize=1)
def _evaluation_sets(
    population: tuple[Path, ...], seed: int, agents: int, folder: Path | None
) -> dict[Part, EvaluationSet]:
    """`population`, the files, are there to tell populations of one name apart."""
    spec = _any_spec(folder)
    return {part: draw_evaluation_set(key, spec, part, agents) for part, key in zip(PARTS, _keys(seed))}


def _any_spec(folder: Path | None) -> ObserverSpec:
    """Every observer meets its agents in the same way."""
    return specs(ANY_PRESET, folder)[-1]


def _keys(seed: int) -> Key[Array, "5"]:
    """Of the encounters, one for each part; of shuffles, floor and maps."""
    return jax.random.split(stream(seed, EVALUATION_STREAM), 5)


# --- Table A1

Losses = dict[tuple[Any, ...], dict[str, np.ndarray]]
"""(part, observer, what is shuffled) → the loss of each head, for each encounter or each agent."""


def loss_rows(means: Losses) -> list[LossRow]:
    """One row for each part, observer, shuffle and head: means over agents."""
    rows = []
    for (part, observer, shuffled), by_head in means.items():
        for head, loss in by_head.items():
            rise = mean_interval(loss - means[part, observer, ()][head]) if shuffled else None
            paper = PAPER[observer, shuffled][head][PARTS.index(part)]
            rows.append(LossRow(part, observer, shuffled, head, mean_interval(loss), paper, rise))
    return rows


def cut_table(means: Losses) -> dict[str, dict[str, Cut]]:
    def cut(head: str, name: str) -> Cut:
        mine, none, both = (means["held out", who, ()][head] for who in (name, "none", "both"))
        saved = bootstrap(lambda none, mine: 1 - mine.mean() / none.mean(), none, mine)
        theirs, baseline = PAPER[name, ()][head][1], PAPER["none", ()][head][1]
        return Cut(saved, 1 - theirs / baseline, mean_interval(mine - both))

    return {head: {name: cut(head, name) for name in OBSERVERS} for head in HEADS}


def generalisation_table(means: Losses) -> dict[str, Generalisation]:
    table = {}
    for head in HEADS:
        trained, tested = means["training", "both", ()][head], means["held out", "both", ()][head]
        gap = float(tested.mean() / trained.mean() - 1)
        errors = [loss.std(ddof=1) / np.sqrt(len(loss)) / loss.mean() for loss in (trained, tested) if len(loss) > 1]
        error = float(1.96 * (1 + gap) * np.sqrt(np.square(errors).sum()) if len(errors) == 2 else np.nan)
        training_paper, test_paper = PAPER["both", ()][head]
        over = Estimate(gap, gap - error, gap + error, len(trained) + len(tested))
        table[head] = Generalisation(float(trained.mean()), float(tested.mean()), over, test_paper / training_paper - 1)
    return table


def floor_table(met: EvaluationSet, losses: Losses, floor: dict[str, np.ndarray], each: int) -> Floor:
    """`each`: of every agent's encounters, how many the floor was measured in."""

    def head_floor(head: str) -> HeadFloor:
        none, both = (first_encounters(met, losses["held out", name, ()][head], each) for name in ("none", "both"))
        excess = mean_interval(both - floor[head])
        return HeadFloor(mean_interval(floor[head]), excess, float(none.mean()), float(both.mean()))

    heads = {head: head_floor(head) for head in HEADS}
    return Floor(each * met.count, BASELINE_ROLLOUTS, heads, mean_interval(floor["policy"]))


# --- Species and maps


def species_table(met: dict[Part, EvaluationSet], readings: dict[Part, Reading]) -> dict[str, ReadOut]:
    """How well the species can be read out of the character embedding of an agent never met."""
    points = {part: np.asarray(reading.character.mean) for part, reading in readings.items()}
    labels = {part: one.species[one.who] for part, one in met.items()}
    table = {}
    for name, read_out in READ_OUTS.items():
        told = read_out(points["training"], labels["training"], points["held out"])
        correct = met["held out"].means(told == labels["held out"])
        table[name] = ReadOut(mean_interval(correct), confusion(labels["held out"], told, len(SPECIES)))
    return table


def _maps(key: Key[Scalar, ""], observer: ToMnet, met: EvaluationSet, reading: Reading) -> Maps:
    level_key, act_key = jax.random.split(key)
    levels = draw_levels(level_key, MAP_LEVELS, SUBGOAL_MAZE)
    chosen = [
        int(np.flatnonzero((met.species == kind) & (met.preferred == SHOWN_OBJECT))[0]) for kind in range(len(SPECIES))
    ]
    query = Snapshot(levels.walls, levels.start_cell, levels.object_cells)
    expected, happened = [], []
    for agent in chosen:
        character = np.asarray(reading.character.mean)[[met.first[agent]] * MAP_LEVELS]
        expected.append(np.exp(np.asarray(predict_everything(observer, character, query).successor)))
        one, maps = pick(met.agents, agent).ready(), []
        for index in range(MAP_LEVELS):
            rollout_state = start_rollout(one, pick(levels, index), SUBGOAL_MAZE)
            maps.append(
                empirical_successors(jax.random.fold_in(act_key, index), one, rollout_state, SUBGOAL_MAZE, MAP_ROLLOUTS)
            )
        happened.append(np.asarray(jnp.stack(maps)))
    expected, happened = np.stack(expected), np.stack(happened)  # [species, level, gamma, row, col]
    apart = apart_from_each_other(expected[:, :, -1], happened[:, :, -1])
    own = apart.argmin(1) == np.arange(len(chosen))[:, None]
    level = int(apart_from_each_other(happened[:, :, -1], happened[:, :, -1]).sum((0, 1)).argmax())
    return Maps(
        rule=f"of {MAP_LEVELS} levels the one on which the three agents' own maps differ most, "
        f"for discount {GAMMAS[-1]}; the first held-out network of each species, preferring the same object",
        query=plain_snapshot(pick(query, level)),
        preferred=SHOWN_OBJECT,
        past=int(met.encounters.past_real[0].sum()),
        rollouts=MAP_ROLLOUTS,
        gammas=GAMMAS,
        species=[
            SpeciesMap(
                name=name,
                past=plain_episode(pick(met.encounters.past, (agent, -1))),  # the first query is about the first
                expected=expected[kind, level],
                happened=happened[kind, level],
            )
            for kind, (name, agent) in enumerate(zip(SPECIES, chosen))
        ],
        apart=apart.mean(-1),
        nearest_is_own=float(own.mean()),
    )


def apart_from_each_other(ones: np.ndarray, others: np.ndarray) -> np.ndarray:
    """D_JS `[one, other, level]` between maps `[agent, level, row, col]`."""
    ones, others = (maps.reshape(*maps.shape[:2], -1) for maps in (ones, others))
    return jensen_shannon(*np.broadcast_arrays(ones[:, None], others[None]))


# --- Claims


def _claims(tables: Tables) -> list[Claim]:
    both = {head: tables.cuts[head]["both"] for head in HEADS}
    weakest = min(HEADS, key=lambda head: both[head].cut.mean / CUTS[head])
    cut, goal = both[weakest].cut, CUTS[weakest]
    leads = {head: {name: tables.cuts[head][name].lead for name in OBSERVERS if name != "both"} for head in HEADS}
    best = all(lead.low > 0 for by_name in leads.values() for lead in by_name.values())
    rises = {row: row.rise for row in tables.losses if row.rise and row.part == "held out"}
    hurt = [row for row, rise in rises.items() if rise.low > 0]
    least = min(rises, key=lambda row: rises[row].mean)
    hurts_twice = all(sum((row.observer, row.shuffled) == shuffle for row in hurt) >= 2 for shuffle in SHUFFLES)
    gaps = {head: row.gap for head, row in tables.generalisation.items()}
    worst = max(HEADS, key=lambda head: gaps[head].mean)
    learned = all(leads[head]["none"].low > 0 for head in HEADS)  # who learned nothing has nothing to generalise
    species = tables.species["neighbours"].accuracy
    return [
        Claim(
            "D1",
            STATEMENTS["D1"],
            verdict(best and all(both[head].cut.mean >= CUTS[head] for head in HEADS), best),
            cut.mean / goal,
            (cut.low / goal, cut.high / goal),
            f"cut of the loss from none to both on held-out agents, as a share of the paper's; weakest: {weakest}",
            "both better than none, char and mental on all three predictions (95% intervals of the paired differences "
            f"over agents above 0), and cuts of at least {', '.join(f'{CUTS[head]:.0%} ({head})' for head in HEADS)}; "
            "partly: the first alone",
            paper=f"{', '.join(f'{CUTS[head]:.0%}' for head in HEADS)}: 1.0 by definition",
            agents=if_measured(tables.floor.heads[weakest].saves / goal),
            detail={f"{head} cut": round(both[head].cut.mean, 4) for head in HEADS} | {"both is best": best},
        ),
        Claim(
            "D2",
            STATEMENTS["D2"],
            verdict(len(hurt) == len(rises), hurts_twice),
            rises[least].mean,
            rises[least].interval,
            f"nats that shuffling adds on held-out agents, least of all: {least.head}, {least.observer} with "
            f"shuffled {' and '.join(least.shuffled)}",
            f"each of {len(SHUFFLES)} shuffles raises each of {len(HEADS)} losses, 95% intervals over agents above 0; "
            "partly: each shuffle raises at least two of them",
            paper="every one rises, by 0.09 nats at least",
            detail={"raised": len(hurt), "of": len(rises)},
        ),
        Claim(
            "D3",
            STATEMENTS["D3"],
            verdict(learned and gaps[worst].mean <= GENERALISES, learned and gaps[worst].mean <= NEARLY),
            gaps[worst].mean,
            gaps[worst].interval,
            f"loss of both on held-out agents above that on training agents, relative to it; worst: {worst}",
            f"no loss on held-out agents lies more than {GENERALISES:.0%} above that on training agents (partly "
            f"{NEARLY:.0%}), and there each lies below that of none (95% intervals of the paired differences over "
            "agents above 0)",
            paper=f"{tables.generalisation[worst].paper:+.0%} for {worst}; worst of all +1%",
            detail={head: round(gap.mean, 4) for head, gap in gaps.items()},
        ),
        Claim(
            "D4",
            STATEMENTS["D4"],
            verdict(species.mean >= TELLS, species.mean >= HALF_TELLS),
            species.mean,
            species.interval,
            "accuracy of the species of held-out agents from the nearest training agents in e_char (chance 0.33)",
            f"reproduced ≥ {TELLS:.2f}, partly ≥ {HALF_TELLS:.2f}",
            paper="shown by example: maps of three agents",
            detail={
                "linear read-out": round(tables.species["linear"].accuracy.mean, 4),
                "expected map nearest to the agent's own": round(tables.maps.nearest_is_own, 4),
            },
        ),
    ]


EXPERIMENT = Experiment(
    name="deep-rl-agents",
    title="Modelling deep RL agents",
    section="3.3",
    figures=("7",),
    claims=("D1", "D2", "D3", "D4"),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={},  # not measured since several queries share an episode
)
