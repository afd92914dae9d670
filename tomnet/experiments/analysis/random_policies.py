"""Observers of random agents beside exact inference about them: the rows of Figs. 2 and 3."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...episodes.encounter import Encounter
from ...ideal import dirichlet
from ...observer.tomnet import ToMnet, observe
from ...support.trees import pick
from ...world.gridworld import ACTIONS
from .decoding import linear_fit, nearest_neighbour_accuracy
from .examples import PlainEpisode, PlainState, plain_snapshot, plain_state
from .statistics import Estimate, bootstrap, mean_interval, share_interval

ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
MIXTURE = (0.01, 3.0)
N_PAST = (0, 1, 5, 10)
FLAT, FLAT_ALPHA = "alpha-1-2d", 1.0  # Fig. 3b shows this species: its agents differ in degree, not only in kind
Met = dict[tuple[float, int], Any]
"""(alpha of the agents, N_past) → an encounter with each of them, after so many snapshots."""


def name_of(alphas: tuple[float, ...]) -> str:
    return "mixture" if alphas == MIXTURE else f"alpha-{alphas[0]:g}"


def predict(observer: ToMnet, encounters: Encounter) -> tuple[np.ndarray, np.ndarray]:
    """Character embeddings and predicted policies."""
    character, predictions = observe(observer, encounters)
    return np.asarray(character), np.exp(np.asarray(predictions.action, np.float64))


def divergence(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """KL(true ‖ predicted) of each row, in nats."""
    return np.where(true > 0, true * (np.log(np.maximum(true, 1e-300)) - np.log(np.maximum(predicted, 1e-12))), 0).sum(
        -1
    )


@dataclasses.dataclass(frozen=True)
class BayesDivergence:
    """KL from the exact predictive to an observer's, on its own species."""

    observer: str
    past: int
    kl: Estimate


@dataclasses.dataclass(frozen=True)
class Likelihood:
    """Fig. 3a: the probability of an action after seeing the agent do that and nothing else."""

    alpha: float
    past: int
    probability: Estimate
    bayes: float


@dataclasses.dataclass(frozen=True)
class CrossSpecies:
    """Figs. 3c and 3d: KL from the true policy to an observer's, which was trained on another species or on the same.

    `bayes`: to exact inference for the species trained on; `excess`: how much more it is to the observer.
    """

    trained: str
    tested: float  # alpha of the agents
    past: int
    kl: Estimate
    bayes: float
    excess: Estimate


@dataclasses.dataclass(frozen=True)
class Embedding:
    """Fig. 3b, and how much of the action counts can be read out of it."""

    observer: str
    alpha: float
    points: Float[np.ndarray, "agent dimension"]
    counts: Float[np.ndarray, "agent action"]
    count_r2: float  # of a linear read-out of all counts
    tied: float  # the share of agents that did two actions equally often
    most_seen: Estimate  # accuracy of the action seen most often, those agents left out


@dataclasses.dataclass(frozen=True)
class Example:
    """Fig. 2: one past episode, one query, and what the observers of two species make of them."""

    past: PlainEpisode
    query: PlainState
    predictions: dict[str, list[float]]  # by observer


def bayes_divergence(observers: dict[str, ToMnet], met: Met) -> list[BayesDivergence]:
    rows = []
    species = {name_of(alphas): alphas for alphas in [*((alpha,) for alpha in ALPHAS), MIXTURE]} | {FLAT: (FLAT_ALPHA,)}
    for name, alphas in species.items():
        for past in N_PAST:
            each = []
            for alpha in alphas:
                encounters = met[alpha, past]
                exact = np.asarray(
                    dirichlet.predictive(dirichlet.action_counts(encounters.past, encounters.past_real), alphas)
                )
                each.append(divergence(exact, predict(observers[name], encounters)[1]))
            rows.append(BayesDivergence(name, past, mean_interval(np.concatenate(each))))
    return rows


def likelihood(observers: dict[str, ToMnet], met: Met) -> list[Likelihood]:
    rows = []
    for alpha in ALPHAS:
        for past in (0, 1, 5):
            encounters = met[alpha, past]
            probabilities = []
            for action in range(len(ACTIONS)):
                always = eqx.tree_at(lambda e: e.past.action, encounters, jnp.full_like(encounters.past.action, action))
                probabilities.append(predict(observers[name_of((alpha,))], always)[1][:, action])
            over_levels = mean_interval(np.mean(probabilities, axis=0))  # in which alone they differ now
            bayes = (alpha + past) / (len(ACTIONS) * alpha + past)
            rows.append(Likelihood(alpha, past, over_levels, bayes))
    return rows


Errors = dict[tuple[str, float], tuple[np.ndarray, np.ndarray]]
"""(observer, alpha of the agents) → KL(true ‖ predicted) of each agent: of that observer, and of exact inference."""


def errors_of(observers: dict[str, ToMnet], populations: dict, met: Met, past: int, trained: list) -> Errors:
    errors = {}
    for alphas in trained:
        for alpha in ALPHAS:
            encounters = met[alpha, past]
            true = np.asarray(populations[alpha].action_probabilities, np.float64)
            counts = dirichlet.action_counts(encounters.past, encounters.past_real)
            learned = divergence(true, predict(observers[name_of(alphas)], encounters)[1])
            exact = divergence(true, np.asarray(dirichlet.predictive(counts, alphas), np.float64))
            errors[name_of(alphas), alpha] = learned, exact
    return errors


def cross_species(errors: Errors, past: int) -> list[CrossSpecies]:
    return [
        CrossSpecies(trained, tested, past, mean_interval(learned), float(exact.mean()), mean_interval(learned - exact))
        for (trained, tested), (learned, exact) in errors.items()
    ]


def specialists(errors: Errors) -> Estimate:
    names = [name_of((alpha,)) for alpha in ALPHAS]
    each = np.stack([np.stack([errors[name, alpha][0] for name in names], -1) for alpha in ALPHAS], 1)

    def own_is_best(each: np.ndarray) -> int:
        return int((each.mean(0).argmin(-1) == np.arange(len(ALPHAS))).sum())

    return bootstrap(own_is_best, each)


def embedding(observers: dict[str, ToMnet], met: Met) -> Embedding:
    encounters = met[FLAT_ALPHA, 10]
    counts = np.asarray(dirichlet.action_counts(encounters.past, encounters.past_real))
    character, _ = predict(observers[FLAT], encounters)
    clear = np.sort(counts, 1)[:, -1] > np.sort(counts, 1)[:, -2]  # with two most-seen actions there is no right answer
    hits = nearest_neighbour_accuracy(character[clear], counts[clear].argmax(1))
    return Embedding(
        observer=FLAT,
        alpha=FLAT_ALPHA,
        points=character[:500],
        counts=counts[:500],
        count_r2=linear_fit(character, counts),
        tied=float(1 - clear.mean()),
        most_seen=share_interval(hits),
    )


def example(observers: dict[str, ToMnet], met: Met) -> Example:
    encounters = pick(met[MIXTURE[0], 1], slice(1))
    predictions = {name_of((a,)): predict(observers[name_of((a,))], encounters)[1][0].tolist() for a in MIXTURE}
    return Example(plain_snapshot(pick(encounters.past, (0, 0))), plain_state(pick(encounters.query, 0)), predictions)
