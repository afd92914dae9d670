"""An encounter: what one training example is, and how encounters with a population are drawn."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key, Scalar

from ..errors import BadSetting
from .episode import Episode, Snapshot, Told
from .observer_view import ObserverView, sees_all
from .targets import Targets, targets_from

Play = Callable[[Array, Any, int], Episode | Told]
"""`(key, one agent, how many) -> that many of its episodes`, on levels of their own."""


class Encounter(eqx.Module):
    """What was seen of an agent before, and a question about its current episode; or several that share the past."""

    past: Episode  # batch axes: *batch past
    past_real: Bool[Array, "*batch past"]  # the others are padding
    recent: Episode | None  # the current episode before the query; None where queries come at the start
    query: Snapshot
    targets: Targets

    def one_by_one(self) -> "Encounter":
        """Where a past has several queries, an axis of their own, they go into the batch: those of a past together."""
        if self.query.agent_cell.ndim < self.past_real.ndim:
            return self
        axis = self.past_real.ndim - 2

        def asked(encounter: Encounter):
            return encounter.recent, encounter.query, encounter.targets

        in_a_row = jax.tree.map(lambda leaf: leaf.reshape(*leaf.shape[:axis], -1, *leaf.shape[axis + 2 :]), asked(self))
        return eqx.tree_at(asked, self, in_a_row, is_leaf=lambda leaf: leaf is None)


class Meeting(eqx.Module):
    """How an observer meets an agent: how much it sees before, and when it is asked."""

    min_past: int = eqx.field(static=True)
    max_past: int = eqx.field(static=True)
    snapshots: bool = eqx.field(static=True, default=False)  # one state/action pair of each past episode
    query_at_start: bool = eqx.field(static=True, default=True)  # else at a time drawn from the whole episode
    view: ObserverView = sees_all

    def __check_init__(self):
        if self.min_past < 0:
            raise BadSetting("N_past", self.min_past, "cannot be negative")
        if self.max_past < self.min_past:
            raise BadSetting("N_past", f"{self.min_past} to {self.max_past}", "the range is empty")

    def check(self, past: int) -> None:
        if not 0 <= past <= self.max_past:
            raise BadSetting("N_past", past, f"this observer met its agents with 0 to {self.max_past} past episodes")


def meet(
    key: Key[Scalar, ""],
    agents: eqx.Module,
    play: Play,
    meeting: Meeting,
    *,
    past: int | None = None,
    reuse: int = 1,
    queries: int = 1,
    times: int = 1,
) -> Encounter:
    """`times * reuse` encounters with each agent of a population (leading axis), each with `past` episodes or a
    random number.

    Each time, every agent plays `max_past + queries` fresh episodes. With `reuse` above 1 they change roles: each
    encounter takes another one as the current episode, which is cheaper than planning new ones. With `queries` above
    1, an encounter asks about that many current episodes after the same past (a further axis): what an observer makes
    of the past need then be computed once.
    """
    if past is not None:
        meeting.check(past)
    if not 1 <= reuse <= meeting.max_past + 1:
        raise BadSetting("reuse", reuse, f"an agent's {meeting.max_past + 1} episodes give as many encounters")
    if queries < 1 or (reuse > 1 and queries > 1):
        raise BadSetting("queries", queries, f"at least 1, and episodes that change roles (reuse={reuse}) have one")

    def once(key, agent) -> Encounter:
        play_key, order_key, *keys = jax.random.split(key, reuse + 2)
        episodes = play(play_key, agent, meeting.max_past + queries)
        order = jax.random.permutation(order_key, meeting.max_past + queries)
        encounters = [
            _one_encounter(keys[i], episodes, jnp.roll(order, i), meeting, past, queries) for i in range(reuse)
        ]
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *encounters)

    def with_one(key, agent) -> Encounter:
        keys = key[None] if times == 1 else jax.random.split(key, times)
        return jax.vmap(once, in_axes=(0, None))(keys, agent)

    count = jax.tree.leaves(agents)[0].shape[0]
    encounters = jax.vmap(with_one)(jax.random.split(key, count), agents)

    def spread(leaf):  # agent-major order would put all encounters with one agent into one batch
        return jnp.moveaxis(leaf, 0, 2).reshape(times * reuse * count, *leaf.shape[3:])

    return jax.tree.map(spread, encounters)


def _one_encounter(
    key: Key[Scalar, ""],
    told: Episode | Told,
    order: Int[Array, "episode"],
    meeting: Meeting,
    past: int | None,
    queries: int,
) -> Encounter:
    count_key, time_key, view_key, query_key, recent_key, snapshot_key = jax.random.split(key, 6)
    episodes = told.episode if isinstance(told, Told) else told
    earlier = jax.tree.map(lambda leaf: leaf[order[queries:]], episodes)
    if meeting.snapshots:
        times = (jax.random.uniform(snapshot_key, (meeting.max_past,)) * earlier.length).astype(jnp.int32)
        earlier = jax.vmap(Episode.at)(earlier, times)
    earlier = jax.vmap(meeting.view)(jax.random.split(view_key, meeting.max_past), earlier)
    count = jax.random.randint(count_key, (), meeting.min_past, meeting.max_past + 1) if past is None else past

    def ask(which, time_key, query_key, recent_key):
        current = jax.tree.map(lambda leaf: leaf[which], episodes)
        beliefs = told.beliefs[which] if isinstance(told, Told) else None
        if meeting.query_at_start:
            time, recent = jnp.int32(0), None
        else:
            time = (jax.random.uniform(time_key) * current.length).astype(jnp.int32)
            recent = meeting.view(recent_key, current.until(time))
        query = meeting.view(query_key, current.at(time)).first_state()
        return recent, query, targets_from(current, time, beliefs)

    keys = (time_key, query_key, recent_key)
    if queries == 1:
        asked = ask(order[0], *keys)
    else:
        asked = jax.vmap(ask)(order[:queries], *(jax.random.split(key, queries) for key in keys))
    return Encounter(earlier, jnp.arange(meeting.max_past) < count, *asked)
