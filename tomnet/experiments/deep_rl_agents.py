"""Section 3.3, first experiment: observers of deep RL agents, with and without a character net and a mental net.

    tomnet run deep-rl-agents --preset laptop
    tomnet run deep-rl-agents --preset full     11 min on an H200, its four observers side by side: D4, 0.99

Goal: with both nets, losses on agents never met that lie 35% (action), 61% (consumption) and 19% (successor maps)
below those with neither, as in the paper's Table A1; and the species told from the character embedding in 95%.

Three species: blind, sighted but stateless, sighted and stateful. Needs the pretrained agents of the zoo, or a folder
of populations that `tomnet agents train` wrote.
"""

import dataclasses
from pathlib import Path

import jax
import numpy as np

from ..agents.population import Part
from ..observer.config import BEHAVIOUR
from ..observer.tomnet import Reading, ToMnet
from ..support.streams import EVALUATION_STREAM, stream
from ..world.gridworld import SUBGOAL_MAZE
from .analysis.character_space import READ_OUTS, ReadOut, confusion
from .analysis.evaluation_set import EvaluationSet, Met, losses_of, read_everything, shuffled_losses, somebody_else
from .analysis.rollout_baseline import baseline_losses
from .analysis.species_maps import Maps, species_maps
from .analysis.statistics import mean_interval
from .analysis.table_a1 import (
    OBSERVERS,
    SHUFFLES,
    Cut,
    Floor,
    Generalisation,
    Losses,
    LossRow,
    cut_table,
    floor_table,
    generalisation_table,
    loss_rows,
)
from .analysis.three_species import REUSE, SPECIES, species_evaluation_sets, species_spec
from .claims.claim import Claim, if_measured, verdict
from .claims.statements import STATEMENTS
from .experiment import Experiment, ObserverSpec, Preset
from .presets import DEEP_OBSERVER, DEEP_TRAINING

CUTS = {"action": 0.35, "consumption": 0.61, "successor": 0.19}  # the paper's, from none to both, on test agents
GENERALISES, NEARLY = 0.05, 0.15  # how far losses on agents never met may lie above those on agents met in training
TELLS, HALF_TELLS = 0.95, 0.80  # accuracies of the species


