"""An observer asked about many query states that share one history: what was seen is read once, then each is asked.

The counterfactual worlds of a swap differ in nothing but the query state.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...episodes.episode import QueryState
from ...episodes.history import History
from ...episodes.predictions import Probabilities
from ...observer.frames import Capacity, capacity_for
from ...observer.tomnet import ToMnet
from ...support.errors import BadSetting
from ...support.progress import stage
from ...support.trees import concatenate_on_host, on_host, pick, stack_on_host
from ...support.words import counted
from ...world.gridworld import World

BATCH = 64  # histories at a time


def check_observer(observer: ToMnet, world: World, heads: tuple[str, ...]) -> None:
    """Whether an observer can be asked this at all: in such a world, and about such things."""
    config = observer.config
    if config.size != world.size:
        raise BadSetting("size", world.size, f"this observer knows grids of {config.size}")
    if config.objects != world.kinds:
        raise BadSetting("objects", world.kinds, f"this observer knows {config.objects}, the subgoal included")
    if not config.mental and config.character != "none":  # one that reads nothing at all serves as a control
        raise BadSetting("mental", config.mental, "only an observer with a mental net knows what has just happened")
    for head in heads:
        if head not in config.heads:
            raise BadSetting("heads", ", ".join(config.heads), f"this observer was never taught to predict {head!r}")


def predict_counterfactuals(observer: ToMnet, history: History, queries: QueryState) -> Probabilities:
    """`queries` have axes [world, walk], and so have the probabilities, as plain arrays."""
    stage(f"an observer is asked about {counted(len(history), 'walk')}, with swaps and without")
    batches, worlds = _in_batches(history, axis=0), _in_batches(queries, axis=1)
    capacity = capacity_for(stack_on_host(batches))
    parts = [_predict_counterfactuals(observer, one, queries, capacity) for one, queries in zip(batches, worlds)]
    return pick(concatenate_on_host(map(on_host, parts), axis=1), np.s_[:, : len(history)])


def _in_batches(tree, axis: int) -> list:
    """Equal parts, so that one compiled program serves them all; the last is filled up with the first again."""
    count = jax.tree.leaves(tree)[0].shape[axis]
    size = min(BATCH, count)
    parts, tree = [], on_host(tree)
    for start in range(0, count, size):
        chosen = np.arange(start, start + size) % count
        parts.append(jax.tree.map(lambda leaf, chosen=chosen: np.take(leaf, chosen, axis=axis), tree))
    return parts


@eqx.filter_jit
def _predict_counterfactuals(
    observer: ToMnet, history: History, queries: QueryState, capacity: Capacity
) -> Probabilities:
    character, _ = observer.characterise(history.past, history.past_real, capacity=capacity.past)
    assert history.recent is not None  # a query in mid-episode has what came before it
    mental, _ = observer.mentalise(history.recent, character.mean, capacity)
    worlds = queries.agent_cell.shape[0]

    def for_each_world(known: Array) -> Array:
        return jnp.broadcast_to(known, (worlds, *known.shape)).reshape(worlds * len(known), *known.shape[1:])

    query = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), queries)
    minds = None if mental is None else for_each_world(mental.mean)
    told = observer.predict(for_each_world(character.mean), query, minds)
    return jax.tree.map(lambda leaf: leaf.reshape(worlds, -1, *leaf.shape[1:]), told.probabilities())
