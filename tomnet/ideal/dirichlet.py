"""The exact observer of random agents (section 3.1): a Dirichlet posterior, or a mixture of them.

An agent of S(alpha) has action probabilities drawn from Dir(alpha), so all there is to know of its past is
how often it took each action. Where the species is unknown, the counts also tell how likely each species
is.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
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