def specs(preset: Preset, folder: Path | None = None) -> tuple[ObserverSpec, ...]:
    def spec(name: str, embeddings: tuple[str, ...]) -> ObserverSpec:
        character = "episodes" if "character" in embeddings else "none"
        observer = dataclasses.replace(DEEP_OBSERVER[preset], character=character, mental="mental" in embeddings)
        return species_spec(name, preset, observer, DEEP_TRAINING[preset], folder)

    return tuple(spec(name, embeddings) for name, embeddings in OBSERVERS.items())


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
    *_, shuffle_key, floor_key, map_key = jax.random.split(
        stream(seed, EVALUATION_STREAM), 5
    )  # the first two are of the encounters
    met = species_evaluation_sets(seed, agents, folder)
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
        (part, *which): {head: met[part].network_means(loss) for head, loss in by_head.items()}
        for (part, *which), by_head in losses.items()
    }
    each = max(1, held_out.times // (2 * REUSE))
    floor = baseline_losses(floor_key, held_out, readings["held out"].predictions, SUBGOAL_MAZE, each=each)
    tables = Tables(
        met={part: Met.of(one) for part, one in met.items()},
        losses=loss_rows(means),
        cuts=cut_table(means),
        generalisation=generalisation_table(means),
        floor=floor_table(held_out, losses, floor, each),
        species=species_table(met, readings),
        maps=species_maps(map_key, observers["both"], held_out, readings["held out"]),
    )
    return tables, _claims(tables)


def species_table(met: dict[Part, EvaluationSet], readings: dict[Part, Reading]) -> dict[str, ReadOut]:
    """How well the species can be read out of the character embedding of an agent never met."""
    points = {part: np.asarray(reading.character.mean) for part, reading in readings.items()}
    labels = {part: one.species[one.who] for part, one in met.items()}
    table = {}
    for name, read_out in READ_OUTS.items():
        told = read_out(points["training"], labels["training"], points["held out"])
        correct = met["held out"].network_means(told == labels["held out"])
        table[name] = ReadOut(mean_interval(correct), confusion(labels["held out"], told, len(SPECIES)))
    return table


def _claims(tables: Tables) -> list[Claim]:
    return [
        _both_nets_help(tables),
        _shuffling_hurts(tables.losses),
        _generalises(tables.generalisation, tables.cuts),
        _infers_species(tables.species, tables.maps),
    ]


def _both_nets_help(tables: Tables) -> Claim:
    both = {head: tables.cuts[head]["both"] for head in BEHAVIOUR}
    weakest = weakest_head(tables)
    cut, goal = both[weakest].cut, CUTS[weakest]
    rolled_out = if_measured(tables.floor.heads[weakest].saves / goal)
    rivals = [name for name in OBSERVERS if name != "both"]
    best = all(tables.cuts[head][name].lead.low > 0 for head in BEHAVIOUR for name in rivals)
    return Claim(
        "D1",
        STATEMENTS["D1"],
        verdict(best and all(both[head].cut.mean >= CUTS[head] for head in BEHAVIOUR), best),
        cut.mean / goal,
        (cut.low / goal, cut.high / goal),
        f"of the paper's cut of the loss, from none to both on held-out agents; weakest: {weakest}",
        "both better than none, char and mental on all three predictions (95% intervals of the paired differences "
        "over networks above 0), and cuts of at least "
        f"{', '.join(f'{CUTS[head]:.0%} ({head})' for head in BEHAVIOUR)}; partly: the first alone",
        paper=f"Table A1: {', '.join(f'{CUTS[head]:.0%}' for head in BEHAVIOUR)}, 1.0 by definition",
        ceiling=None if rolled_out is None else {"agent": rolled_out},
        detail={f"{head} cut": round(both[head].cut.mean, 4) for head in BEHAVIOUR} | {"both is best": best},
    )


def weakest_head(tables: Tables) -> str:
    """Whose cut from none to both is the smallest beside the paper's."""
    return min(BEHAVIOUR, key=lambda head: tables.cuts[head]["both"].cut.mean / CUTS[head])


def _shuffling_hurts(losses: list[LossRow]) -> Claim:
    rises = {row: row.rise for row in losses if row.rise and row.part == "held out"}
    hurt = [row for row, rise in rises.items() if rise.low > 0]
    least = min(rises, key=lambda row: rises[row].mean)
    hurts_twice = all(sum((row.observer, row.shuffled) == shuffle for row in hurt) >= 2 for shuffle in SHUFFLES)
    return Claim(
        "D2",
        STATEMENTS["D2"],
        verdict(len(hurt) == len(rises), hurts_twice),
        rises[least].mean,
        rises[least].interval,
        f"nats that shuffling adds on held-out agents, least of all: {least.head}, {least.observer} with "
        f"shuffled {' and '.join(least.shuffled)}",
        f"each of {len(SHUFFLES)} shuffles raises each of {len(BEHAVIOUR)} losses, 95% intervals over networks "
        "above 0; partly: each shuffle raises at least two of them",
        paper="Table A1: every one rises, by 0.09 nats at least",
        detail={"raised": len(hurt), "of": len(rises)},
    )


def _generalises(rows: dict[str, Generalisation], cuts: dict[str, dict[str, Cut]]) -> Claim:
    gaps = {head: row.gap for head, row in rows.items()}
    worst = max(BEHAVIOUR, key=lambda head: gaps[head].mean)
    learned = all(cuts[head]["none"].lead.low > 0 for head in BEHAVIOUR)  # or there is nothing to generalise
    return Claim(
        "D3",
        STATEMENTS["D3"],
        verdict(learned and gaps[worst].mean <= GENERALISES, learned and gaps[worst].mean <= NEARLY),
        gaps[worst].mean,
        gaps[worst].interval,
        f"loss of both on held-out agents above that on training agents, relative to it; worst: {worst}",
        f"no loss on held-out agents lies more than {GENERALISES:.0%} above that on training agents (partly "
        f"{NEARLY:.0%}), and there each lies below that of none (95% intervals of the paired differences over "
        "networks above 0)",
        paper=f"Table A1: {rows[worst].paper:+.0%} for {worst}; worst of all +1%",
        detail={head: round(gap.mean, 4) for head, gap in gaps.items()}
        | {
            "softer, as a share of what none loses on either": {
                head: [row.beside_none.mean, *row.beside_none.interval] for head, row in rows.items()
            }
        },
    )


def _infers_species(read_outs: dict[str, ReadOut], maps: Maps) -> Claim:
    species = read_outs["neighbours"].accuracy
    return Claim(
        "D4",
        STATEMENTS["D4"],
        verdict(species.mean >= TELLS, species.mean >= HALF_TELLS),
        species.mean,
        species.interval,
        "accuracy of the species of held-out agents from the nearest training agents in e_char (chance 0.33)",
        f"reproduced ≥ {TELLS:.2f}, partly ≥ {HALF_TELLS:.2f}",
        paper="Fig. 7b, three agents: “implicitly infers it, and maps out where the agent will go next”; no number",
        detail={
            "linear read-out": round(read_outs["linear"].accuracy.mean, 4),
            "expected map nearest to the agent's own": round(maps.nearest_is_own, 4),
        },
    )


EXPERIMENT = Experiment(
    name="deep-rl-agents",
    title="Modelling deep RL agents",
    section="3.3",
    figures=("7",),
    claims=("D1", "D2", "D3", "D4"),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"full": "11"},  # its four observers side by side
)
