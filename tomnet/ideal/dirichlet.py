"""The exact observer of random agents (section 3.1): a Dirichlet posterior, or a mixture of them.

An agent of S(alpha) has action probabilities drawn from Dir(alpha), so all there is to know of its past is
how often it took each action. Where the species is unknown, the counts also tell how likely each species
is.
"""

from collections.abc import Sequence
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln, rel_entr, xlogy
from jaxtyping import Array, Bool, Float

from ..episodes.episode import Snapshot
from ..world.gridworld import ACTIONS

Alphas = Sequence[float]
"""One concentration for each species of an equal mixture; a single one for a single species."""


def action_counts(past: Snapshot, past_real: Bool[Array, "*batch past"]) -> Float[Array, "*batch action"]:
    """How often each action was seen, over every real snapshot."""
    taken = jax.nn.one_hot(past.action, len(ACTIONS)) * past_real[..., None]
    return taken.sum(-2)


def log_evidence(counts: Float[Array, "*batch action"], alphas: Alphas) -> Float[Array, "*batch species"]:
    """The log-probability of a sequence of actions with these counts, for an agent of each species."""
    alpha = jnp.asarray(alphas, jnp.float32)
    actions, total = counts.shape[-1], counts.sum(-1)[..., None]
    each = gammaln(alpha[:, None] + counts[..., None, :]) - gammaln(alpha)[:, None]
    return each.sum(-1) + gammaln(actions * alpha) - gammaln(actions * alpha + total)


def species_posterior(counts: Float[Array, "*batch action"], alphas: Alphas) -> Float[Array, "*batch species"]:
    """The probability of each species of the mixture, equal before anything is seen."""
    return jax.nn.softmax(log_evidence(counts, alphas), -1)


def predictive(counts: Float[Array, "*batch action"], alphas: Alphas) -> Float[Array, "*batch action"]:
    """The probability of each action next. For a single species: (alpha + n_a) / (5 alpha + N)."""
    alpha = jnp.asarray(alphas, jnp.float32)[:, None]
    pseudo_counts = alpha + counts[..., None, :]
    of_species = pseudo_counts / pseudo_counts.sum(-1, keepdims=True)
    return (species_posterior(counts, alphas)[..., None] * of_species).sum(-2)


def divergence_each(
    true_policies: Float[Array, "*batch action"], counts: Float[Array, "*batch action"], alphas: Alphas
) -> Float[Array, "*batch"]:
    """KL(true policy ‖ predictive) of each agent, in nats."""
    return rel_entr(true_policies, predictive(counts, alphas)).sum(-1)


def expected_divergence(
    true_policies: Float[Array, "*batch action"], counts: Float[Array, "*batch action"], alphas: Alphas
) -> Float[Array, ""]:
    """The mean of `divergence_each`. On the agents that a network is tested on, both have the same luck."""
    return divergence_each(true_policies, counts, alphas).mean()


def exact_divergence(true_alphas: Alphas, alphas: Alphas, observations: int) -> Float[Array, ""]:
    """E KL(true policy ‖ predictive) over all agents of the true species and all they may do: Fig. 3c and 3d.

    Summed over every vector of counts, so meant for few observations: 10 of them give 1001 vectors.
    """
    counts, log_orders = _all_counts(observations)
    divergence = jnp.float32(0)
    for true_alpha in true_alphas:
        probability = jnp.exp(log_orders + log_evidence(counts, (true_alpha,))[:, 0])
        cross_entropy = -xlogy(predictive(counts, (true_alpha,)), predictive(counts, alphas)).sum(-1)
        divergence += (probability * cross_entropy).sum() - expected_entropy(true_alpha)
    return divergence / len(true_alphas)


def expected_entropy(alpha: float, actions: int = len(ACTIONS)) -> Float[Array, ""]:
    """The mean entropy of the policies of S(alpha), in nats."""
    return digamma(actions * alpha + 1.0) - digamma(jnp.float32(alpha + 1.0))


def _all_counts(observations: int) -> tuple[Float[Array, "vector action"], Float[Array, "vector"]]:
    """Every vector of action counts with this sum, and the log of how many sequences give it."""
    bars = np.array(list(combinations(range(observations + len(ACTIONS) - 1), len(ACTIONS) - 1)), np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, observations + len(ACTIONS) - 1)))
    counts = jnp.asarray(np.diff(edges) - 1, jnp.float32)
    return counts, gammaln(observations + 1.0) - gammaln(counts + 1).sum(-1)
