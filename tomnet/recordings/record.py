"""Episodes recorded as they happen: `record(env, policy, episodes)`.

`env` is one of our own worlds, a Gymnasium environment, or a vector of them; `policy` is any Python function of what
the environment shows. An environment that is no maze we know needs `look`, a function that tells where everything is.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..support.checks import check_between, check_seed
from ..support.errors import BadSetting
from . import minigrid
from .moves import action_number
from .recording import MOST_ACTIONS, MOST_STEPS, Recording, check_action_names, check_name, episode_name
from .scene import Recorder, Scene

Look = Callable[[Any, Any, Any], Scene]
"""`look(observation, info, env)`: what the maze looks like now. `env` is None where a vector of environments has none
to show: each runs in another process, or has begun the next episode already (SAME_STEP) when the last one ends."""
Policy = Callable[[Any], Any]
MOST_EPISODES = 1_000_000


def record(
    env: Any,
    policy: Policy,
    episodes: int,
    *,
    agent: str = "agent",
    look: Look | None = None,
    actions: Sequence[str] | None = None,
    steps: int = MOST_STEPS,
    seed: int = 0,
) -> tuple[Recording, ...]:
    """So many episodes of an agent; each ends by itself, or after `steps`.

    The policy is given what `env` shows: an environment's observation (of a vector of them, a batch), or in one of our
    own worlds a `Scene`. It answers with the number of an action, or its name. `actions` names them where nobody does.

    >>> world = tomnet.World(size=3, objects=1, max_walls=0, step_limit=8)
    >>> def policy(scene):  # plain Python: down to the object's row, then along it
    ...     (row, col), (goal_row, goal_col) = scene.cell, dict(scene.objects)["A"]
    ...     if row != goal_row:
    ...         return "down" if row < goal_row else "up"
    ...     return "right" if col < goal_col else "left"
    >>> recordings = tomnet.record(world, policy, 3, agent="straight")
    >>> [recording.took for recording in recordings]
    [('A',), ('A',), ('A',)]
    """
    check_between("episodes", episodes, 1, MOST_EPISODES)
    check_between("steps", steps, 1, MOST_STEPS)
    check_seed(seed)
    check_name("agent", agent)
    if not callable(policy):
        raise BadSetting("policy", repr(policy)[:40], "must be a function of what the environment shows")
    if look is not None and not callable(look):
        raise BadSetting("look", repr(look)[:40], "must be a function (observation, info, env) -> Scene")
    if _is_world(env):
        from .worlds import record_world  # which needs JAX

        return record_world(env, policy, episodes, agent=agent, steps=steps, seed=seed)
    if not callable(getattr(env, "reset", None)) or not callable(getattr(env, "step", None)):
        raise BadSetting("env", type(env).__name__, "must be a World, or have reset and step as Gymnasium's do")
    space = "single_action_space" if hasattr(env, "num_envs") else "action_space"
    if not hasattr(env, space):
        raise BadSetting("env", type(env).__name__, f"must have {space}, which says how many actions there are")
    if hasattr(env, "num_envs"):
        return tuple(_record_vector(env, policy, episodes, agent, look, actions, steps, seed))
    return tuple(_record_scalar(env, policy, episodes, agent, look, actions, steps, seed))


def _is_world(env: Any) -> bool:
    rules = sys.modules.get("tomnet.world.gridworld")  # whoever holds a World has loaded it
    return rules is not None and isinstance(env, rules.World)


def _record_scalar(
    env: Any, policy: Policy, episodes: int, agent: str, look: Look | None, actions: Any, steps: int, seed: int
) -> Iterator[Recording]:
    inner = getattr(env, "unwrapped", env)
    look = look or _default_look(inner)
    names = _names(actions, inner, env.action_space)
    first = _first(env.action_space)
    for number in range(episodes):
        observation, info = env.reset(seed=seed) if number == 0 else env.reset()
        recorder = Recorder(agent, names)
        recorder.start(_scene(look, observation, info, inner))
        terminated = False
        for _ in range(steps):
            chosen = action_number(policy(observation), names, first)
            observation, _, terminated, truncated, info = env.step(chosen + first)
            recorder.step(chosen, _scene(look, observation, info, inner))
            if terminated or truncated:
                break
        yield recorder.finish(episode_name(number), bool(terminated))


def _record_vector(
    env: Any, policy: Policy, episodes: int, agent: str, look: Look | None, actions: Any, steps: int, seed: int
) -> Iterator[Recording]:
    """Every environment has its share of the episodes: the first ones to end, wherever, would be the short ones."""
    inner = getattr(env, "unwrapped", env)
    count, space, mode = env.num_envs, env.single_action_space, _autoreset_mode(inner)
    envs = [getattr(each, "unwrapped", each) for each in getattr(inner, "envs", [None] * count)]
    if mode == "SAME_STEP" and look is None:
        why = "begins anew before its last cell is seen; give it autoreset_mode NEXT_STEP, or a look of your own"
        raise BadSetting("env", type(env).__name__, why)
    look = look or _default_look(inner if envs[0] is None else envs[0])
    names, first = _names(actions, envs[0], space), _first(space)
    share = [episodes // count + (number < episodes % count) for number in range(count)]
    done, recorders = [0] * count, [Recorder(agent, names) for _ in range(count)]

    def start(numbers: np.ndarray) -> None:
        for number in numbers:
            seen = _scene(look, _one(observations, number), _one_info(infos, number), envs[number])
            recorders[number].start(seen)

    observations, infos = env.reset(seed=seed)
    start(np.arange(count))
    resetting = np.zeros(count, bool)  # those whose next step only begins an episode
    while any(made < wanted for made, wanted in zip(done, share)):
        chosen = _action_numbers(policy(observations), names, first, count)
        observations, _, terminated, truncated, infos = env.step(chosen + first)
        ended = np.asarray(terminated | truncated, bool)
        for number in np.flatnonzero(~resetting & (np.array(done) < share)):
            recorder, shown, info, where = recorders[number], observations, infos, envs[number]
            if ended[number] and mode == "SAME_STEP":
                shown, info, where = infos["final_obs"], infos.get("final_info", {}), None
            recorder.step(int(chosen[number]), _scene(look, _one(shown, number), _one_info(info, number), where))
            if ended[number]:
                yield recorder.finish(f"{number + 1:03}-{episode_name(done[number])}", bool(terminated[number]))
                done[number] += 1
            elif len(recorder.actions) == steps:
                why = "an episode is longer, and one of many cannot be stopped; set a time limit"
                raise BadSetting("steps", steps, why)
        if mode == "DISABLED" and ended.any():
            observations, infos = env.reset(options={"reset_mask": ended})
        start(np.flatnonzero(resetting if mode == "NEXT_STEP" else ended))
        resetting = ended & (mode == "NEXT_STEP")


def _autoreset_mode(env: Any) -> str:
    """How a vector of environments begins a new episode; Gymnasium before 1.1 knows one way."""
    mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode", "NEXT_STEP")
    return getattr(mode, "name", str(mode))


def _one(batch: Any, number: Any) -> Any:
    if isinstance(batch, dict):
        return {name: _one(part, number) for name, part in batch.items()}
    if isinstance(batch, tuple) and batch and isinstance(batch[0], np.ndarray):
        return tuple(_one(part, number) for part in batch)
    return batch[number]


def _one_info(infos: Any, number: Any) -> dict[str, Any]:
    """What a batch of infos says of one environment: Gymnasium keeps a mask `_name` beside each `name`."""
    told = {}
    for name, values in infos.items():
        mask = infos.get(f"_{name}")
        if mask is not None and mask[number] and not isinstance(values, dict):
            told[name] = values[number]
    return told


# --- What is seen, and what is done


def _default_look(env: Any) -> Look:
    if minigrid.is_minigrid(env):
        return lambda observation, info, env: minigrid.look_at_env(env)
    if _is_world(getattr(env, "world", None)):  # the environment of our own
        from .worlds import look_at_state

        return lambda observation, info, env: look_at_state(env.state, env.world)
    why = "nobody knows how to see a maze in there: a function (observation, info, env) -> Scene tells where things are"
    raise BadSetting("look", None, f"{type(env).__name__}: {why}")


def _scene(look: Look, observation: Any, info: Any, env: Any) -> Scene:
    try:
        scene = look(observation, info, env)
    except AttributeError as error:
        if env is not None or error.obj is not None:
            raise
        why = (
            "there is no environment to give it, only observation and info: each runs in another process, or has begun "
        )
        why += "the next episode already when one ends; a SyncVectorEnv with autoreset_mode NEXT_STEP always has one"
        raise BadSetting("look", f"a function that asks its env, which is None, for {error.name}", why) from error
    if not isinstance(scene, Scene):
        raise BadSetting("look", type(scene).__name__, "must give a Scene")
    return scene


def _names(actions: Sequence[str] | None, env: Any, space: Any) -> tuple[str, ...]:
    count = getattr(space, "n", None)
    if count is None or not 1 <= count <= MOST_ACTIONS:
        raise BadSetting("env.action_space", space, f"must be Discrete, with 1 to {MOST_ACTIONS} actions")
    if actions is None and minigrid.is_minigrid(env) and count <= len(minigrid.ACTIONS):
        actions = minigrid.ACTIONS[:count]
    elif actions is None and _is_world(getattr(env, "world", None)):
        from ..world.gridworld import ACTIONS

        actions = ACTIONS
    elif actions is None:
        actions = [f"action-{number}" for number in range(count)]
    if not isinstance(actions, Iterable):
        raise BadSetting("actions", actions, "must be a list of names")
    names = tuple(actions)
    check_action_names(names)
    if len(names) != count:
        raise BadSetting("actions", names, f"the environment has {count}")
    return names


def _first(space: Any) -> int:
    """Gymnasium's actions may be counted from another number than 0."""
    return int(getattr(space, "start", 0))


def _action_numbers(answers: Any, names: tuple[str, ...], first: int, count: int) -> np.ndarray:
    try:
        answers = list(answers)
    except TypeError:
        answers = [answers]
    if len(answers) != count:
        raise BadSetting("policy", f"{len(answers)} actions", f"must answer with one for each of {count} environments")
    return np.array([action_number(answer, names, first) for answer in answers])
