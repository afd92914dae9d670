"""Section 3.3, second experiment: character embeddings behind an information bottleneck.

    tomnet run agent-embeddings --preset laptop

Goal: species and preferred object in dimensions of their own, told from them in 95% and 90%; blind agents at the
prior where the object is told; the other dimensions collapsed; and sighted, stateless agents in two clusters, one for
each hand that they follow walls with.

Needs the pretrained agents of the zoo, or a folder of populations that `tomnet agents train` wrote.
"""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Key, Scalar

from ..agents.actor_critic import DeepAgent
from ..agents.population import Part
from ..episodes.episode import Snapshot
from ..observer.tomnet import Reading, ToMnet
from ..support.progress import stage
from ..support.streams import EVALUATION_STREAM, stream
from ..support.trees import pick
from ..world.gridworld import SUBGOAL_MAZE, Level
from .analysis.character_space import (
    COLLAPSED,
    USED,
    Clusters,
    agreement,
    confusion,
    dimension_table,
    dimensions_of,
    linear_read_out,
    neighbour_read_out,
    shown_pair,
    two_clusters,
)
from .analysis.evaluation_set import EvaluationSet, predict_everything, read_everything
from .analysis.examples import plain_snapshot
from .analysis.handedness import index, moves_along_walls
from .analysis.population import behave, draw_levels
from .analysis.query_fields import every_cell, policy_arrows
from .claims.claim import Claim, verdict
from .claims.divergence import jensen_shannon
from .claims.statements import STATEMENTS
from .claims.statistics import bootstrap, mean_interval
from .deep_rl_agents import ENCOUNTERS, SPECIES, species_evaluation_sets
from .experiment import AgentPool, Experiment, ObserverSpec, Preset
from .presets import DEEP_OBSERVER, DEEP_TRAINING

BLIND, STATELESS = SPECIES.index("blind"), SPECIES.index("stateless-5x5")
BETA = 0.01  # nats of loss for a nat in the embeddings, at last
SPECIES_TOLD, OBJECT_TOLD = 0.95, 0.90  # accuracies, each from the dimensions that carry it
AT_PRIOR = 0.1  # nats: blind agents, in every dimension that carries the object
# Of two clusters: BIC, silhouette; share whose hand they tell. Ten points of one Gaussian cloud in 1 to 3 dimensions
# pass the first two in at most 2.5% of cases (400 simulated clouds each).
CLEAR_GAIN, CLEAR_GAP, SAME_HANDS = 6.0, 0.5, 0.9
HAND_LEVELS, FIELD_LEVELS, SHOWN_LEVELS = 64, 16, 2


def specs(preset: Preset, folder: Path | None = None) -> tuple[ObserverSpec, ...]:
    pool = AgentPool(SPECIES, folder=folder, networks=1 if preset == "smoke" else None)
    observer = dataclasses.replace(DEEP_OBSERVER[preset], bottleneck=True)
    training = dataclasses.replace(DEEP_TRAINING[preset], beta=BETA)
    return (ObserverSpec("bottleneck", pool, SUBGOAL_MAZE, ENCOUNTERS, observer, training, reuse=5),)


def evaluate(
    observers: dict[str, ToMnet], agents: int, seed: int, folder: Path | None = None
) -> tuple[dict[str, Any], list[Claim]]:
    *_, hand_key, field_key = jax.random.split(
        stream(seed, EVALUATION_STREAM), 4
    )  # the first two are of the encounters
    met = species_evaluation_sets(seed, agents, folder)
    observer = observers["bottleneck"]
    readings: dict[Part, Reading] = {part: read_everything(observer, one.encounters) for part, one in met.items()}
    held_out = met["held out"]
    posteriors = Posteriors.of(readings["held out"])
    dimensions = _dimensions(met["training"], readings["training"])
    tables: dict[str, Any] = {
        "met": {part: {"agents": one.count, "encounters": len(one.who)} for part, one in met.items()},
        "dimensions": dimensions,
        "divergence": divergence_table(held_out, posteriors.nats, dimensions_of(dimensions, "object")),
        "read_outs": read_out_table(met, readings, dimensions),
        "posteriors": _shown(held_out, posteriors, dimensions),
    }
    stage("which hand each stateless network follows walls with")
    hands = hand_table(hand_key, held_out)
    tables["subspecies"], clusters = subspecies_table(held_out, posteriors, dimensions, hands)
    tables["fields"] = _fields(field_key, observer, clusters)
    return tables, _claims(tables)


