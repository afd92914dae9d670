"""The losses of appendix B: each averaged over the queries, the heads equally weighted."""

from typing import Literal

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ..episodes.predictions import Predictions
from ..episodes.targets import Targets
from ..support.errors import BadSetting

Reduction = Literal["sum", "mean"]


def losses_each(
    predictions: Predictions, targets: Targets, reduction: Reduction = "sum"
) -> dict[str, Float[Array, "*batch"]]:
    """The loss of every head for every query, in nats: over objects and over discounts, their sum or their mean."""
    reduce = jnp.sum if reduction == "sum" else jnp.mean
    losses = {}
    if predictions.action is not None:
        chosen = jnp.take_along_axis(predictions.action, targets.action[..., None], -1)
        losses["action"] = -chosen[..., 0]
    if predictions.consumption is not None:
        each = optax.sigmoid_binary_cross_entropy(predictions.consumption, targets.consumption)
        losses["consumption"] = reduce(each, -1)
    if predictions.successor is not None:
        each = -(targets.successor * predictions.successor).sum((-2, -1))
        losses["successor"] = reduce(each, -1)
    if predictions.belief is not None:
        if targets.belief is None:
            raise BadSetting("belief", "None", "these encounters hold no beliefs of the agents to learn from")
        each = -(targets.belief * predictions.belief).sum(-1)
        losses["belief"] = reduce(each, -1)
    return losses


def mean_losses(
    predictions: Predictions,
    targets: Targets,
    weight: Float[Array, "*batch"] | None = None,
    reduction: Reduction = "sum",
) -> dict[str, Float[Array, ""]]:
    """Over all queries, each counted with its weight; weights are 1 on average."""
    counts = 1.0 if weight is None else weight
    return {name: (counts * loss).mean() for name, loss in losses_each(predictions, targets, reduction).items()}
