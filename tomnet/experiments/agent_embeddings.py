"""Section 3.3, second experiment: character embeddings behind an information bottleneck.

    tomnet run agent-embeddings --preset laptop
    tomnet run agent-embeddings --preset full     17 min on an H200 beside four other runs: D5, 0.80; D6, 1

Goal: species and preferred object in dimensions of their own, told from them in 95% and 90%; blind agents at the
prior where the object is told; the other dimensions collapsed; and sighted, stateless agents in two clusters, one for
each hand that they follow walls with.

Needs the pretrained agents of the zoo, or a folder of populations that `tomnet agents train` wrote.
"""

import dataclasses
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Float

from ..agents.population import Part
from ..observer.tomnet import Reading, ToMnet
from ..support.progress import stage
from ..support.streams import EVALUATION_STREAM, stream
from .analysis.character_space import (
    COLLAPSED,
    READ_OUTS,
    USED,
    Confusion,
    Dimension,
    Factor,
    Posteriors,
    confusion,
    dimension_table,
    dimensions_of,
    shown_pair,
)
from .analysis.evaluation_set import EvaluationSet, Met, read_everything
from .analysis.statistics import UNKNOWN, Estimate, by_network, mean_interval
from .analysis.three_species import SPECIES, species_evaluation_sets, species_spec
from .analysis.wall_followers import PolicyFields, WallFollowers, hand_table, policy_field_table, wall_follower_table
from .claims.claim import Claim, verdict
from .claims.statements import STATEMENTS
from .experiment import Experiment, ObserverSpec, Preset
from .presets import BOTTLENECK_TRAINING, DEEP_OBSERVER

BLIND = SPECIES.index("blind")
SPECIES_TOLD, OBJECT_TOLD = 0.95, 0.90  # accuracies, each from the dimensions that carry it
NOT_AT_ALL = dataclasses.replace(UNKNOWN, mean=0.0)  # told from no dimension
AT_PRIOR = 0.1  # nats: blind agents, in every dimension that carries the object
# Of two clusters: BIC, silhouette; share whose hand they tell. Ten points of one Gaussian cloud in 1 to 3 dimensions
# pass the first two in at most 2.5% of cases (400 simulated clouds each).
CLEAR_GAIN, CLEAR_GAP, SAME_HANDS = 6.0, 0.5, 0.9


def specs(preset: Preset, folder: Path | None = None) -> tuple[ObserverSpec, ...]:
    observer = dataclasses.replace(DEEP_OBSERVER[preset], bottleneck=True)
    return (species_spec("bottleneck", preset, observer, BOTTLENECK_TRAINING[preset], folder),)


@dataclasses.dataclass(frozen=True)
class Divergence:
    """Nats in each dimension on held-out agents."""

    all: list[Estimate]
    species: dict[str, list[Estimate]]
    blind_in_object: Estimate  # the most that blind agents have in a dimension that carries the object


@dataclasses.dataclass(frozen=True)
class FactorReadOut:
    """From some dimensions; nothing can be told from none of them."""

    dimensions: list[int]
    accuracy: Estimate
    confusion: Confusion | None


@dataclasses.dataclass(frozen=True)
class FactorReadOuts:
    """A factor told from all dimensions, and from its own: those that carry it."""

    chance: float
    all_neighbours: FactorReadOut
    all_linear: FactorReadOut
    own_neighbours: FactorReadOut
    own_linear: FactorReadOut


@dataclasses.dataclass(frozen=True)
class PosteriorPair:
    """Each agent's first posterior, in two dimensions."""

    dimensions: list[int]
    carrying: int  # how many dimensions carry the factor
    mean: Float[np.ndarray, "agent 2"]
    deviation: Float[np.ndarray, "agent 2"]


@dataclasses.dataclass(frozen=True)
class ShownPosteriors:
    """The posteriors that Fig. 8 draws."""

    species: list[str]
    preferred: list[int]
    pairs: dict[str, PosteriorPair]  # by factor


@dataclasses.dataclass(frozen=True)
class Tables:
    met: dict[Part, Met]
    dimensions: list[Dimension]  # judged by the agents of the training set
    divergence: Divergence
    read_outs: dict[Factor, FactorReadOuts]
    posteriors: ShownPosteriors
    subspecies: WallFollowers
    fields: PolicyFields


