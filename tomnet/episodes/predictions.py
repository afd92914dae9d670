"""What an observer says of an agent in its query state: as it is learned (logarithms), and as it is read."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Probabilities(eqx.Module):
    """Predictions as probabilities; None where the observer does not predict such a thing.

    >>> even = tomnet.Probabilities(action=jax.numpy.full((1, 5), 0.2), consumption=None, successor=None, belief=None)
    >>> even.action.shape
    (1, 5)
    """

    action: Float[Array, "*batch action"] | None
    consumption: Float[Array, "*batch object"] | None  # eaten before the end, each object by itself
    successor: Float[Array, "*batch gamma row col"] | None  # each map sums to 1
    belief: Float[Array, "*batch object place"] | None  # where the agent would say each object is; last, nowhere


class Predictions(eqx.Module):
    """Predictions as losses take them: log-probabilities, and log-odds of what is eaten.

    `probabilities` turns them into what a person reads.

    >>> zeros = jax.numpy.zeros((1, 4))
    >>> said = tomnet.Predictions(action=None, consumption=zeros, successor=None).probabilities()
    >>> said.consumption.tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """

    action: Float[Array, "*batch action"] | None
    consumption: Float[Array, "*batch object"] | None  # log-odds of eaten or not, each object by itself
    successor: Float[Array, "*batch gamma row col"] | None
    belief: Float[Array, "*batch object place"] | None = None

    def probabilities(self) -> Probabilities:
        return Probabilities(
            action=None if self.action is None else jnp.exp(self.action),
            consumption=None if self.consumption is None else jax.nn.sigmoid(self.consumption),
            successor=None if self.successor is None else jnp.exp(self.successor),
            belief=None if self.belief is None else jnp.exp(self.belief),
        )
