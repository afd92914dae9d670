"""An observer asked about many query states that share one history: what was seen is read once, then each is asked.

The counterfactual worlds of a swap differ in nothing but the query state.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..episodes.encounter import Encounter
from ..episodes.episode import Episode, Snapshot
from ..episodes.targets import GAMMAS, Targets
from ..errors import BadSetting
from ..observer.frames import Room, room_for
from ..observer.prediction_net import Predictions
from ..observer.tomnet import ToMnet
from ..trees import stack
from ..world.gridworld import World

BATCH = 64  # histories at a time


class History(eqx.Module):
    """All that an observer has seen of each agent by the time it is asked."""

    past: Episode  # [agent, past]
    past_real: Bool[Array, "agent past"]
    recent: Episode  # [agent]: the current episode before the query

    @staticmethod
    def of(past: Episode, recent: Episode) -> "History":
        recent = jax.vmap(lambda episode: episode.until(episode.length))(jax.tree.map(jnp.asarray, recent))
        past = jax.tree.map(jnp.asarray, past)
        return History(past, jnp.ones(past.length.shape, bool), recent)

    def __len__(self) -> int:
        return self.past_real.shape[0]


def check_observer(observer: ToMnet, world: World, heads: tuple[str, ...]) -> None:
    """Whether an observer can be asked this at all: in such a world, and about such things."""
    config = observer.config
    if config.size != world.size:
        raise BadSetting("size", world.size, f"this observer knows grids of {config.size}")
    if config.objects != world.kinds:
        raise BadSetting("objects", world.kinds, f"this observer knows {config.objects}, the subgoal included")
    if not config.mental:
        raise BadSetting("mental", config.mental, "only an observer with a mental net knows what has just happened")
    for head in heads:
        if head not in config.heads:
            raise BadSetting("heads", ", ".join(config.heads), f"this observer was never taught to predict {head!r}")


def foresee(observer: ToMnet, history: History, queries: Snapshot) -> Predictions:
    """`queries` have axes [world, agent], and so have the predictions: probabilities, as plain arrays."""
    batches, worlds = _in_batches(history, axis=0), _in_batches(queries, axis=1)
    rooms = room_for(_encounters(stack(batches)))
    parts = [_foresee(observer, one, queries, rooms) for one, queries in zip(batches, worlds)]
    count = len(history)
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, 1)[:, :count], *_plain(parts))


def _in_batches(tree, axis: int) -> list:
    """Equal parts, so that one compiled program serves them all; the last is filled up with the first again."""
    count = jax.tree.leaves(tree)[0].shape[axis]
    size = min(BATCH, count)
    parts = []
    for start in range(0, count, size):
        chosen = np.arange(start, start + size) % count
        parts.append(jax.tree.map(lambda leaf, chosen=chosen: jnp.take(leaf, chosen, axis=axis), tree))
    return parts


def _plain(parts: list) -> list:
    return [jax.tree.map(np.asarray, part) for part in parts]


@eqx.filter_jit
def _foresee(observer: ToMnet, history: History, queries: Snapshot, room: Room) -> Predictions:
    character, _ = observer.characterise(history.past, history.past_real, capacity=room.past)
    mental, _ = observer.mentalise(history.recent, character.mean, room)
    assert mental is not None  # check_observer has seen to it
    worlds = queries.agent_cell.shape[0]

    def for_each_world(known: Array) -> Array:
        return jnp.broadcast_to(known, (worlds, *known.shape)).reshape(-1, *known.shape[1:])

    query = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), queries)
    told = observer.predict(for_each_world(character.mean), query, for_each_world(mental.mean))
    told = jax.tree.map(lambda leaf: leaf.reshape(worlds, -1, *leaf.shape[1:]), told)
    return Predictions(
        action=None if told.action is None else jnp.exp(told.action),
        consumption=None if told.consumption is None else jax.nn.sigmoid(told.consumption),
        successor=None if told.successor is None else jnp.exp(told.successor),
        belief=None if told.belief is None else jnp.exp(told.belief),
    )


def _encounters(history: History) -> Encounter:
    """In the form in which rooms are measured; what is asked takes no room."""
    shape = history.past_real.shape[:-1]
    size, kinds = history.recent.size, history.recent.object_cells.shape[-1]
    nothing: Float[Array, "..."] = jnp.zeros(shape)
    query = Snapshot(jnp.zeros((*shape, size, size), bool), nothing.astype(int), jnp.zeros((*shape, kinds), int))
    targets = Targets(nothing.astype(int), jnp.zeros((*shape, kinds)), jnp.zeros((*shape, len(GAMMAS), size, size)))
    return Encounter(history.past, history.past_real, history.recent, query, targets)
