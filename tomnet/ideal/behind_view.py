"""The exact observer of goal-driven agents who sees the past badly, and knows how badly (section 2.1).

What is not seen is summed over, each part by what is known of it:

- Where the agent was at a step that was missed: its cell is a Markov chain, so the sum goes forward in time over all
  ways through the gap. Time is not missed: the observer knows how long it looked away, and when the episode ended.
- Which action was taken for the one that was seen: all that lead to where the agent was seen next.
- Where objects lie that never came into view: anywhere on the free cells that never did. This sum alone is not exact,
  but a mean over a few completions of the level.

Walls are always seen.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Scalar
from scipy.special import logsumexp

from ..agents.planner import Planner
from ..episodes.episode import ACTION_COUNT, NONE, Episode
from ..episodes.observer_view import KnownView
from ..support.errors import BadSetting
from ..support.trees import pick
from ..world.gridworld import World
from .distinct_plans import find_all_paths, forecast_each_plan
from .inverse_planning import InversePlanner
from .markov_chain import chain_of
from .paths import Paths, choices, policy, standing_cells

IMPOSSIBLE = 1e-30  # probability of what no way through a gap explains, not even with lapses


class BehindView(eqx.Module):
    """Inverse planning behind a view of the past.

    Predictions are those of `planner.predict`, since queries are seen plainly.
    """

    planner: InversePlanner
    view: KnownView
    completions: int = eqx.field(static=True, default=120)

    def __check_init__(self):
        # whatever was eaten would have to be guessed, and hardly any completion has it there
        if self.view.sight() < 1:
            raise BadSetting("NearObjectsOnly.reach", self.view.sight(), "no object is ever in sight")

    def posterior(
        self, key: Key[Scalar, ""], past: Episode, past_real: Bool[Array, "agent past"]
    ) -> Float[Array, "agent particle"]:
        """The log-probability of each particle given past episodes that came through the view."""
        reach = jnp.int32(min(self.view.sight(), self.planner.world.size))
        completed = _complete_all(key, past, reach, self.completions)
        return self.planner.weigh((past, completed), past_real, self._likelihoods)

    def _likelihoods(self, seen: tuple[Episode, np.ndarray]) -> Float[np.ndarray, "episode particle"]:
        """Log-likelihoods, averaged over the completions of each episode; those that are the same are one level."""
        episodes, completed = seen
        count, each, objects = completed.shape
        rows = np.column_stack([np.repeat(np.arange(count), each), completed.reshape(-1, objects)])
        levels, which = np.unique(rows, axis=0, return_inverse=True)
        number, object_cells = levels[:, 0], levels[:, 1:]
        on_levels = eqx.tree_at(lambda e: e.object_cells, pick(episodes, number), object_cells[:, None])
        # who only lacks objects has seen the way as it was
        near = math.isfinite(self.view.sight())
        likelihoods = self.planner.of_episodes(on_levels) if near else self._of_steps(on_levels)
        return logsumexp(likelihoods[which.reshape(count, each)], axis=1) - np.log(each)

    def _of_steps(self, seen: Episode) -> Float[np.ndarray, "episode particle"]:
        """Log-likelihoods of episodes with gaps, or with actions that may be others, on levels that are known."""
        world, agents = self.planner.world, self.planner.agents
        paths = find_all_paths(seen.walls, seen.object_cells[:, 0], world)
        steps = Steps(seen.agent_cells, seen.actions, seen.length)
        forecast = _StepsLikelihood(jnp.float32(self.view.mistaken()), self.planner.lapse)
        everyone = np.ones((len(seen.length), agents.move_cost.shape[0]), bool)
        _, plans, of_plan = forecast_each_plan(forecast, paths, agents, steps, everyone, world)
        return of_plan[plans]


class Steps(eqx.Module):
    """What was seen of an episode's steps; of a missed one, neither cell nor action."""

    cells: Int[Array | np.ndarray, "*batch time"]
    actions: Int[Array | np.ndarray, "*batch time"]
    length: Int[Array | np.ndarray, "*batch"]