@dataclasses.dataclass(frozen=True)
class Posteriors:
    """Of e_char, `[encounter, dimension]`."""

    mean: np.ndarray
    deviation: np.ndarray
    nats: np.ndarray  # KL from the prior

    @staticmethod
    def of(reading: Reading) -> "Posteriors":
        character = reading.character
        assert character.log_variance is not None
        deviation = np.exp(0.5 * np.asarray(character.log_variance, np.float64))
        return Posteriors(np.asarray(character.mean, np.float64), deviation, np.asarray(character.divergence()))


# --- What the dimensions hold (Fig. 8)


def _dimensions(met: EvaluationSet, reading: Reading) -> list[dict[str, Any]]:
    """What each dimension is about, judged by the agents of the training set."""
    posteriors = Posteriors.of(reading)
    return dimension_table(
        met.means(posteriors.nats), met.means(posteriors.mean), met.species, met.preferred, met.species != BLIND
    )


def divergence_table(met: EvaluationSet, nats: np.ndarray, of_object: list[int]) -> dict[str, Any]:
    """Nats in each dimension on held-out agents, by species; and the blind agents' where the object is told."""
    each = met.means(nats)
    table: dict[str, Any] = {"all": [_mean(column) for column in each.T]}
    table["species"] = {
        name: [_mean(column) for column in each[met.species == kind].T] for kind, name in enumerate(SPECIES)
    }
    told = [table["species"][SPECIES[BLIND]][dimension] for dimension in of_object]
    table["blind_in_object"] = max(told, key=lambda row: row["mean"]) if told else _nothing()
    return table


def _mean(values: np.ndarray) -> dict[str, Any]:
    return dict(zip(("mean", "interval"), mean_interval(values))) if len(values) else _nothing()


def _nothing() -> dict[str, Any]:
    return {"mean": float("nan"), "interval": (float("nan"), float("nan"))}


