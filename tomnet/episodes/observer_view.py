"""What the observer sees of a trajectory: everything by default, less or with noise on demand (section 2.1).

A view is a function `(key, episode) -> episode` of one episode, with fields and a word, `kind`, that it is known by
later. It belongs to the observer, not to the world.
"""

import math
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key, Scalar

from ..support.errors import BadSetting
from .episode import ACTION_COUNT, NONE, Episode

ObserverView = Callable[[Array, Episode], Episode]


class KnownView(eqx.Module):
    """A view that says how badly it sees, so that who looks through it can allow for that."""

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        raise NotImplementedError

    def sight(self) -> int | float:
        """Rows and cols from the agent to the farthest object that is seen."""
        return math.inf

    def mistaken(self) -> float:
        """How often an action is taken for another."""
        return 0.0


class SeesAll(KnownView):
    """The identity, as in all of the paper's experiments."""

    kind: ClassVar[str] = "all"

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        return episode


sees_all = SeesAll()


class NoisyActions(KnownView):
    """Now and then the observer takes an action for another one, drawn at random."""

    kind: ClassVar[str] = "noisy actions"
    probability: float

    def __check_init__(self):
        if not 0 <= self.probability <= 1:
            raise BadSetting("NoisyActions.probability", self.probability, "must lie between 0 and 1")

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        when_key, what_key = jax.random.split(key)
        mistaken = jax.random.bernoulli(when_key, self.probability, episode.actions.shape) & episode.real
        further = jax.random.randint(what_key, episode.actions.shape, 1, ACTION_COUNT, episode.actions.dtype)
        another = (episode.actions + further) % ACTION_COUNT
        return eqx.tree_at(lambda e: e.actions, episode, jnp.where(mistaken, another, episode.actions))

    def mistaken(self) -> float:
        return self.probability


class MissedSteps(KnownView):
    """Now and then the observer looks away. Of such a step it sees neither the state nor the action, only that time
    passed; walls, which do not change, it knows all the same."""

    kind: ClassVar[str] = "missed steps"
    probability: float

    def __check_init__(self):
        if not 0 <= self.probability <= 1:
            raise BadSetting("MissedSteps.probability", self.probability, "must lie between 0 and 1")

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        missed = jax.random.bernoulli(key, self.probability, episode.actions.shape)

        def hide(leaf, missed):
            return jnp.where(missed.reshape(missed.shape + (1,) * (leaf.ndim - missed.ndim)), NONE, leaf)

        def by_step(e: Episode):
            return e.agent_cells, e.object_cells, e.actions, e.consumed

        seen = eqx.tree_at(by_step, episode, [hide(leaf, missed) for leaf in by_step(episode)])
        return eqx.tree_at(lambda e: e.final_cell, seen, hide(episode.final_cell, missed[episode.length - 1]))


class NearObjectsOnly(KnownView):
    """The observer follows the agent and sees only the objects within `reach` rows and cols of it."""

    kind: ClassVar[str] = "near objects only"
    reach: int

    def __check_init__(self):
        if self.reach < 0:
            raise BadSetting("NearObjectsOnly.reach", self.reach, "cannot be negative")

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        size, agents = episode.size, episode.agent_cells[:, None]
        rows = jnp.abs(episode.object_cells // size - agents // size)
        cols = jnp.abs(episode.object_cells % size - agents % size)
        seen = jnp.where((rows <= self.reach) & (cols <= self.reach), episode.object_cells, NONE)
        return eqx.tree_at(lambda e: e.object_cells, episode, seen)

    def sight(self) -> int:
        return self.reach


class OneOf(eqx.Module):
    """Each episode is seen in one of these ways, drawn anew: who learns so learns to see badly, in every way."""

    kind: ClassVar[str] = "one of several"
    views: tuple[ObserverView, ...]

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        which_key, view_key = jax.random.split(key)
        which = jax.random.randint(which_key, (), 0, len(self.views))
        return jax.lax.switch(which, self.views, view_key, episode)


class OfThePast(eqx.Module):
    """Past episodes are seen so; the current one, and the state that is asked about, plainly."""

    kind: ClassVar[str] = "of the past"
    view: ObserverView

    def __call__(self, key: Key[Scalar, ""], episode: Episode) -> Episode:
        return self.view(key, episode)
