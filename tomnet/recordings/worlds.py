"""Our own worlds: recorded with any Python function as the policy, and episodes of our own as recordings."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..episodes.episode import NONE, Episode
from ..episodes.store import load_episodes
from ..support.errors import BadFile
from ..world.gridworld import ABSENT, ACTIONS, State, World, step
from ..world.levels import LETTERS, reset, symbols
from .bad_recording import BadRecording, said
from .moves import action_number
from .recording import LARGEST_SIDE, MOST_STEPS, NOWHERE, Recording, episode_name
from .scene import Recorder, Scene

_reset, _step = eqx.filter_jit(reset), eqx.filter_jit(step)


def record_world(
    world: World, policy: Callable[[Scene], Any], episodes: int, *, agent: str, steps: int = MOST_STEPS, seed: int = 0
) -> tuple[Recording, ...]:
    """Each episode on a level of its own, drawn for the occasion; see `record`."""
    letters, recordings = symbols(world), []
    for number, key in enumerate(jax.random.split(jax.random.key(seed), episodes)):
        level_key, *step_keys = jax.random.split(key, 1 + min(steps, world.step_limit))
        state = jax.device_get(_reset(level_key, world))
        scene, terminated = look_at_state(state, world), False
        recorder = Recorder(agent, ACTIONS)
        recorder.start(scene)
        for step_key in step_keys:
            action = action_number(policy(scene), ACTIONS)
            state, outcome = jax.device_get(_step(step_key, state, jnp.int32(action), world))
            scene, terminated = look_at_state(state, world), bool(outcome.terminated)
            recorder.step(action, scene, took=None if outcome.consumed == ABSENT else letters[int(outcome.consumed)])
            if outcome.terminated or outcome.truncated:
                break
        recordings.append(recorder.finish(episode_name(number), terminated))
    return tuple(recordings)


def look_at_state(state: State, world: World) -> Scene:
    cells = [divmod(int(cell), world.size) for cell in state.object_cells]
    there = [int(cell) != ABSENT for cell in state.object_cells]
    objects = tuple((letter, cell) for letter, cell, here in zip(symbols(world), cells, there) if here)
    return Scene(walls=np.asarray(state.walls), cell=divmod(int(state.agent_cell), world.size), objects=objects)


def to_recording(episode: Episode, agent: str, name: str, letters: str = LETTERS) -> Recording:
    """One episode of our own, its padding left out."""
    length, size = int(episode.length), episode.walls.shape[-1]
    if size > LARGEST_SIDE:
        raise BadRecording("walls", f"up to {LARGEST_SIDE} rows and cols", said(f"{size}"))
    taken = np.asarray(episode.consumed)[:length]
    before = np.asarray(episode.object_cells)[:length]
    after = before[-1].copy()  # what an episode of our own does not say, nobody looks at any more
    if taken[-1] != NONE:
        after[taken[-1]] = NOWHERE
    return Recording(
        agent=agent,
        episode=name,
        walls=np.asarray(episode.walls),
        objects=tuple(letters[: before.shape[1]]),
        actions=np.asarray(episode.actions)[:length],
        cells=np.append(np.asarray(episode.agent_cells)[:length], episode.final_cell),
        object_cells=np.concatenate([before, after[None]]),
        taken=taken,
    )


def read_episodes(path: Path) -> Iterator[Recording | BadRecording]:
    """A file of our own episodes: the last axis counts an agent's episodes, those before it the agents."""
    episodes, _ = load_episodes(path)
    episodes = jax.tree.map(np.asarray, episodes)
    if episodes.object_cells.shape[-1] > len(LETTERS):
        raise BadFile(path, f"{episodes.object_cells.shape[-1]} objects, and there are letters for {len(LETTERS)}")
    for index in np.ndindex(episodes.length.shape):
        *agent, number = index or (0,)
        name = "-".join(["agent", *(f"{each + 1:04}" for each in agent)])
        try:
            one = jax.tree.map(lambda leaf, index=index: leaf[index], episodes)
            yield to_recording(one, name, episode_name(number))
        except BadRecording as fault:
            field = f"episode {index}: {fault.field}"
            yield BadRecording(field, fault.expected, said(fault.found), path=path, step=fault.step)