class _StepsLikelihood(eqx.Module):
    """The log-probability that an agent on a level would have been seen so: a sum over all ways it may have gone."""

    mistaken: Float[Array, ""]  # how often an action is taken for another
    lapse: float = eqx.field(static=True)

    def __call__(self, paths: Paths, agent: Planner, steps: Steps, world: World) -> Float[Array, ""]:
        plan = (1 - self.lapse) * policy(choices(paths), agent, world) + self.lapse / ACTION_COUNT
        cells, free = jnp.arange(paths.walls.shape[0]), standing_cells(paths)
        timed_out = steps.length == world.step_limit

        def step(before, now):
            mass, log_likelihood = before
            time, cell, action = now
            here = jnp.where((cell == NONE) | (cells == cell), mass, 0.0)
            chain = chain_of(paths, plan * self._seen_as(action)[:, None])
            arrived = chain.advance(here)
            last = time == steps.length - 1
            possible = jnp.where(last, timed_out | chain.ends, ~chain.ends)  # eating ends the episode, or time does
            mass_after = jnp.where(possible, arrived, 0.0)
            total = jnp.maximum(mass_after.sum(), IMPOSSIBLE)
            after = mass_after / total, log_likelihood + jnp.log(total)
            return jax.tree.map(lambda new, old: jnp.where(time < steps.length, new, old), after, before), None

        start = free / free.sum(), jnp.zeros(())
        (_, log_likelihood), _ = jax.lax.scan(step, start, (jnp.arange(len(steps.cells)), steps.cells, steps.actions))
        return log_likelihood

    def _seen_as(self, action: Int[Array, ""]) -> Float[Array, "action"]:
        """How likely each action is to be seen as this one; whatever it was may have been missed."""
        mistaken = self.mistaken / (ACTION_COUNT - 1)
        seen = jnp.where(jnp.arange(ACTION_COUNT) == action, 1 - self.mistaken, mistaken)
        return jnp.where(action == NONE, 1.0, seen)


@eqx.filter_jit
def _complete_all(
    key: Key[Scalar, ""], past: Episode, reach: Int[Array, ""], count: int
) -> Int[Array, "agent past completion object"]:
    complete_each = jax.vmap(jax.vmap(lambda key, episode: complete(key, episode, reach, count)))
    return complete_each(jax.random.split(key, past.length.shape), past)


def complete(key: Key[Scalar, ""], episode: Episode, reach: Int[Array, ""], count: int) -> Int[Array, "{count} object"]:
    """Where all objects may lie: those that were seen where they were, the others as levels would have them, on free
    cells, but on none that came within `reach` of the agent.

    The completions are drawn together: all objects go round the hidden cells in one random order, at even distances. So
    each lies everywhere before it lies anywhere twice, and where one lies, the others come to lie as well: by chance
    alone, no object looks more wanted than another.
    """
    found, hidden = _looked_for(episode, reach)
    unseen, cells = found == NONE, hidden.shape[0]
    places, objects = jnp.maximum(hidden.sum(), 1), jnp.maximum(unseen.sum(), 1)
    strides = min(count, cells)
    gone = jnp.arange(strides)[:, None] * objects + (unseen.cumsum() - 1) * strides  # strides × objects make a round
    stops = places * gone // (strides * objects) % places

    def go_round(key):
        order = jnp.argsort(jnp.where(hidden, jax.random.uniform(key, (cells,)), jnp.inf))  # hidden ones first
        return order[stops]

    rounds = jax.vmap(go_round)(jax.random.split(key, -(-count // strides)))
    drawn = rounds.reshape(-1, len(found))[:count]
    return jnp.where(unseen, drawn.astype(found.dtype), found)


def _looked_for(episode: Episode, reach: Int[Array, ""]) -> tuple[Int[Array, "object"], Bool[Array, "cell"]]:
    """Where each object was seen, if it was; and the free cells that never were."""
    looked = (episode.real & (episode.agent_cells != NONE))[:, None]
    found = jnp.where(looked, episode.object_cells, NONE).max(0)
    size, cells, agents = episode.size, jnp.arange(episode.size**2), episode.agent_cells[:, None]
    rows, cols = jnp.abs(cells // size - agents // size), jnp.abs(cells % size - agents % size)
    in_view = (looked & (jnp.maximum(rows, cols) <= reach)).any(0)
    return found, ~episode.walls.reshape(-1) & ~in_view
