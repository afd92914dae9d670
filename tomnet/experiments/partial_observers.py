"""Beyond the paper: an observer that sees the past badly, which section 2.1 allows for and no experiment has.

    tomnet run partial-observers --preset laptop
    tomnet run partial-observers --preset full     10 min on an H200 beside four other runs

The planners of section 3.2, each seen for one trajectory: steps are missed, actions mistaken for others, or objects
seen only near the agent. The query is seen plainly, so that all that is lost is lost of the past. One observer learns
from trajectories seen in all of these ways; it is not told in which, the ideal observer is.

Goal: curves of what it costs to see worse and worse, ToMnet's beside the ideal observer's.
"""

import dataclasses
import math

import equinox as eqx
import jax
from jaxtyping import Key, Scalar

from ..episodes.encounter import Encounter, EncounterSpec
from ..episodes.episode import Episode
from ..episodes.observer_view import (
    KnownView,
    MissedSteps,
    NearObjectsOnly,
    NoisyActions,
    OfThePast,
    OneOf,
    sees_all,
)
from ..ideal.behind_view import BehindView
from ..ideal.inverse_planning import InversePlanner
from ..observer.tomnet import ToMnet
from ..support.progress import stage
from ..support.streams import EVALUATION_STREAM, stream
from ..world.gridworld import ACTIONS, MAZE
from .analysis.comparison import Observed, learned, without_past
from .analysis.statistics import Estimate, mean_interval, share_interval
from .claims.claim import Claim
from .experiment import ANY_PRESET, Experiment, ObserverSpec, Preset
from .goal_inference import ENCOUNTERS, SPECIES, TRAINING
from .presets import PLANNER_OBSERVER

NAME = "any-view"
EMBEDDING = 8
HEAD = "consumption"  # the object taken
PARTICLES = 256  # an episode is worked through on many levels; four times as many change no loss by 0.002 nats
COMPLETIONS, IF_ALL_MISSED = 120, 16  # who misses all objects by missing all steps learns next to nothing anyway
NOTHING_TOLD = 1 - 1 / len(ACTIONS)  # mistaken so often, an action seen says nothing of the one taken
VIEWS: dict[str, dict[float, KnownView]] = {  # by kind and how badly: from what is nearly all to what is least
    "missed": {p: MissedSteps(p) for p in (0.2, 0.4, 0.6, 0.8, 1.0)},
    "mistaken": {p: NoisyActions(p) for p in (0.2, 0.4, 0.6, NOTHING_TOLD)},
    "near": {float(reach): NearObjectsOnly(reach) for reach in (5, 3, 2, 1)},
}
ANY_VIEW = OneOf((sees_all, *(view for views in VIEWS.values() for view in views.values())))


def specs(preset: Preset) -> tuple[ObserverSpec, ...]:
    observer = dataclasses.replace(PLANNER_OBSERVER[preset], embedding=EMBEDDING)
    encounters: EncounterSpec = dataclasses.replace(ENCOUNTERS, view=OfThePast(ANY_VIEW))
    return (ObserverSpec(NAME, SPECIES, MAZE, encounters, observer, TRAINING[preset], reuse=2),)


@dataclasses.dataclass(frozen=True)
class Score:
    """How well the object taken was predicted, and how many nats worse than by the same observer with all in sight."""

    loss: Estimate
    accuracy: Estimate
    cost: Estimate


@dataclasses.dataclass(frozen=True)
class Scores:
    observer: Score
    ideal: Score


@dataclasses.dataclass(frozen=True)
class Point:
    severity: float  # the probability of a step missed or an action mistaken, or how many cells away objects are seen
    scores: Scores


@dataclasses.dataclass(frozen=True)
class Tables:
    all_seen: Scores
    curves: dict[str, list[Point]]  # by kind of view, worse and worse
    nothing_seen: Score  # of exact inference

    def each(self) -> dict[tuple[str, float], Scores]:
        """All points of all curves, by kind of view and severity."""
        return {(kind, point.severity): point.scores for kind, points in self.curves.items() for point in points}


def evaluate(observers: dict[str, ToMnet], agents: int, seed: int) -> tuple[Tables, list[Claim]]:
    """The same agents, episodes and queries every time; what is missed at one severity is missed at worse ones too."""
    agent_key, encounter_key, ideal_key, view_key = jax.random.split(stream(seed, EVALUATION_STREAM), 4)
    population = SPECIES.sample(agent_key, agents)
    in_plain_sight = dataclasses.replace(specs(ANY_PRESET)[0], encounter_spec=ENCOUNTERS)
    encounters = eqx.filter_jit(in_plain_sight.draw_encounters)(encounter_key, population)
    planner = InversePlanner.for_species(ideal_key, SPECIES, MAZE, particles=PARTICLES)

    def observed(view: KnownView) -> tuple[Observed, Observed]:
        seen = through(view_key, view, encounters)
        _, trained = learned(observers[NAME], seen)
        return trained, exact_behind(ideal_key, planner, view, seen)

    plain = observed(sees_all)

    def scores(view: KnownView) -> Scores:
        return Scores(*map(_score, observed(view), plain))

    tables = Tables(
        all_seen=Scores(*map(_score, plain, plain)),
        curves={
            kind: [Point(severity, scores(view)) for severity, view in views.items()] for kind, views in VIEWS.items()
        },
        nothing_seen=_score(without_past(planner, encounters), plain[1]),
    )
    return tables, []


def through(key: Key[Scalar, ""], view: KnownView, encounters: Encounter) -> Encounter:
    """The same encounters with their past episodes seen so."""
    keys = jax.random.split(key, encounters.past_real.shape)
    past = eqx.filter_jit(jax.vmap(jax.vmap(lambda key, episode: view(key, episode))))(keys, encounters.past)
    return eqx.tree_at(lambda e: e.history.past, encounters, past)


def exact_behind(key: Key[Scalar, ""], planner: InversePlanner, view: KnownView, encounters: Encounter) -> Observed:
    stage(f"exact inference behind a view on {len(encounters.past_real)} encounters")
    assert isinstance(encounters.past, Episode)  # whole ones
    completions = COMPLETIONS if math.isfinite(view.sight()) else IF_ALL_MISSED
    weights = BehindView(planner, view, completions).posterior(key, encounters.past, encounters.past_real)
    return Observed.of(planner.predict(weights, encounters.query), encounters)


def _score(observed: Observed, plain: Observed) -> Score:
    loss = observed.losses[HEAD]
    return Score(mean_interval(loss), share_interval(observed.correct[HEAD]), mean_interval(loss - plain.losses[HEAD]))


EXPERIMENT = Experiment(
    name="partial-observers",
    title="An observer that sees badly",
    section="2.1",
    figures=("S1",),
    claims=(),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"full": "10"},
)
