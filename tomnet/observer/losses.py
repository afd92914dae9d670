"""The losses of appendix B: each averaged over the encounters, equally weighted."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ..episodes.predictions import Predictions
from ..episodes.targets import Targets
from ..support.errors import BadSetting


def losses_each(predictions: Predictions, targets: Targets) -> dict[str, Float[Array, "*batch"]]:
    """The loss of every head for every encounter, in nats."""
    losses = {}
    if predictions.action is not None:
        chosen = jnp.take_along_axis(predictions.action, targets.action[..., None], -1)
        losses["action"] = -chosen[..., 0]
    if predictions.consumption is not None:
        each = optax.sigmoid_binary_cross_entropy(predictions.consumption, targets.consumption)
        losses["consumption"] = each.sum(-1)
    if predictions.successor is not None:
        losses["successor"] = -(targets.successor * predictions.successor).sum((-3, -2, -1))
    if predictions.belief is not None:
        if targets.belief is None:
            raise BadSetting("belief", "None", "these encounters hold no beliefs of the agents to learn from")
        losses["belief"] = -(targets.belief * predictions.belief).sum((-2, -1))
    return losses


def mean_losses(predictions: Predictions, targets: Targets) -> dict[str, Float[Array, ""]]:
    return {name: loss.mean() for name, loss in losses_each(predictions, targets).items()}
