"""Bayesian inverse planning for recorded agents: whoever this is, it weighs what it likes against the way there.

    p(kind | agent) = (1 − lapse) · softmax((preference[kind] − cost · distance[kind]) / noise) + lapse · even

Preferences, how strong they are and the cost of a step are an agent's own, drawn from a population prior. That prior,
the decision noise and the lapse are fitted by maximum likelihood to the training agents. A particle is an agent that
the prior might hold; past episodes weigh the particles, and predictions average over them.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, ndtri, softmax
from scipy.stats import qmc

from .dataset import Dataset
from .distances import UNREACHABLE
from .observer_protocol import Asked, ask_all
from .steps import StepModel, fit_steps

PARTICLES, FITTED_PARTICLES = 4096, 512
MOST_NUMBERS = 2e7  # episodes × particles × kinds that a likelihood is fitted to
PAST = 5  # episodes before those that haste and detours are fitted to
AT_A_TIME = 256  # episodes, or queries
SPREAD, LAPSE = (-3.0, 1.2), (-6.0, 2.0)  # bounds: no few agents rule out that the next one is different


@dataclass(frozen=True)
class Prior:
    """The population, as it was fitted. Preferences have unit spread, so that the noise is in units of them."""

    preference: Float[np.ndarray, "outcome"]  # the population's own, of nothing too
    strength_spread: float  # of the logarithm of how strong an agent's own preferences are
    cost: float  # of a step, for the median agent
    cost_spread: float  # of the logarithm
    noise: float
    lapse: float

    @staticmethod
    def of(parameters: Float[np.ndarray, "parameter"]) -> "Prior":
        *preference, strength_spread, cost, cost_spread, noise, lapse = np.asarray(parameters, float).tolist()
        spreads = np.exp([strength_spread, cost_spread]).tolist()
        return Prior(
            np.array(preference), spreads[0], np.exp(cost), spreads[1], np.exp(noise), 1 / (1 + np.exp(-lapse))
        )


@dataclass(frozen=True)
class InversePlanner:
    parameters: Float[np.ndarray, "parameter"]
    detour_cost: float  # how much less likely a goal becomes with each step that did not lead there, in nats
    steps: StepModel

    @property
    def prior(self) -> Prior:
        return Prior.of(self.parameters)

    @cached_property
    def _particles(self) -> tuple[np.ndarray, np.ndarray, float]:
        found = particles_of(
            jnp.asarray(self.parameters, jnp.float32), draws(len(self.prior.preference) - 1, PARTICLES)
        )
        preference, cost, lapse = (np.asarray(each) for each in found)
        return preference, cost, float(lapse)

    def outcomes(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked outcome"]:
        weights = self.posterior(data, asked.past)
        found = []
        for first in range(0, len(weights), AT_A_TIME):
            rows = slice(first, first + AT_A_TIME)
            some = asked.part(rows)
            each = self._given_particle(data.distance_before[some.place])
            found.append(np.einsum("nm,nmo->no", weights[rows], each))
        chosen = np.concatenate(found)
        seen = np.exp(-self.detour_cost * data.detour[asked.place])
        chosen[:, :-1] *= seen
        reachable = data.distance[asked.place] != UNREACHABLE
        going_nowhere = seen.max(-1, initial=0.0, where=reachable)
        chosen[:, -1] *= np.where(reachable.any(-1), going_nowhere, 1.0)
        chosen = np.maximum(chosen, 1e-9)
        return chosen / chosen.sum(-1, keepdims=True)

    def actions(self, data: Dataset, asked: Asked) -> Float[np.ndarray, "asked action"]:
        return self.steps.given_outcomes(data, asked, self.outcomes(data, asked))

    def posterior(self, data: Dataset, past: Int[np.ndarray, "asked past"]) -> Float[np.ndarray, "asked particle"]:
        """The probability of each particle; all alike where nothing was seen."""
        needed, place = np.unique(past[past >= 0], return_inverse=True)
        each = np.zeros((len(needed) + 1, PARTICLES), np.float32)  # the last is an episode that was not seen
        for first in range(0, len(needed), AT_A_TIME):
            some = needed[first : first + AT_A_TIME]
            likely = self._given_particle(data.distance[some, 0])
            each[first : first + len(some)] = np.log(likely[np.arange(len(some)), :, data.outcome[some, 0]])
        index = np.full(past.shape, len(needed))
        index[past >= 0] = place
        total = np.zeros((len(past), PARTICLES), np.float32)
        for episode in index.T:
            total += each[episode]
        return softmax(total, axis=1)

    def _given_particle(self, distance: UInt8[np.ndarray, "asked kind"]) -> Float[np.ndarray, "asked particle outcome"]:
        preference, cost, lapse = self._particles
        return np.asarray(_choices(preference, cost, lapse, distance.astype(np.float32), distance != UNREACHABLE))


def draws(kinds: int, count: int) -> Float[Array, "particle dimension"]:
    """Gaussian, and spread more evenly than at random."""
    even = qmc.Sobol(kinds + 2, scramble=False).random_base2(int(np.log2(count)))
    return jnp.asarray(ndtri(even + 0.5 / count), jnp.float32)  # in the middle of their cells, so that none is infinite


def particles_of(parameters: Array, drawn: Float[Array, "particle dimension"]) -> tuple[Array, Array, Array]:
    """Preferences and costs over the noise, and the lapse, of every agent that the prior might hold."""
    preference, (strength, cost, cost_spread, noise, lapse) = parameters[:-5], parameters[-5:]
    own = jnp.exp(jnp.exp(strength) * drawn[:, -2:-1]) * drawn[:, :-2]
    own = jnp.concatenate([own, jnp.zeros((len(drawn), 1))], -1)  # nobody has a taste of their own for nothing
    costs = jnp.exp(cost + jnp.exp(cost_spread) * drawn[:, -1])
    return (preference + own) / jnp.exp(noise), costs / jnp.exp(noise), jax.nn.sigmoid(lapse)


@jax.jit
def _choices(
    preference: Float[Array, "particle outcome"],
    cost: Float[Array, "particle"],
    lapse: Float[Array, ""],
    distance: Float[Array, "episode kind"],
    reachable: Bool[Array, "episode kind"],
) -> Float[Array, "episode particle outcome"]:
    far = jnp.where(reachable, distance, 0)[:, None] * cost[:, None]
    nothing = jnp.zeros((*far.shape[:2], 1))
    value = preference - jnp.concatenate([far, nothing], -1)
    able = jnp.concatenate([reachable, jnp.ones((len(reachable), 1), bool)], -1)[:, None]
    chosen = jax.nn.softmax(jnp.where(able, value, -jnp.inf), axis=-1)
    return (1 - lapse) * chosen + lapse / preference.shape[-1]


@partial(jax.jit, static_argnames="agents")
def _loss(parameters, drawn, distance, reachable, outcome, agent, agents: int) -> Float[Array, ""]:
    """Minus the log-likelihood of the training agents, each a mixture over particles, for each episode."""
    chosen = _choices(*particles_of(parameters, drawn), distance, reachable)
    likely = jnp.log(jnp.take_along_axis(chosen, outcome[:, None, None], -1)[..., 0])
    whole = jax.ops.segment_sum(likely, agent, agents)
    evidence = jax.nn.logsumexp(whole, axis=1) - jnp.log(len(drawn))
    wide = (parameters**2).sum() / 200  # a prior that only matters where the data say nothing
    return (wide - evidence.sum()) / len(outcome)


def fit_inverse_planner(data: Dataset, train: Bool[np.ndarray, "episode"]) -> InversePlanner:
    kinds = len(data.schema.kinds)
    chosen = _subset(data, train, int(MOST_NUMBERS / FITTED_PARTICLES / (kinds + 1)))
    distance, outcome = data.distance[chosen, 0], data.outcome[chosen, 0]
    agents, agent = np.unique(data.agent[chosen], return_inverse=True)
    facts = (distance.astype(np.float32), distance != UNREACHABLE, outcome, agent)
    gradient = jax.jit(jax.value_and_grad(partial(_loss, agents=len(agents))))
    drawn = draws(kinds, FITTED_PARTICLES)

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = gradient(jnp.asarray(parameters, jnp.float32), drawn, *facts)
        return float(value), np.asarray(slope, float)

    start = np.concatenate([np.zeros(kinds), [-2.0], [-1.0, -1.0, -1.0, -1.0, -3.0]])
    bounds = [(-20.0, 20.0)] * (kinds + 1) + [SPREAD, (-7.0, 3.0), SPREAD, (-3.0, 3.0), LAPSE]
    parameters = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60}).x
    later = ask_all(data, train, PAST, queries=range(1, data.times.shape[1]))
    later = later.part(np.random.default_rng(0).permutation(len(later.episode))[: 4 * AT_A_TIME])
    steps = fit_steps(data, later)
    planner = InversePlanner(parameters, 1.0, steps)
    return InversePlanner(parameters, _detour_cost(planner, data, later), steps)


def _detour_cost(planner: InversePlanner, data: Dataset, asked: Asked) -> float:
    """By maximum likelihood, given what each agent did in earlier episodes."""
    before = InversePlanner(planner.parameters, 0.0, planner.steps).outcomes(data, asked)
    detour = np.concatenate([data.detour[asked.place], np.zeros((len(before), 1))], -1)
    happened = data.outcome[asked.place][:, None]

    def loss(cost: float) -> float:
        logs = log_softmax(np.log(before) - cost * detour, axis=1)
        return float(-np.take_along_axis(logs, happened, 1).mean())

    best: Any = minimize_scalar(loss, bounds=(0.0, 5.0), method="bounded")
    return float(best.x)


def _subset(data: Dataset, train: np.ndarray, most: int) -> np.ndarray:
    """Whole agents, as many as there is room for; of a single one that is too long, its first episodes."""
    own = [each[train[each]] for each in data.sequences]
    own = [own[number] for number in np.random.default_rng(0).permutation(len(own)) if len(own[number])]
    count = np.cumsum([len(each) for each in own])
    return np.concatenate(own[: max(int((count <= most).sum()), 1)])[:most]
