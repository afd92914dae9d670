"""Random agents (section 3.1): the same action probabilities everywhere, drawn from Dir(alpha)."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, Scalar

from ..support.errors import BadSetting
from ..world.gridworld import ACTIONS, Outcome, State, World
from .species import Species


class RandomAgent(eqx.Module):
    action_probabilities: Float[Array, "*population action"]

    def ready(self) -> "RandomAgent":
        return self

    def start(self, state: State, world: World) -> None:
        return None

    def policy(self, memory: None, state: State, last: Outcome, world: World) -> tuple[Float[Array, "action"], None]:
        return self.action_probabilities, None


class RandomSpecies(Species):
    """S(alpha), or with several alphas their equal mixture. Low alpha: near-deterministic agents.

    >>> agents = tomnet.RandomSpecies((0.01, 3.0)).sample(jax.random.key(0), 4)  # one stacked PyTree
    >>> agents.action_probabilities.shape
    (4, 5)
    """

    kind: ClassVar[str] = "random"
    alphas: tuple[float, ...]

    def __check_init__(self):
        if not self.alphas:
            raise BadSetting("alphas", "()", "a species needs a concentration")
        for alpha in self.alphas:
            if not 0 < alpha < float("inf"):
                raise BadSetting("alpha", alpha, "a Dirichlet's concentration must be above 0")

    def words(self) -> str:
        return "random agents, their policies drawn from " + " or ".join(f"Dir({alpha:g})" for alpha in self.alphas)

    def ready(self) -> "RandomSpecies":
        return jax.tree.map(jnp.asarray, self)

    def anyone(self) -> "RandomSpecies":
        return RandomSpecies((1.0,))  # so that one compiled program serves the species of all alphas

    def sample(self, key: Key[Scalar, ""], count: int) -> RandomAgent:
        which_key, draw_key = jax.random.split(key)
        alphas = jnp.asarray(self.alphas)[jax.random.randint(which_key, (count,), 0, len(self.alphas))]
        concentration = jnp.broadcast_to(alphas[:, None], (count, len(ACTIONS)))
        return RandomAgent(jax.random.dirichlet(draw_key, concentration))
