"""Episodes, snapshots and query states: compact, plain arrays. All that an observer may ever see of an agent."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

NONE = -1  # no object: absent from the world, or nothing consumed
ACTION_COUNT = 5  # the world names them; the observer, who may not look there, needs only how many there are


class QueryState(eqx.Module):
    """A state without the action that follows: what an observer is asked about.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> encounters.query.walls.shape, encounters.query.agent_cell.shape, encounters.query.object_cells.shape
    ((4, 11, 11), (4,), (4, 4))
    """

    walls: Bool[Array, "*batch row col"]
    agent_cell: Int[Array, "*batch"]
    object_cells: Int[Array, "*batch object"]


class Snapshot(eqx.Module):
    """A single state/action pair of an episode, from a time unknown: all that some observers see of the past.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> spec = tomnet.EncounterSpec(min_past=3, max_past=3, snapshots=True)
    >>> past = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, spec).past  # [agent, past]
    >>> type(past).__name__, past.agent_cell.shape, past.action.shape
    ('Snapshot', (4, 3), (4, 3))
    """

    walls: Bool[Array, "*batch row col"]
    agent_cell: Int[Array, "*batch"]
    object_cells: Int[Array, "*batch object"]
    action: Int[Array, "*batch"]

    @property
    def state(self) -> QueryState:
        return QueryState(self.walls, self.agent_cell, self.object_cells)


class Episode(eqx.Module):
    """The states before each action, the actions, and where it ended. Steps from `length` on are padding.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> past = encounters.past  # [agent, past]
    >>> past.agent_cells.shape, past.object_cells.shape, past.length.shape
    ((4, 1, 31), (4, 1, 31, 4), (4, 1))
    >>> bool((past.real.sum(-1) == past.length).all())
    True
    """

    walls: Bool[Array, "*batch row col"]
    agent_cells: Int[Array, "*batch time"]
    object_cells: Int[Array, "*batch time object"]
    actions: Int[Array, "*batch time"]
    consumed: Int[Array, "*batch time"]  # the object eaten by the action, NONE if none
    final_cell: Int[Array, "*batch"]  # where the last action led
    length: Int[Array, "*batch"]

    @property
    def size(self) -> int:
        return self.walls.shape[-1]

    @property
    def real(self) -> Bool[Array, "*batch time"]:
        return jnp.arange(self.actions.shape[-1]) < self.length[..., None]

    def at(self, time: Int[Array, ""]) -> "Episode":
        """One step of one episode, as an episode of its own: what views look at."""
        after = self.agent_cells[jnp.minimum(time + 1, self.length - 1)]
        return Episode(
            walls=self.walls,
            agent_cells=self.agent_cells[time][None],
            object_cells=self.object_cells[time][None],
            actions=self.actions[time][None],
            consumed=self.consumed[time][None],
            final_cell=jnp.where(time + 1 < self.length, after, self.final_cell),
            length=jnp.ones_like(self.length),
        )

    def until(self, time: Int[Array, ""]) -> "Episode":
        """One episode cut off before `time`: the recent trajectory that a query at `time` follows.

        Nothing later is left in the padding, where a net with a wrong mask could find the answer.
        """
        before = jnp.arange(self.actions.shape[0]) < time
        return Episode(
            walls=self.walls,
            agent_cells=jnp.where(before, self.agent_cells, NONE),
            object_cells=jnp.where(before[:, None], self.object_cells, NONE),
            actions=jnp.where(before, self.actions, NONE),
            consumed=jnp.where(before, self.consumed, NONE),
            final_cell=jnp.where(
                time < self.length, self.agent_cells[jnp.minimum(time, self.length - 1)], self.final_cell
            ),
            length=jnp.asarray(time, self.length.dtype),
        )

    def first_state(self) -> QueryState:
        return self.first_pair().state

    def pairs(self, episode: Int[Array, "*pair"], time: Int[Array, "*pair"]) -> Snapshot:
        """Of many episodes (one leading axis), the state/action pairs at these times of these episodes."""
        here = self.agent_cells[episode, time], self.object_cells[episode, time], self.actions[episode, time]
        return Snapshot(self.walls[episode], *here)

    def first_pair(self) -> Snapshot:
        return Snapshot(self.walls, self.agent_cells[..., 0], self.object_cells[..., 0, :], self.actions[..., 0])


class EpisodeWithBeliefs(eqx.Module):
    """An episode, and what the agent said at each step that it believed: where each object is, if anywhere."""

    episode: Episode
    beliefs: Float[Array, "*batch time kind place"]