def evaluate(
    observers: dict[str, ToMnet], agents: int, seed: int, folder: Path | None = None
) -> tuple[Tables, list[Claim]]:
    *_, hand_key, field_key = jax.random.split(
        stream(seed, EVALUATION_STREAM), 4
    )  # the first two are of the encounters
    met = species_evaluation_sets(seed, agents, folder)
    observer = observers["bottleneck"]
    readings: dict[Part, Reading] = {part: read_everything(observer, one.encounters) for part, one in met.items()}
    held_out = met["held out"]
    posteriors = Posteriors.of(readings["held out"])
    dimensions = _dimensions(met["training"], readings["training"])
    stage("which hand each stateless network follows walls with")
    wall_followers, clusters = wall_follower_table(held_out, posteriors, dimensions, hand_table(hand_key, held_out))
    tables = Tables(
        met={part: Met.of(one) for part, one in met.items()},
        dimensions=dimensions,
        divergence=divergence_table(held_out, posteriors.nats, dimensions_of(dimensions, "object")),
        read_outs=read_out_table(met, readings, dimensions),
        posteriors=_shown(held_out, posteriors, dimensions),
        subspecies=wall_followers,
        fields=policy_field_table(field_key, observer, clusters),
    )
    return tables, _claims(tables)


def _dimensions(met: EvaluationSet, reading: Reading) -> list[Dimension]:
    posteriors = Posteriors.of(reading)
    return dimension_table(
        met.means(posteriors.nats), met.means(posteriors.mean), met.species, met.preferred, met.species != BLIND
    )


def divergence_table(met: EvaluationSet, nats: np.ndarray, of_object: list[int]) -> Divergence:
    """`of_object`: the dimensions that carry the object."""
    each, kinds = met.network_means(nats), met.network_species
    species = {name: [mean_interval(column) for column in each[kinds == kind].T] for kind, name in enumerate(SPECIES)}
    told = [species[SPECIES[BLIND]][dimension] for dimension in of_object]
    most = max(told, key=lambda nats: nats.mean) if told else UNKNOWN
    return Divergence([mean_interval(column) for column in each.T], species, most)


def read_out_table(
    met: dict[Part, EvaluationSet], readings: dict[Part, Reading], dimensions: list[Dimension]
) -> dict[Factor, FactorReadOuts]:
    """Species, and preferred object of sighted agents: told from all dimensions, and from those that carry it."""
    points = {part: np.asarray(reading.character.mean) for part, reading in readings.items()}
    everything = list(range(len(dimensions)))

    def read_outs(factor: Factor, kinds: int) -> FactorReadOuts:
        # nobody can tell what the blind like: they cannot find it themselves
        asked = {part: (factor == "species") | (one.species[one.who] != BLIND) for part, one in met.items()}
        labels = {part: (one.species if factor == "species" else one.preferred)[one.who] for part, one in met.items()}
        (learnt, true), (known, tested) = (
            [values[part][asked[part]] for part in ("training", "held out")] for values in (labels, points)
        )
        network = met["held out"].network[met["held out"].who[asked["held out"]]]

        def told_from(chosen: list[int], how: str) -> FactorReadOut:
            if not chosen:
                return FactorReadOut([], NOT_AT_ALL, None)
            told = READ_OUTS[how](known[:, chosen], learnt, tested[:, chosen])
            right = by_network((told == true).astype(float), network)
            return FactorReadOut(chosen, mean_interval(right), confusion(true, told, kinds))

        own = dimensions_of(dimensions, factor)
        rows = [told_from(chosen, how) for chosen in (everything, own) for how in ("neighbours", "linear")]
        return FactorReadOuts(1 / kinds, *rows)

    objects = int(met["held out"].preferred.max()) + 1
    return {"species": read_outs("species", len(SPECIES)), "object": read_outs("object", objects)}


def _shown(met: EvaluationSet, posteriors: Posteriors, dimensions: list[Dimension]) -> ShownPosteriors:
    def pair(factor: Factor) -> PosteriorPair:
        shown, first = shown_pair(dimensions, factor), met.first
        mean, deviation = posteriors.mean[first][:, shown], posteriors.deviation[first][:, shown]
        return PosteriorPair(shown, len(dimensions_of(dimensions, factor)), mean, deviation)

    pairs = {"species": pair("species"), "object": pair("object")}
    return ShownPosteriors([SPECIES[kind] for kind in met.species], met.preferred.tolist(), pairs)


# --- Claims


def _claims(tables: Tables) -> list[Claim]:
    return [_disentangles(tables), _finds_the_two_hands(tables.subspecies, tables.fields)]


