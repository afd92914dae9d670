"""A history: all that an observer has seen of an agent by the time it is asked."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from ..support.trees import on_device
from .episode import Episode, Snapshot


class History(eqx.Module):
    """Past episodes, or a snapshot of each, which of them are real, and the current episode so far.

    Several histories may share one set of past episodes: `past` then has fewer agents than `past_real`, or one axis
    less (see `Encounter`). Several queries may be about one current episode: `recent` then goes on to the last of them,
    and of each only what came before its own time is seen.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> history = tomnet.History.of(encounters.past)  # all of them seen, and the current episode not begun
    >>> history.past_real.shape, history.recent
    ((4, 1), None)
    """

    past: Episode | Snapshot  # batch axes: *batch past
    past_real: Bool[Array, "*batch past"]  # which of them were seen; the others are padding
    recent: Episode | None = None  # the current episode before the query; None where queries come at the start
    query_times: Int[Array, "*batch query"] | None = None  # in the current episode; None: one query, after `recent`

    @staticmethod
    def of(past: Episode | Snapshot, recent: Episode | None = None) -> "History":
        """All of these past episodes seen; of the current one, all that there is."""
        if recent is not None:
            recent = _so_far(on_device(recent))
        return History(on_device(past), on_device(np.ones(past.walls.shape[:-2], bool)), recent)

    def __len__(self) -> int:
        return self.past_real.shape[0]

    @property
    def shown(self) -> Bool[Array, "*batch past"]:
        """Which past episodes there is a query after, each counted once."""
        *batch, past = self.past.walls.shape[:-2]
        queries = math.prod(self.past_real.shape[:-1]) // max(math.prod(batch), 1)  # of nobody, none
        return jnp.asarray(self.past_real).reshape(*batch, queries, past).any(-2)


@jax.jit
def _so_far(recent: Episode) -> Episode:
    """All that there is of each of these episodes; compiled as a whole, rather than step by step."""
    return jax.vmap(lambda episode: episode.until(episode.length))(recent)
