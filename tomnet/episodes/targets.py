"""What the observer is asked about the rest of an episode, from one time on (appendix B of the paper)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .episode import Episode

GAMMAS = (0.5, 0.9, 0.99)  # discounts of the successor maps


class Targets(eqx.Module):
    action: Int[Array, "*batch"]
    consumption: Float[Array, "*batch object"]  # 1 where the object is eaten before the end
    successor: Float[Array, "*batch gamma row col"]  # each map sums to 1
    belief: Float[Array, "*batch kind place"] | None = None  # where the agent says each object is; last, nowhere


def targets_from(
    episode: Episode, time: Int[Array, ""], beliefs: Float[Array, "time kind place"] | None = None
) -> Targets:
    objects = episode.object_cells.shape[-1]
    later = (jnp.arange(episode.actions.shape[0]) >= time) & episode.real
    eaten = (episode.consumed[:, None] == jnp.arange(objects)) & later[:, None]
    return Targets(
        action=episode.actions[time].astype(jnp.int32),
        consumption=eaten.any(0).astype(jnp.float32),
        successor=successor_maps(episode, time),
        belief=None if beliefs is None else beliefs[time].astype(jnp.float32),
    )


def successor_maps(episode: Episode, time: Int[Array, ""]) -> Float[Array, "gamma row col"]:
    """The discounted share of time spent in each cell from `time` to the end, the final cell included."""
    cells = jnp.append(episode.agent_cells, episode.final_cell)
    times = jnp.arange(cells.shape[0])
    cells = jnp.where(times == episode.length, episode.final_cell, cells)
    ahead = times - time
    counted = (ahead >= 0) & (times <= episode.length)
    weight = jnp.where(counted, jnp.asarray(GAMMAS)[:, None] ** jnp.maximum(ahead, 0), 0.0)
    maps = jnp.zeros((len(GAMMAS), episode.size**2)).at[:, cells].add(weight)  # a cell may be visited again
    return (maps / maps.sum(-1, keepdims=True)).reshape(len(GAMMAS), episode.size, episode.size)