def _disentangles(tables: Tables) -> Claim:
    species, objects = tables.read_outs["species"], tables.read_outs["object"]
    goals = {
        "species, neighbours": (species.own_neighbours.accuracy, SPECIES_TOLD),
        "species, linear": (species.own_linear.accuracy, SPECIES_TOLD),
        "object, neighbours": (objects.own_neighbours.accuracy, OBJECT_TOLD),
    }
    weakest = min(goals, key=lambda which: goals[which][0].mean / goals[which][1])
    told, _ = goals[weakest]
    conditions = disentangled(tables)
    others = [held for name, held in conditions.items() if name != "species linearly"]
    return Claim(
        "D5",
        STATEMENTS["D5"],
        verdict(all(conditions.values()), sum(conditions.values()) >= 3),
        told.mean,
        told.interval if told.count else None,
        "accuracy of species or object, of held-out agents from the dimensions that carry it, N_past = 4; weakest: "
        f"{weakest}",
        "all of five; partly: three. Held-out agents' species, from the dimensions that carry it, told by "
        f"neighbours and linearly, ≥ {SPECIES_TOLD:.2f} each; preferred object of the sighted, likewise by "
        f"neighbours, ≥ {OBJECT_TOLD:.2f}; blind agents' mean KL ≤ {AT_PRIOR} nats in every dimension that carries "
        f"the object; every dimension either used (mean KL > {USED} nats) or collapsed (< {COLLAPSED}), and at "
        "least one of each",
        paper="Fig. 8: “first two dimensions” for the species, “next two dimensions” for the object, “collapsed to "
        "the prior in the remaining four dimensions”; no accuracies given",
        detail=conditions
        | {which: round(accuracy.mean, 4) for which, (accuracy, _) in goals.items()}
        | {
            "softer, all but the linear read-out of species": all(others),
            "object, all dimensions": round(objects.all_neighbours.accuracy.mean, 4),
            "blind nats": tables.divergence.blind_in_object.mean,
            "for species": dimensions_of(tables.dimensions, "species"),
            "for object": dimensions_of(tables.dimensions, "object"),
            "collapsed": sum(nats.mean < COLLAPSED for nats in tables.divergence.all),
        },
    )


def disentangled(tables: Tables) -> dict[str, bool]:
    """The five conditions of the claim about the bottleneck."""
    species, objects = tables.read_outs["species"], tables.read_outs["object"]
    held = [nats.mean for nats in tables.divergence.all]
    used, collapsed = sum(nats > USED for nats in held), sum(nats < COLLAPSED for nats in held)
    return {
        "species by neighbours": species.own_neighbours.accuracy.mean >= SPECIES_TOLD,
        "species linearly": species.own_linear.accuracy.mean >= SPECIES_TOLD,
        "object by neighbours": objects.own_neighbours.accuracy.mean >= OBJECT_TOLD,
        "blind at the prior": bool(tables.divergence.blind_in_object.mean <= AT_PRIOR),  # never for nan
        "used or collapsed": used + collapsed == len(held) and used > 0 and collapsed > 0,
    }


def _finds_the_two_hands(found: WallFollowers, fields: PolicyFields) -> Claim:
    together = found.agreement
    clear = bool(found.gain >= CLEAR_GAIN and found.silhouette >= CLEAR_GAP)
    same = bool(together.correlation.low > 0)
    return Claim(
        "D6",
        STATEMENTS["D6"],
        verdict(clear and same and together.accuracy.mean >= SAME_HANDS, clear or same),
        together.accuracy.mean,
        together.accuracy.interval,
        "share of held-out stateless networks whose hand the two clusters tell (chance 0.5 or above)",
        f"two clusters of e_char, found without labels (BIC at least {CLEAR_GAIN:g} below that of one, silhouette "
        f"≥ {CLEAR_GAP}), that tell the networks' own handedness (share ≥ {SAME_HANDS}; 95% interval of the "
        "correlation along the clusters' axis above 0); partly: either two such clusters or such a correlation",
        paper="Fig. 9: “clustered sighted/stateless test agents into two subcategories”, shown by their policies",
        detail={
            "BIC gain": round(found.gain, 3),
            "silhouette": found.silhouette,
            "correlation": together.correlation.mean,
            "correlation interval": together.correlation.interval,
            "left-handed": together.positive,
            "right-handed": together.negative,
            "anticlockwise": [round(turn.mean, 4) for turn in fields.anticlockwise],
        },
    )


EXPERIMENT = Experiment(
    name="agent-embeddings",
    title="Embeddings of deep RL agents",
    section="3.3",
    figures=("8", "9"),
    claims=("D5", "D6"),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"full": "17"},
)
