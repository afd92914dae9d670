"""An encounter: what one training example is, and how encounters with a population are drawn."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key, Scalar

from ..support.errors import BadSetting
from ..support.trees import pick, stack
from .episode import Episode, EpisodeWithBeliefs, Snapshot
from .history import History
from .observer_view import ObserverView, sees_all
from .targets import Targets, targets_from

Play = Callable[[Array, Any, int], Episode | EpisodeWithBeliefs]
"""`(key, one agent, how many) -> that many of its episodes`, on levels of their own."""


class Encounter(eqx.Module):
    """What was seen of an agent before, and a query about its current episode.

    Several queries may share one set of past episodes, each with another selection of them. They then have an axis of
    their own after those of the batch, or, `one_by_one`, come one after the other in a batch that is longer.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> encounters.targets.action.shape, encounters.targets.successor.shape  # what the agents then did
    ((4,), (4, 3, 11, 11))
    """

    history: History
    query: Snapshot
    targets: Targets

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
        """The axis of queries merged into the batch; those that share past episodes stay together."""
        axis = self.past.length.ndim - 2
        if self.query.agent_cell.ndim == axis + 1:
            return self
        return self._asked(lambda leaf: leaf.reshape(*leaf.shape[:axis], -1, *leaf.shape[axis + 2 :]))

    def by_agent(self) -> "Encounter":
        """`one_by_one` undone, for a single batch: queries have an axis of their own again."""
        groups = self.past.length.shape[0]
        return self._asked(lambda leaf: leaf.reshape(groups, -1, *leaf.shape[1:]))

    def _asked(self, change: Callable[[Array], Array]) -> "Encounter":
        """With all that belongs to the queries changed."""

        def asked(encounter: Encounter):
            return encounter.past_real, encounter.recent, encounter.query, encounter.targets

        return eqx.tree_at(asked, self, jax.tree.map(change, asked(self)), is_leaf=lambda leaf: leaf is None)


class EncounterSpec(eqx.Module):
    """How an observer meets an agent: how much it sees before, and when it is asked.

    >>> spec = tomnet.EncounterSpec(min_past=0, max_past=5, query_at_start=False)
    >>> spec.snapshots
    False
    """

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


def draw_encounters(
    key: Key[Scalar, ""],
    agents: eqx.Module,
    play: Play,
    encounter_spec: EncounterSpec,
    *,
    past: int | None = None,
    reuse: int = 1,
    queries: int = 1,
    times: int = 1,
) -> Encounter:
    """`times * reuse` encounters with each agent of a population (leading axis), each with `past` episodes or a
    random number.

    Each time, every agent plays `max_past + 1` fresh episodes. With `reuse` above 1 they change roles: each encounter
    takes another one as the current episode, which is cheaper than planning new ones. With `queries` above 1 they do so
    within an encounter (a further axis): what an observer makes of an episode need then be computed only once.
    """
    if past is not None:
        encounter_spec.check(past)
    if not 1 <= reuse <= encounter_spec.max_past + 1:
        raise BadSetting("reuse", reuse, f"an agent's {encounter_spec.max_past + 1} episodes give as many encounters")
    if not 1 <= queries <= encounter_spec.max_past + 1 or (reuse > 1 and queries > 1):
        raise BadSetting(
            "queries",
            queries,
            f"of an agent's {encounter_spec.max_past + 1} episodes; and one where reuse = {reuse} is above 1",
        )

    def once(key, agent) -> Encounter:
        play_key, order_key, *keys = jax.random.split(key, reuse + 2)
        episodes = play(play_key, agent, encounter_spec.max_past + 1)
        if queries > 1:
            return pick(_shared_encounter(keys[0], episodes, encounter_spec, past, queries), None)
        order = jax.random.permutation(order_key, encounter_spec.max_past + 1)
        encounters = [_one_encounter(keys[i], episodes, jnp.roll(order, i), encounter_spec, past) for i in range(reuse)]
        return stack(encounters)

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
    told: Episode | EpisodeWithBeliefs,
    order: Int[Array, "episode"],
    encounter_spec: EncounterSpec,
    past: int | None,
) -> Encounter:
    count_key, time_key, view_key, query_key, recent_key, snapshot_key = jax.random.split(key, 6)
    earlier = _seen(
        (snapshot_key, view_key), jax.tree.map(lambda leaf: leaf[order[1:]], _episodes(told)), encounter_spec
    )
    seen = jnp.arange(encounter_spec.max_past) < _count(count_key, encounter_spec, past)
    recent, query, targets = _ask((time_key, query_key, recent_key), told, order[0], encounter_spec)
    return Encounter(History(earlier, seen, recent), query, targets)


def _shared_encounter(
    key: Key[Scalar, ""],
    told: Episode | EpisodeWithBeliefs,
    encounter_spec: EncounterSpec,
    past: int | None,
    queries: int,
) -> Encounter:
    """Each of the first episodes is asked about, after some of the others."""
    count_key, time_key, view_key, query_key, recent_key, snapshot_key = jax.random.split(key, 6)
    current, other = jnp.arange(queries)[:, None], jnp.arange(encounter_spec.max_past + 1)
    place = other - (other > current)  # of an episode among those before the current one
    counts = jax.vmap(lambda key: _count(key, encounter_spec, past))(jax.random.split(count_key, queries))
    keys = tuple(jax.random.split(key, queries) for key in (time_key, query_key, recent_key))
    recent, query, targets = jax.vmap(lambda keys, which: _ask(keys, told, which, encounter_spec))(keys, current[:, 0])
    earlier = _seen((snapshot_key, view_key), _episodes(told), encounter_spec)
    return Encounter(History(earlier, (other != current) & (place < counts[:, None]), recent), query, targets)


def _episodes(told: Episode | EpisodeWithBeliefs) -> Episode:
    return told.episode if isinstance(told, EpisodeWithBeliefs) else told


def _count(key: Key[Scalar, ""], encounter_spec: EncounterSpec, past: int | None) -> Int[Array, ""]:
    return (
        jax.random.randint(key, (), encounter_spec.min_past, encounter_spec.max_past + 1)
        if past is None
        else jnp.int32(past)
    )


def _seen(keys: tuple[Array, Array], episodes: Episode, encounter_spec: EncounterSpec) -> Episode:
    """Past episodes as an observer sees them."""
    snapshot_key, view_key = keys
    count = episodes.length.shape[0]
    if encounter_spec.snapshots:
        times = (jax.random.uniform(snapshot_key, (count,)) * episodes.length).astype(jnp.int32)
        episodes = jax.vmap(Episode.at)(episodes, times)
    return jax.vmap(encounter_spec.view)(jax.random.split(view_key, count), episodes)


def _ask(
    keys: tuple[Array, Array, Array],
    told: Episode | EpisodeWithBeliefs,
    which: Int[Array, ""],
    encounter_spec: EncounterSpec,
) -> tuple[Episode | None, Snapshot, Targets]:
    """A query about one of the episodes: what came before it, the state asked about, and the answers."""
    time_key, query_key, recent_key = keys
    current = pick(_episodes(told), which)
    beliefs = told.beliefs[which] if isinstance(told, EpisodeWithBeliefs) else None
    if encounter_spec.query_at_start:
        time, recent = jnp.int32(0), None
    else:
        time = (jax.random.uniform(time_key) * current.length).astype(jnp.int32)
        recent = encounter_spec.view(recent_key, current.until(time))
    query = encounter_spec.view(query_key, current.at(time)).first_state()
    return recent, query, targets_from(current, time, beliefs)
