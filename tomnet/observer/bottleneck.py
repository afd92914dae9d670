"""The deep variational information bottleneck (appendix A): embeddings as Gaussian posteriors over them."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, Scalar


class Posterior(eqx.Module):
    """What an observer thinks of an embedding: a point, or with a bottleneck a diagonal Gaussian.

    The prior is the unit Gaussian, and nothing seen gives just that: all zeros.
    """

    mean: Float[Array, "*batch feature"]
    log_variance: Float[Array, "*batch feature"] | None = None

    def draw(self, key: Key[Scalar, ""] | None) -> Float[Array, "*batch feature"]:
        """A sample through which gradients pass; the mean where there is no key or nothing to draw."""
        if self.log_variance is None or key is None:
            return self.mean
        noise = jax.random.normal(key, self.mean.shape, self.mean.dtype)
        return self.mean + jnp.exp(0.5 * self.log_variance) * noise

    def divergence(self) -> Float[Array, "*batch feature"]:
        """KL(posterior ‖ prior) of each dimension, in nats; zero for a point."""
        if self.log_variance is None:
            return jnp.zeros_like(self.mean)
        return 0.5 * (jnp.exp(self.log_variance) + self.mean**2 - 1 - self.log_variance)


def posterior_from(outputs: Float[Array, "*batch output"], bottleneck: bool) -> Posterior:
    """A net's outputs as a posterior: twice as many numbers where there is a bottleneck."""
    if not bottleneck:
        return Posterior(outputs)
    mean, log_variance = jnp.split(outputs, 2, axis=-1)
    return Posterior(mean, log_variance)


def annealed(beta: float, share: float, step: Float[Array, ""] | Array, steps: int) -> Float[Array, ""]:
    """The weight of the bottleneck's cost: from 0 to `beta` on a parabola over the first `share` of the steps."""
    if not share:
        return jnp.asarray(beta)
    risen = jnp.clip(step / max(1.0, share * steps), 0, 1)
    return beta * risen**2
