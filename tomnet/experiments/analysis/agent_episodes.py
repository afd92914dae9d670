"""Episodes as deep RL agents live them: what each has seen, and where it believes its preferred object to be.

Plain tables, for figures that never run an agent.
"""

import dataclasses

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int, Key, Scalar

from ...agents.actor_critic import DeepAgent, check_world
from ...agents.population import Population
from ...episodes.episode import Episode
from ...episodes.rollout import continue_rollout, start_rollout
from ...support.errors import BadSetting
from ...support.progress import stage
from ...support.trees import pick
from ...support.words import counted
from ...world.gridworld import SUBGOAL_MAZE, Level, World
from ...world.levels import draw_levels
from ..sally_anne.visibility import visibility_map
from .examples import first_of
from .reachability import Reachable


@dataclasses.dataclass(frozen=True)
class RecordedStep:
    """The state before the action, what is in view, the belief, the action."""

    agent_cell: int
    object_cells: list[int]
    visibility: Int[np.ndarray, "row col"]  # 0 never, 1 before, 2 now
    belief: list[float]  # about the preferred object: every cell, and last, that it is nowhere
    action: int
    consumed: int


@dataclasses.dataclass(frozen=True)
class RecordedEpisode:
    condition: str
    field_of_view: int
    remembers: bool
    network: int
    preferred: int
    walls: Int[np.ndarray, "row col"]
    steps: list[RecordedStep]
    final_cell: int


DRAWN = 32  # levels, for one on which everything is in reach


def recorded_episodes(
    key: Key[Scalar, ""],
    population: Population,
    *,
    network: int = 0,
    preferred: int = 0,
    count: int = 4,
    world: World = SUBGOAL_MAZE,
) -> list[RecordedEpisode]:
    """The first `count` episodes of one agent on levels drawn for the occasion: none is chosen by its outcome."""
    if count < 1:
        raise BadSetting("episodes", count, "must be above 0")
    level_key, act_key = jax.random.split(key)
    return record_episodes(act_key, population, draw_levels(level_key, count, world), world, network, preferred)


def same_level(
    key: Key[Scalar, ""], populations: dict[str, Population], *, world: World = SUBGOAL_MAZE
) -> list[RecordedEpisode]:
    """The best network of each species on one level: the first drawn on which everything is in reach."""
    level_key, act_key = jax.random.split(key)
    mazes = draw_levels(level_key, DRAWN, world)
    reach = Reachable(mazes, world)
    chosen = first_of(reach.subgoal & reach.objects.all(1), np.ones(DRAWN, bool))
    level = pick(pick(mazes, chosen), None)
    return [record_episodes(act_key, population, level, world)[0] for population in populations.values()]


def record_episodes(
    key: Key[Scalar, ""], population: Population, levels: Level, world: World, network: int = 0, preferred: int = 0
) -> list[RecordedEpisode]:
    """One agent's episode on each level."""
    agent, count = population.agent(network, preferred), levels.start_cell.shape[0]
    check_world(world, agent.network.config)
    stage(f"{counted(count, 'episode')} of {population.condition.name}")
    lived = jax.tree.map(np.asarray, live(jax.random.split(key, count), agent, levels, world))
    condition, reach = population.condition, int(agent.senses.reach)
    one_by_one = (pick(lived, i) for i in range(count))
    return [
        RecordedEpisode(
            condition=condition.name,
            field_of_view=condition.field_of_view,
            remembers=condition.remembers,
            network=network,
            preferred=preferred,
            walls=np.asarray(episode.walls).astype(int),
            steps=recorded_steps(episode, beliefs, reach),
            final_cell=int(episode.final_cell),
        )
        for episode, beliefs in one_by_one
    ]


@eqx.filter_jit
def live(
    keys: Key[Array, "episode"], agent: DeepAgent, levels: Level, world: World
) -> tuple[Episode, Float[Array, "episode time place"]]:
    def one(key, level):
        def believed(agent, memory, state):
            return agent.belief(memory, world)[agent.preferred]

        partial_rollout = continue_rollout(key, agent, start_rollout(agent, level, world), world, record=believed)
        return partial_rollout.episode, partial_rollout.recorded

    return jax.vmap(one)(keys, levels)


def recorded_steps(episode: Episode, beliefs: np.ndarray, reach: int) -> list[RecordedStep]:
    cells, size = np.asarray(episode.agent_cells), episode.size
    return [
        RecordedStep(
            agent_cell=int(cells[time]),
            object_cells=np.asarray(episode.object_cells)[time].tolist(),
            visibility=visibility_map(cells[: time + 1], reach, size),
            belief=np.round(beliefs[time].astype(float), 4).tolist(),
            action=int(episode.actions[time]),
            consumed=int(episode.consumed[time]),
        )
        for time in range(int(episode.length))
    ]