def read_out_table(
    met: dict[Part, EvaluationSet], readings: dict[Part, Reading], dimensions: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Species, and preferred object of sighted agents: told from all dimensions, and from those that carry it."""
    tested = met["held out"]
    points = {part: np.asarray(reading.character.mean) for part, reading in readings.items()}
    table = {}
    for factor, kinds in {"species": len(SPECIES), "object": int(tested.preferred.max()) + 1}.items():
        labels = {part: (one.species if factor == "species" else one.preferred)[one.who] for part, one in met.items()}
        # nobody can tell what the blind like: they cannot find it themselves
        asked = {part: (factor == "species") | (one.species[one.who] != BLIND) for part, one in met.items()}
        table[factor] = {"chance": 1 / kinds}
        for name, chosen in {"all": list(range(len(dimensions))), "own": dimensions_of(dimensions, factor)}.items():
            for how, read_out in {"neighbours": neighbour_read_out, "linear": linear_read_out}.items():
                row: dict[str, Any] = {"dimensions": chosen, "accuracy": 0.0, "interval": None, "confusion": None}
                if chosen:
                    learnt, true = labels["training"][asked["training"]], labels["held out"][asked["held out"]]
                    told = read_out(
                        points["training"][asked["training"]][:, chosen],
                        learnt,
                        points["held out"][asked["held out"]][:, chosen],
                    )
                    who = tested.who[asked["held out"]]
                    right = np.array([(told == true)[who == agent].mean() for agent in np.unique(who)])
                    row["accuracy"], row["interval"] = mean_interval(right)
                    row["confusion"] = confusion(true, told, kinds)
                table[factor][f"{name}_{how}"] = row
    return table


def _shown(met: EvaluationSet, posteriors: Posteriors, dimensions: list[dict[str, Any]]) -> dict[str, Any]:
    """The posteriors that Fig. 8 draws: each agent's first, in two dimensions for each factor."""
    first = met.first
    return {
        "species": [SPECIES[kind] for kind in met.species],
        "preferred": met.preferred.tolist(),
        "pairs": {
            factor: {
                "dimensions": pair,
                "carrying": len(dimensions_of(dimensions, factor)),
                "mean": posteriors.mean[first][:, pair].tolist(),
                "deviation": posteriors.deviation[first][:, pair].tolist(),
            }
            for factor in ("species", "object")
            for pair in [shown_pair(dimensions, factor)]
        },
    }


# --- Subspecies (Fig. 9)


def hand_table(key: Key[Scalar, ""], met: EvaluationSet) -> list[dict[str, Any]]:
    """The handedness of each stateless network, on levels that no observer saw it on."""
    level_key, act_key = jax.random.split(key)
    levels = draw_levels(level_key, HAND_LEVELS, SUBGOAL_MAZE)
    rows = []
    for network in _stateless_networks(met):
        # its agents differ in what they are after, not in how they walk: one is enough
        agent: DeepAgent = pick(met.agents, int(np.flatnonzero(met.network == network)[0]))
        episodes, _ = behave(jax.random.fold_in(act_key, int(network)), agent, levels, SUBGOAL_MAZE)
        left, right = moves_along_walls(episodes)
        value, interval = float("nan"), (float("nan"), float("nan"))
        if left.sum() + right.sum():
            value, interval = bootstrap(index, left, right)
        rows.append({"network": int(network), "index": value, "interval": interval, "moves": int((left + right).sum())})
    return rows


def _stateless_networks(met: EvaluationSet) -> np.ndarray:
    return np.unique(met.network[met.species == STATELESS])


def subspecies_table(
    met: EvaluationSet, posteriors: Posteriors, dimensions: list[dict[str, Any]], hands: list[dict[str, Any]]
) -> tuple[dict[str, Any], Clusters]:
    """Clusters among stateless networks, found without labels, beside the hand that each follows walls with.

    Agents of one network differ in what they prefer and in nothing else, so that a network counts once; and clusters
    are looked for where preferences do not show.
    """
    networks = _stateless_networks(met)
    where = [row["dimension"] for row in dimensions if row["used"] and row["carries"] != "object"]
    where = where or list(range(len(dimensions)))
    each = met.means(posteriors.mean)
    points = np.stack([each[met.network == network].mean(0) for network in networks])
    clusters = two_clusters(points[:, where])
    along = clusters.along(points[:, where])
    hand = np.array([row["index"] for row in hands])
    table: dict[str, Any] = {
        "networks": len(networks),
        "dimensions": where,
        "gain": clusters.gain,
        "silhouette": clusters.silhouette,
        "pair": shown_pair(dimensions, "species"),
        "agreement": agreement(along, clusters.labels, np.nan_to_num(hand)),
        "each": [
            {**row, "cluster": int(label), "along": float(place)}
            for row, label, place in zip(hands, clusters.labels, along)
        ],
    }
    pair = table["pair"]
    # in all dimensions, for predictions; an empty cluster is where everyone is
    parts = [points[clusters.labels == side] for side in (0, 1)]
    whole = np.stack([(part if len(part) else points).mean(0) for part in parts])
    table["centres"] = whole[:, pair].tolist()
    for row in table["each"]:
        agent = int(np.flatnonzero(met.network == row["network"])[0])
        encounters = np.flatnonzero(met.who == agent)
        row["preferred"] = int(met.preferred[agent])
        row["mean"] = posteriors.mean[encounters][:, pair].tolist()
        row["deviation"] = posteriors.deviation[encounters][:, pair].tolist()
    return table, dataclasses.replace(clusters, centres=whole)


def _fields(key: Key[Scalar, ""], observer: ToMnet, clusters: Clusters) -> dict[str, Any]:
    """Fig. 9c: policies expected of an agent at each cluster's mean, from every cell; and which way they turn."""
    levels = draw_levels(key, FIELD_LEVELS, SUBGOAL_MAZE)
    shown, turns = [], []
    for number in range(FIELD_LEVELS):
        level: Level = pick(levels, number)
        query = Snapshot(level.walls, level.start_cell, level.object_cells)
        cells = every_cell(query)
        policies = []
        for centre in clusters.centres:
            character = np.broadcast_to(centre, (cells.agent_cell.shape[0], len(centre))).astype(np.float32)
            policies.append(np.exp(np.asarray(predict_everything(observer, character, cells).action)))
        one, other = (policy_arrows(policy) for policy in policies)
        turns.append([circulation(arrows, query) for arrows in (one, other)])
        if number < SHOWN_LEVELS:
            shown.append(
                {
                    "query": plain_snapshot(query),
                    "one": one.tolist(),
                    "other": other.tolist(),
                    "divergence": jensen_shannon(*policies).tolist(),
                }
            )
    turns = np.array(turns)
    return {
        "shown": shown,
        "rule": f"the first {SHOWN_LEVELS} of {FIELD_LEVELS} levels",
        "levels": FIELD_LEVELS,
        "anticlockwise": [_mean(turns[:, side]) for side in (0, 1)],
        "difference": _mean(turns[:, 0] - turns[:, 1]),
    }


def circulation(arrows: np.ndarray, query: Snapshot) -> float:
    """How much a field of (row, col) steps turns anticlockwise around the middle: -1 to 1, mean over free cells."""
    size = query.walls.shape[-1]
    rows, cols = np.divmod(np.arange(size * size), size)
    down, across = rows - (size - 1) / 2, cols - (size - 1) / 2
    radius = np.hypot(down, across)
    things = np.asarray(query.object_cells)
    free = ~np.asarray(query.walls).reshape(-1) & ~np.isin(np.arange(size * size), things) & (radius > 0)
    turning = (down * arrows[:, 1] - across * arrows[:, 0]) / np.where(radius > 0, radius, 1)
    return float(turning[free].mean())


# --- Claims


def _claims(tables: dict[str, Any]) -> list[Claim]:
    told, divergence, dimensions = tables["read_outs"], tables["divergence"], tables["dimensions"]
    conditions = disentangled(tables)
    blind = divergence["blind_in_object"]
    goals = {
        ("species", "neighbours"): SPECIES_TOLD,
        ("species", "linear"): SPECIES_TOLD,
        ("object", "neighbours"): OBJECT_TOLD,
    }
    own = {(factor, reader): told[factor][f"own_{reader}"] for factor, reader in goals}
    weakest = min(goals, key=lambda which: own[which]["accuracy"] / goals[which])
    found = tables["subspecies"]
    together = found["agreement"]
    clear = bool(found["gain"] >= CLEAR_GAIN and found["silhouette"] >= CLEAR_GAP)
    same = bool(together["correlation_interval"][0] > 0)
    return [
        Claim(
            "D5",
            STATEMENTS["D5"],
            verdict(all(conditions.values()), sum(conditions.values()) >= 3),
            own[weakest]["accuracy"],
            own[weakest]["interval"],
            "accuracy of held-out agents' species or object from the dimensions that carry it, N_past = 4; weakest: "
            + ", ".join(weakest),
            "all of five; partly: three. Held-out agents' species, from the dimensions that carry it, told by "
            "neighbours and linearly, ≥ 0.95 each; preferred object of the sighted, likewise by neighbours, ≥ 0.90; "
            f"blind agents' mean KL ≤ {AT_PRIOR} nats in every dimension that carries the object; every dimension "
            f"either used (mean KL > {USED} nats) or collapsed (< {COLLAPSED}), and at least one of each",
            paper="two dimensions for the species, two for the object, four collapsed; no accuracies given",
            detail=conditions
            | {
                "species, neighbours": round(told["species"]["own_neighbours"]["accuracy"], 4),
                "species, linear": round(told["species"]["own_linear"]["accuracy"], 4),
                "object, neighbours": round(told["object"]["own_neighbours"]["accuracy"], 4),
                "object, all dimensions": round(told["object"]["all_neighbours"]["accuracy"], 4),
                "blind nats": blind["mean"],
                "for species": dimensions_of(dimensions, "species"),
                "for object": dimensions_of(dimensions, "object"),
                "collapsed": sum(row["mean"] < COLLAPSED for row in divergence["all"]),
            },
        ),
        Claim(
            "D6",
            STATEMENTS["D6"],
            verdict(clear and same and together["accuracy"] >= SAME_HANDS, clear or same),
            together["accuracy"],
            together["accuracy_interval"],
            "share of held-out stateless networks whose hand the two clusters tell (chance 0.5 or above)",
            f"two clusters of e_char, found without labels (BIC at least {CLEAR_GAIN:g} below that of one, silhouette "
            f"≥ {CLEAR_GAP}), that tell the networks' own handedness (share ≥ {SAME_HANDS}; 95% interval of the "
            "correlation along the clusters' axis above 0); partly: either two such clusters or such a correlation",
            paper="two clusters, shown by their policies",
            detail={
                "BIC gain": round(found["gain"], 3),
                "silhouette": found["silhouette"],
                "correlation": together["correlation"],
                "correlation interval": together["correlation_interval"],
                "left-handed": together["positive"],
                "right-handed": together["negative"],
                "anticlockwise": [round(row["mean"], 4) for row in tables["fields"]["anticlockwise"]],
            },
        ),
    ]


def disentangled(tables: dict[str, Any]) -> dict[str, bool]:
    """The five conditions of the claim about the bottleneck."""
    told, held = tables["read_outs"], [row["mean"] for row in tables["divergence"]["all"]]
    used, collapsed = sum(nats > USED for nats in held), sum(nats < COLLAPSED for nats in held)
    return {
        "species by neighbours": told["species"]["own_neighbours"]["accuracy"] >= SPECIES_TOLD,
        "species linearly": told["species"]["own_linear"]["accuracy"] >= SPECIES_TOLD,
        "object by neighbours": told["object"]["own_neighbours"]["accuracy"] >= OBJECT_TOLD,
        "blind at the prior": bool(tables["divergence"]["blind_in_object"]["mean"] <= AT_PRIOR),  # never for nan
        "used or collapsed": used + collapsed == len(held) and used > 0 and collapsed > 0,
    }


EXPERIMENT = Experiment(
    name="agent-embeddings",
    title="Embeddings of deep RL agents",
    section="3.3",
    figures=("8", "9"),
    claims=("D5", "D6"),
    specs=specs,
    evaluate=evaluate,
    minutes={"full": "8"},
)
