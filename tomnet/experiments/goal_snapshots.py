"""Section 3.2, second experiment: a few snapshots of the past, one state/action pair each.

    tomnet run goal-snapshots --preset laptop     13 min on two cores: the preferred object told in 90%
    tomnet run goal-snapshots --preset full       4 min on an H200: G5, 0.98

Goal: predictions that improve with every snapshot; above chance with none; and a 2-D embedding in which the
preferred object shows, also when the next action is the only prediction trained.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..episodes.encounter import Encounter, EncounterSpec
from ..ideal.inverse_planning import InversePlanner
from ..observer.config import TrainingConfig
from ..observer.tomnet import ToMnet
from ..support.streams import EVALUATION_STREAM, stream
from ..support.trees import pick
from ..world.gridworld import ACTIONS, MAZE
from .analysis.comparison import (
    GOALS,
    Comparison,
    comparison_table,
    exact,
    learned,
    meets_goals,
    seen_only,
    weakest,
    without_past,
)
from .analysis.decoding import nearest_neighbour_accuracy
from .analysis.examples import PlainEpisode, PlainState, first_of, plain_snapshot, plain_state
from .analysis.query_fields import every_cell, policy_arrows
from .analysis.statistics import Estimate, mean_interval, share_interval
from .analysis.trapped_agents import FAR, NEAR, Trapped, trapped
from .claims.claim import Claim, if_measured, verdict
from .claims.statements import STATEMENTS
from .experiment import ANY_PRESET, Experiment, ObserverSpec, Preset
from .goal_inference import SPECIES
from .presets import PLANNER_OBSERVER

N_PAST = tuple(range(11))
FIELD_PAST = (0, 1, 5)  # Fig. 5c
WELL_ABOVE = 0.05  # chance: the probability of the true action, nothing seen
SURE, HALF_SURE = 0.9, 0.7  # of what a trapped agent eats
LEGIBLE, HALF_LEGIBLE = 0.9, 0.5  # of the ideal observer's accuracy: the preferred object
ENCOUNTERS = EncounterSpec(min_past=0, max_past=10, snapshots=True)
HEADS_OF = {"all-heads": ("action", "consumption", "successor"), "action-only": ("action",)}
TRAINING = {
    "smoke": TrainingConfig(steps=4, batch=16, chunk=2, held_out=16, evaluate_every=1),
    "laptop": TrainingConfig(steps=2_000, batch=128, learning_rate=3e-3, chunk=10),
    "full": TrainingConfig(steps=24_000, batch=512, learning_rate=2e-3, chunk=100, held_out=2048, evaluate_every=10),
}


def specs(preset: Preset) -> tuple[ObserverSpec, ...]:
    def spec(name: str, heads: tuple[str, ...]) -> ObserverSpec:
        observer = dataclasses.replace(PLANNER_OBSERVER[preset], character="snapshots", heads=heads)
        return ObserverSpec(name, SPECIES, MAZE, ENCOUNTERS, observer, TRAINING[preset], reuse=11)

    return tuple(spec(name, heads) for name, heads in HEADS_OF.items())


@dataclasses.dataclass(frozen=True)
class CurvePoint:
    """Fig. 5b: the probability given to the true action; and the comparison of all predictions."""

    past: int
    heads: dict[str, Comparison]  # empty where nothing was seen
    observer: Estimate
    ideal: Estimate


@dataclasses.dataclass(frozen=True)
class PreferenceReadOut:
    """How well the preferred object can be read out of the embedding; with nothing seen, all embeddings are zero."""

    past: int
    accuracy: Estimate | None
    ideal: float


@dataclasses.dataclass(frozen=True)
class Embeddings:
    """Fig. 5d."""

    preferred: list[int]
    past: list[int]
    character: Float[np.ndarray, "past agent dimension"]


@dataclasses.dataclass(frozen=True)
class PolicyField:
    past: int
    observer: Float[np.ndarray, "cell 2"]  # resultant vectors of the policies, as (row, col) steps
    ideal: Float[np.ndarray, "cell 2"]


@dataclasses.dataclass(frozen=True)
class Field:
    """Figs. 5a and 5c: the predicted policy from every cell of one level, after more and more snapshots."""

    query: PlainState
    snapshots: list[PlainEpisode]
    preferred: int
    fields: list[PolicyField]


@dataclasses.dataclass(frozen=True)
class Tables:
    curve: list[CurvePoint]
    gain: Estimate  # of the true action's probability, from no snapshot to the most
    embedding: dict[str, list[PreferenceReadOut]]  # by observer
    points: dict[str, Embeddings]  # by observer
    trapped: Trapped
    field: Field


def evaluate(observers: dict[str, ToMnet], agents: int, seed: int) -> tuple[Tables, list[Claim]]:
    agent_key, encounter_key, ideal_key, level_key = jax.random.split(stream(seed, EVALUATION_STREAM), 4)
    population = SPECIES.sample(agent_key, agents)
    preferred = np.asarray(population.preferred)
    ideal = InversePlanner.for_species(ideal_key, SPECIES, MAZE)
    everything = eqx.filter_jit(specs(ANY_PRESET)[0].draw_encounters)(encounter_key, population, past=max(N_PAST))
    no_past = without_past(ideal, everything)
    curve = []
    embedding: dict[str, list[PreferenceReadOut]] = {name: [] for name in HEADS_OF}
    points: dict[str, list[np.ndarray]] = {name: [] for name in HEADS_OF}
    given_to_truth = []  # the probability of the action taken, for every agent, as snapshots come in
    given_to_preferred = []  # the exact probability of the object that the agent likes best
    for past in N_PAST:
        # the same agents and queries at every N_past: only what was seen before differs
        encounters = seen_only(everything, past)
        weights, best = exact(ideal, encounters)
        likely = np.asarray(ideal.preferred_object(weights))
        known = float((likely.argmax(-1) == preferred).astype(float).mean())
        given_to_preferred.append(likely[np.arange(agents), preferred])
        for name, observer in observers.items():
            character, trained = learned(observer, encounters)
            points[name].append(character[:100])
            told = share_interval(nearest_neighbour_accuracy(character, preferred)) if past else None
            embedding[name].append(PreferenceReadOut(past, told, known))
            if name == "all-heads":
                given_to_truth.append(trained.action_probability)
                curve.append(
                    CurvePoint(
                        past,
                        comparison_table(trained, best, no_past) if past else {},
                        mean_interval(trained.action_probability),
                        mean_interval(best.action_probability),
                    )
                )
    shown = _telling(np.stack(given_to_preferred), np.asarray(ideal.reachable(everything.query)))
    tables = Tables(
        curve,
        mean_interval(given_to_truth[-1] - given_to_truth[0]),
        embedding,
        {name: Embeddings(preferred[:100].tolist(), list(N_PAST), np.stack(points[name])) for name in points},
        trapped(level_key, observers["all-heads"], ideal, everything, preferred),
        _field(observers["all-heads"], ideal, everything, preferred, shown),
    )
    return tables, _claims(tables)


def _telling(given_to_preferred: np.ndarray, reachable: np.ndarray) -> int:
    """Whom Fig. 5c shows, by the exact observer alone: one snapshot leaves it in doubt, the last ones do not."""
    everything_open = reachable.all(-1)
    doubtful, sure = given_to_preferred[FIELD_PAST[1]] < 0.6, given_to_preferred[FIELD_PAST[-1]] > 0.9
    return first_of(doubtful & sure & everything_open, sure & everything_open, sure) or 0


def _field(observer: ToMnet, ideal: InversePlanner, encounters: Encounter, preferred: np.ndarray, shown: int) -> Field:
    first = pick(encounters, slice(shown, shown + 1))
    query = pick(first.query, 0)
    fields = []
    for past in FIELD_PAST:
        seen = seen_only(first, past)
        character, _ = learned(observer, seen)
        predictions = observer.predict(jnp.repeat(jnp.asarray(character), MAZE.cells, 0), every_cell(query))
        weights = ideal.posterior(seen.past, seen.past_real)
        exact_field = np.asarray(ideal.policy_field(weights, first.query))[0].reshape(MAZE.cells, -1)
        fields.append(
            PolicyField(past, policy_arrows(np.exp(np.asarray(predictions.action))), policy_arrows(exact_field))
        )
    snapshots = [plain_snapshot(pick(first.past, (0, i))) for i in range(max(FIELD_PAST))]
    return Field(plain_state(query), snapshots, int(preferred[shown]), fields)


def _claims(tables: Tables) -> list[Claim]:
    none, *_, ten = tables.curve
    return [
        _learns_from_snapshots(tables.gain, none, ten),
        _knows_the_species(none),
        _knows_the_trapped(tables.trapped),
        _shows_preference("G5", tables.embedding["all-heads"], "Fig. 5d: “immediately legible”; no number"),
        _shows_preference("G6", tables.embedding["action-only"], "“also true”; neither figure nor number"),
    ]


def _learns_from_snapshots(gain: Estimate, none: CurvePoint, ten: CurvePoint) -> Claim:
    return Claim(
        "G2",
        STATEMENTS["G2"],
        verdict(gain.low > 0 and meets_goals(ten.heads), gain.low > 0),
        gain.mean,
        gain.interval,
        "probability of the true action, N_past = 10 minus none",
        f"a gain whose interval is above 0, and captured shares at N_past = 10 of {GOALS['consumption']} "
        f"(consumption), {GOALS['action']} (others); partly: the gain alone",
        paper="Fig. 5b: “leads to better predictions”; no number in the text",
        ideal=ten.ideal.mean - none.ideal.mean,
        detail={head: round(ten.heads[head].captured.mean, 4) for head in GOALS} | {"weakest": weakest(ten.heads)},
    )


def _knows_the_species(none: CurvePoint) -> Claim:
    chance = 1 / len(ACTIONS)
    return Claim(
        "G3",
        STATEMENTS["G3"],
        verdict(none.observer.low > chance + WELL_ABOVE, none.observer.low > chance),
        none.observer.mean,
        none.observer.interval,
        f"probability of the true action, N_past = 0 (chance {chance:g})",
        f"reproduced: interval above chance + {WELL_ABOVE}; partly: above chance",
        paper="Fig. 5b: “greater than chance”; no number in the text",
        ideal=none.ideal.mean,
    )


def _knows_the_trapped(alone: Trapped) -> Claim:
    return Claim(
        "G4",
        STATEMENTS["G4"],
        verdict(alone.probability.mean >= SURE, alone.probability.mean >= HALF_SURE),
        alone.probability.mean,
        alone.probability.interval,
        f"probability given to it, on {alone.levels} levels where exactly one object is in reach",
        f"reproduced ≥ {SURE}, partly ≥ {HALF_SURE}",
        paper="Fig. 5c, one level: “will always consume” it",
        ideal=if_measured(alone.ideal),
        detail={
            "where it is the agent's favourite": alone.if_preferred,
            "where the favourite is out of reach": alone.if_not_preferred,
            f"where it is within {NEAR} steps": alone.if_near,
            f"where it is {FAR} or more steps away": alone.if_far,
            "levels where it is ToMnet's first choice": alone.first_choice,
        },
    )


def _shows_preference(id: str, rows: list[PreferenceReadOut], paper: str) -> Claim:
    *_, last = rows
    assert last.accuracy is not None  # after ten snapshots there is something to tell it from
    return Claim(
        id,
        STATEMENTS[id],
        verdict(last.accuracy.mean >= LEGIBLE * last.ideal, last.accuracy.mean >= HALF_LEGIBLE * last.ideal),
        last.accuracy.mean,
        last.accuracy.interval,
        "accuracy of the preferred object from its nearest neighbours, N_past = 10 (chance 0.25)",
        f"reproduced: at least {LEGIBLE} of the ideal observer's accuracy; partly {HALF_LEGIBLE}",
        paper=paper,
        ideal=last.ideal,
        detail={str(row.past): row.accuracy.mean for row in rows if row.accuracy},
    )


EXPERIMENT = Experiment(
    name="goal-snapshots",
    title="Inferring goals from snapshots",
    section="3.2",
    figures=("5",),
    claims=("G2", "G3", "G4", "G5", "G6"),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"smoke": "≤ 2", "laptop": "13", "full": "4"},
)
