"""How encounters with a population are drawn: what an agent plays, what of it is past, which times are asked about."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, Scalar

from ..support.errors import BadSetting
from ..support.mesh import spread
from ..support.trees import pick, stack
from .encounter import Encounter, EncounterSpec
from .episode import Episode, EpisodeWithBeliefs, QueryState, Snapshot
from .history import History
from .targets import Targets, targets_from

Play = Callable[[Array, Any, int], Episode | EpisodeWithBeliefs]
"""`(key, one agent, how many) -> that many of its episodes`, on levels of their own."""

Weigh = Callable[[Episode, Int[Array, ""]], Float[Array, ""]]
"""`(episode, time) -> how much a query at that time counts`, where such episodes are drawn too often or too seldom."""


class Oversampled(NamedTuple):
    """Current episodes played apart from the past ones, in which something rare happens more often than it does."""

    play: Play
    weigh: Weigh


def draw_encounters(
    key: Key[Scalar, ""],
    agents: eqx.Module,
    play: Play,
    encounter_spec: EncounterSpec,
    *,
    past: int | None = None,
    reuse: int = 1,
    currents: int = 1,
    queries: int = 1,
    oversampled: Oversampled | None = None,
    times: int = 1,
) -> Encounter:
    """`times * reuse` encounters with each agent of a population (leading axis), each with `past` episodes or a
    random number.

    Each time, every agent plays `max_past + 1` fresh episodes. With `reuse` above 1 they change roles: each encounter
    takes another one as the current episode, which is cheaper than planning new ones. With `currents` above 1 they do
    so within an encounter (a further axis): what an observer makes of an episode need then be computed only once. Of
    each current episode, `queries` are asked (one more axis), each at a time of its own. Where current episodes are
    `oversampled`, no episode changes roles: the past ones are played apart.
    """
    _check(encounter_spec, past, reuse, currents, queries, oversampled)
    episodes = encounter_spec.max_past + 1
    shared = currents > 1 or queries > 1 or oversampled is not None

    def once(key, agent) -> Encounter:
        play_key, order_key, *keys = jax.random.split(key, reuse + 2)
        if oversampled is None:
            told = play(play_key, agent, episodes)
            current, own = pick(told, slice(currents)), jnp.arange(currents)
        else:
            current_key = order_key  # these are not put in any order
            told, current = play(play_key, agent, episodes - 1), oversampled.play(current_key, agent, currents)
            own = jnp.full(currents, episodes)  # none of them is among the past ones
        if shared:
            met = _shared_encounter(keys[0], told, current, own, encounter_spec, past, queries, oversampled)
            return pick(met, None)
        order = jax.random.permutation(order_key, episodes)
        encounters = [_one_encounter(keys[i], told, jnp.roll(order, i), encounter_spec, past) for i in range(reuse)]
        return stack(encounters)

    def with_one(key, agent) -> Encounter:
        keys = key[None] if times == 1 else jax.random.split(key, times)
        return jax.vmap(once, in_axes=(0, None))(keys, agent)

    count = jax.tree.leaves(agents)[0].shape[0]
    keys, agents = spread((jax.random.split(key, count), agents))
    encounters = spread(jax.vmap(with_one)(keys, agents))  # on a mesh, an agent plays all its episodes on one device

    def shuffle(leaf):  # agent-major order would put all encounters with one agent into one batch
        return jnp.moveaxis(leaf, 0, 2).reshape(times * reuse * count, *leaf.shape[3:])

    return jax.tree.map(shuffle, encounters)


def _check(
    encounter_spec: EncounterSpec,
    past: int | None,
    reuse: int,
    currents: int,
    queries: int,
    oversampled: Oversampled | None,
) -> None:
    if past is not None:
        encounter_spec.check(past)
    episodes = encounter_spec.max_past + 1
    if not 1 <= reuse <= episodes:
        raise BadSetting("reuse", reuse, f"an agent's {episodes} episodes give as many encounters")
    if reuse > 1 and (currents > 1 or queries > 1 or oversampled is not None):
        raise BadSetting("reuse", reuse, "must be 1 where current episodes share a past or queries an episode")
    if currents < 1 or (oversampled is None and currents > episodes):
        raise BadSetting("currents", currents, f"of an agent's {episodes} episodes, at least one is current")
    if queries < 1 or (queries > 1 and encounter_spec.query_at_start):
        raise BadSetting("queries", queries, "one at the start of an episode, or several at any time of it")


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
    recent, _, query, targets, _ = _ask((time_key, query_key, recent_key), pick(told, order[0]), encounter_spec)
    return Encounter(History(earlier, seen, recent), query, targets)


def _shared_encounter(
    key: Key[Scalar, ""],
    told: Episode | EpisodeWithBeliefs,
    current: Episode | EpisodeWithBeliefs,
    own: Int[Array, "current"],
    encounter_spec: EncounterSpec,
    past: int | None,
    queries: int,
    oversampled: Oversampled | None,
) -> Encounter:
    """Each of the current episodes is asked about, after some of those told; not after its own place among them."""
    count_key, time_key, view_key, query_key, recent_key, snapshot_key = jax.random.split(key, 6)
    currents = len(own)
    counts = jax.vmap(lambda key: _count(key, encounter_spec, past))(jax.random.split(count_key, currents))
    keys = tuple(jax.random.split(key, currents) for key in (time_key, query_key, recent_key))
    ask = jax.vmap(lambda keys, told: _ask(keys, told, encounter_spec, queries, oversampled))
    recent, query_times, query, targets, weight = ask(keys, current)
    earlier = _seen((snapshot_key, view_key), _episodes(told), encounter_spec)
    other, own = jnp.arange(earlier.walls.shape[0]), own[:, None]
    place = other - (other > own)  # of an episode among those before the current one
    history = History(earlier, (other != own) & (place < counts[:, None]), recent, query_times)
    return Encounter(history, query, targets, weight)


def _episodes(told: Episode | EpisodeWithBeliefs) -> Episode:
    return told.episode if isinstance(told, EpisodeWithBeliefs) else told


def _count(key: Key[Scalar, ""], encounter_spec: EncounterSpec, past: int | None) -> Int[Array, ""]:
    return (
        jax.random.randint(key, (), encounter_spec.min_past, encounter_spec.max_past + 1)
        if past is None
        else jnp.int32(past)
    )


def _seen(keys: tuple[Array, Array], episodes: Episode, encounter_spec: EncounterSpec) -> Episode | Snapshot:
    """Past episodes as an observer sees them."""
    snapshot_key, view_key = keys
    count = episodes.length.shape[0]
    if encounter_spec.snapshots:
        times = (jax.random.uniform(snapshot_key, (count,)) * episodes.length).astype(jnp.int32)
        episodes = jax.vmap(Episode.at)(episodes, times)
    seen = jax.vmap(encounter_spec.view)(jax.random.split(view_key, count), episodes)
    return seen.first_pair() if encounter_spec.snapshots else seen


def _ask(
    keys: tuple[Array, Array, Array],
    told: Episode | EpisodeWithBeliefs,
    encounter_spec: EncounterSpec,
    queries: int = 1,
    oversampled: Oversampled | None = None,
) -> tuple[Episode | None, Int[Array, "query"] | None, QueryState, Targets, Array | None]:
    """Queries about one episode: what came before the last of them and the times, where there are several; the states
    asked about, the answers, and how much each counts."""
    time_key, query_key, recent_key = keys
    current, beliefs = _episodes(told), told.beliefs if isinstance(told, EpisodeWithBeliefs) else None
    if encounter_spec.query_at_start:
        query_times, recent = jnp.zeros(1, jnp.int32), None
    else:
        query_times = _query_times(time_key, current, queries)
        recent = encounter_spec.current_view(recent_key, current.until(query_times[-1]))

    def ask(key, time):
        query = encounter_spec.current_view(key, current.at(time)).first_state()
        weight = None if oversampled is None else oversampled.weigh(current, time)
        return query, targets_from(current, time, beliefs), weight

    if queries == 1:
        return recent, None, *ask(query_key, query_times[0])
    return recent, query_times, *jax.vmap(ask)(jax.random.split(query_key, queries), query_times)


def _query_times(key: Key[Scalar, ""], episode: Episode, queries: int) -> Int[Array, "query"]:
    """Times drawn evenly over the episode, one from each of as many equal parts: all of them together are uniform, and
    seldom is one asked about twice. An episode with fewer steps than queries needs no rule of its own."""
    share = (jnp.arange(queries) + jax.random.uniform(key, (queries,))) / queries
    last = (episode.length - 1).astype(jnp.float32)  # in float32 the share may round up to 1
    return jnp.minimum(share * episode.length, last).astype(jnp.int32)
