"""An encounter: what one training example is, and what of an agent an observer gets to see in one."""

from collections.abc import Callable

import equinox as eqx
import jax
from jaxtyping import Array, Float

from ..support.errors import BadSetting
from .episode import QueryState
from .history import History
from .observer_view import ObserverView, OfThePast, sees_all
from .targets import Targets


class Encounter(eqx.Module):
    """What was seen of an agent before, and what is asked about its current episode: one query, or several.

    Several current episodes may share one set of past episodes, each with another selection of them. They then have an
    axis of their own after those of the batch, and several queries about each have one after that. Or, `one_by_one`,
    they come one after the other in a batch that is longer.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> encounters.targets.action.shape, encounters.targets.successor.shape  # what the agents then did
    ((4,), (4, 3, 11, 11))
    """

    history: History
    query: QueryState
    targets: Targets
    weight: Float[Array, "*batch"] | None = None  # how much each query counts in training; None: all alike

    # The history's own fields. Their types stand there; here, plain arrays and placeholders come through as well.

    @property
    def past(self):
        return self.history.past

    @property
    def past_real(self):
        return self.history.past_real

    @property
    def recent(self):
        return self.history.recent

    def one_by_one(self) -> "Encounter":
        """The axes of current episodes and of queries merged into the batch; what shares episodes stays together."""
        agents, histories, queries = self.past.walls.ndim - 3, self.past_real.ndim - 1, self.query.agent_cell.ndim
        if queries == agents:
            return self

        def merged(axes: int):
            return lambda leaf: leaf.reshape(*leaf.shape[: agents - 1], -1, *leaf.shape[axes:])

        return self._changed(merged(histories), merged(queries))

    def by_agent(self) -> "Encounter":
        """`one_by_one` undone, for a single batch with one query about each current episode: these have an axis of
        their own again."""
        groups = self.past.walls.shape[0]

        def split(leaf):
            return leaf.reshape(groups, -1, *leaf.shape[1:])

        return self._changed(split, split)

    def _changed(self, history: Callable[[Array], Array], query: Callable[[Array], Array]) -> "Encounter":
        """With all that belongs to each history, and to each query, changed; the past they share is left."""

        def seen(encounter: Encounter):
            return encounter.past_real, encounter.recent, encounter.history.query_times

        def asked(encounter: Encounter):
            return encounter.query, encounter.targets, encounter.weight

        changed = self
        for parts, change in ((seen, history), (asked, query)):
            new = jax.tree.map(change, parts(self))
            changed = eqx.tree_at(parts, changed, new, is_leaf=lambda leaf: leaf is None)
        return changed


class EncounterSpec(eqx.Module):
    """How an observer meets an agent: how much it sees before, and when it is asked.

    >>> spec = tomnet.EncounterSpec(min_past=0, max_past=5, query_at_start=False)
    >>> spec.snapshots
    False
    """

    min_past: int = eqx.field(static=True)
    max_past: int = eqx.field(static=True)
    snapshots: bool = eqx.field(static=True, default=False)  # of each past episode one state/action pair, a Snapshot
    query_at_start: bool = eqx.field(static=True, default=True)  # else at a time drawn from the whole episode
    view: ObserverView = sees_all

    def __check_init__(self):
        if self.min_past < 0:
            raise BadSetting("N_past", self.min_past, "cannot be negative")
        if self.max_past < self.min_past:
            raise BadSetting("N_past", f"{self.min_past} to {self.max_past}", "the range is empty")

    @property
    def current_view(self) -> ObserverView:
        """How the current episode and the query are seen: as past episodes are, unless the view is of these alone."""
        return sees_all if isinstance(self.view, OfThePast) else self.view

    def check(self, past: int) -> None:
        if not 0 <= past <= self.max_past:
            raise BadSetting("N_past", past, f"this observer met its agents with 0 to {self.max_past} past episodes")
