"""How well agents do the task of sections 3.3 and 3.4: their episodes on some levels, and what became of them."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Key, Scalar

from ...agents.actor_critic import Rewards
from ...agents.agent import Agent
from ...episodes.episode import Episode
from ...episodes.rollout import Record, continue_rollout, start_rollout
from ...world.gridworld import ACTIONS, Level, World
from ..sally_anne.swap_effects import BATCH
from .handedness import cells_after
from .reachability import Reachable
from .statistics import NetworkMean, mean_interval, over_networks


@dataclasses.dataclass(frozen=True)
class Performance:
    """Means over networks of their means over levels; of a reference, over all levels, with the mean of each course."""

    networks: int
    returns: NetworkMean
    subgoal_first: NetworkMean  # where it is in reach
    preferred: NetworkMean
    preferred_if_reachable: NetworkMean
    both: NetworkMean
    time_out: NetworkMean
    steps: NetworkMean


def behave(
    key: Key[Scalar, ""], agent: Agent, levels: Level, world: World, record: Callable[[World], Record] | None = None
) -> tuple[Episode, Any]:
    """One agent's episode on each level, and what is to be recorded of every step."""
    return jax.tree.map(np.asarray, _behave(key, agent, levels, world, record))


@eqx.filter_jit
def _behave(key, agent, levels: Level, world: World, record) -> tuple[Episode, Any]:
    def one(now):
        key, level = now
        kept = record(world) if record else None
        partial_rollout = continue_rollout(key, agent, start_rollout(agent, level, world), world, record=kept)
        return partial_rollout.episode, partial_rollout.recorded

    keys = jax.random.split(key, levels.start_cell.shape[0])
    return jax.lax.map(one, (keys, levels), batch_size=BATCH)


def measures(episodes: Episode, preferred: int, reachable: Reachable, world: World) -> dict[str, np.ndarray]:
    """What became of each episode (leading axis); nan on levels that a share does not count."""
    consumed, steps = np.asarray(episodes.consumed), np.asarray(episodes.length)
    took_subgoal = (consumed == world.objects).any(1)  # eating anything else ends the episode: it came first
    took_preferred = (consumed == preferred).any(1)
    ended = ((consumed >= 0) & (consumed < world.objects)).any(1)
    return {
        "returns": returns(episodes, preferred, Rewards(), world),
        "subgoal_first": np.where(reachable.subgoal, took_subgoal, np.nan),
        "preferred": took_preferred.astype(float),
        "preferred_if_reachable": np.where(reachable.objects[:, preferred], took_preferred, np.nan),
        "both": (took_subgoal & took_preferred).astype(float),
        "time_out": (~ended).astype(float),
        "steps": steps.astype(float),
    }


def returns(episodes: Episode, preferred: int, rewards: Rewards, world: World) -> np.ndarray:
    """What each whole episode was worth to an agent that prefers that object."""
    consumed, real = np.asarray(episodes.consumed), np.asarray(episodes.real)
    still = cells_after(episodes) == np.asarray(episodes.agent_cells)
    bumped = real & still & (np.asarray(episodes.actions) != ACTIONS.index("stay"))
    terminal = ((consumed >= 0) & (consumed < world.objects)).any(1)
    return (
        rewards.move * real.sum(1)
        + rewards.wall * bumped.sum(1)
        + rewards.subgoal * (consumed == world.objects).sum(1)
        + rewards.preferred * (consumed == preferred).any(1)
        + rewards.time_out * ~terminal
    )


def performance(networks: list[dict[str, np.ndarray]]) -> Performance:
    """On few levels, a network may have met none that counts."""
    each = {name: np.array([_share(network[name]) for network in networks]) for name in networks[0]}
    return Performance(len(networks), **{name: over_networks(values) for name, values in each.items()})


def reference_performance(courses: list[dict[str, np.ndarray]]) -> Performance:
    """Of a single agent."""

    def over_levels(name: str) -> NetworkMean:
        values = np.concatenate([measured[name] for measured in courses])
        over = mean_interval(values[np.isfinite(values)])
        each = [_share(measured[name]) for measured in courses]
        return NetworkMean(**vars(over), each=each)

    return Performance(1, **{name: over_levels(name) for name in courses[0]})


def _share(values: np.ndarray) -> float:
    counted = values[np.isfinite(values)]
    return float(counted.mean()) if len(counted) else float("nan")
