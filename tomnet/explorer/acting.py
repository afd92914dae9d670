"""Agents let loose on a level: a whole episode for the past, or some steps further in the current one."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Key, Scalar

from ..agents.agent import Agent
from ..episodes.episode import Episode, QueryState
from ..episodes.replay import stand_at_query
from ..episodes.rollout import continue_rollout
from ..experiments.sally_anne.swap_effects import without_swaps
from ..recordings.text import format_text
from ..recordings.worlds import to_recording
from ..support.trees import pick
from ..world.gridworld import MAZE, SUBGOAL_MAZE, World
from ..world.levels import draw_levels, format_level, symbols
from .episode_text import Now, read_now
from .requests import Choice


def random_level(subgoal: bool, seed: int) -> str:
    world = SUBGOAL_MAZE if subgoal else MAZE
    return format_level(pick(draw_levels(jax.random.key(seed), 1, world), 0), world)


def watch(choice: Choice, level: str | None, seed: int) -> str:
    """A whole episode, on a level of its own where none is given."""
    world = choice.world
    picture = level or random_level(world.subgoal, seed)
    return f"{picture}\n\n" + "\n".join(_steps(choice, read_now(picture, world), world.step_limit, seed, world))


def act(choice: Choice, text: str, steps: int, seed: int) -> list[str]:
    """The next steps of the current episode; objects change places there by hand only."""
    world = without_swaps(choice.world)
    return _steps(choice, read_now(text, world), steps, seed, world)


def _steps(choice: Choice, now: Now, steps: int, seed: int, world: World) -> list[str]:
    """As lines of a text episode, each with what it did to objects below it."""
    episode = jax.device_get(_go_on(jax.random.key(seed), choice.agent(), now.recent, now.query, world))
    if steps < int(episode.length):  # where it then is, is where the next step begins
        shorter = np.int16(steps), episode.agent_cells[steps]
        episode = eqx.tree_at(lambda one: (one.length, one.final_cell), episode, shorter)
    recording = to_recording(episode, "agent", "now", symbols(world))
    lines: list[str] = []
    for line in format_text(recording).partition("\n\n")[2].splitlines():
        event = line.split(" ")[0] in ("took", "moved", "gone")
        if event and line != "took nothing":
            lines[-1] += f"\n{line}"
        elif not event:
            lines.append(line)
    return lines


@eqx.filter_jit
def _go_on(key: Key[Scalar, ""], agent: Agent, recent: Episode, query: QueryState, world: World) -> Episode:
    """To the end, whatever was asked for: one compiled program for a step and for an episode."""
    acting = agent.ready()
    return continue_rollout(key, acting, stand_at_query(acting, recent, query, world), world).episode
