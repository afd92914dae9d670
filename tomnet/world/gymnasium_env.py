"""The gridworld as a Gymnasium environment, for agents trained with other libraries.

    env = GridworldEnv(MAZE, field_of_view=5)
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Needs the extra: `pip install 'tomnet[gymnasium]'`. One world at a time, for compatibility; thousands at once step
far faster through `step_auto_reset`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..support.errors import BadSetting, needs_extra
from .gridworld import ABSENT, ACTIONS, MAZE, Level, Outcome, State, World, reset_to_level, step
from .levels import format_level, parse_level, reset
from .views import FIRST_OBJECT, check_field_of_view, window

with needs_extra("gymnasium"):
    import gymnasium
    from gymnasium import spaces

NAME = "tomnet/Gridworld-v0"  # for gymnasium.make, once this module is imported
Action = int | np.integer
Reward = Callable[[Outcome], float]

_reset, _step, _window = eqx.filter_jit(reset), eqx.filter_jit(step), eqx.filter_jit(window)


class ObjectRewards:
    """What the paper's agents value: objects, each in their own way, less a cost for every step and every bump."""

    def __init__(self, object_rewards: Sequence[float], move_cost: float = 0.01, wall_cost: float = 0.05):
        self.object_rewards, self.move_cost, self.wall_cost = tuple(object_rewards), move_cost, wall_cost

    def __call__(self, outcome: Outcome) -> float:
        consumed = int(outcome.consumed)
        eaten = self.object_rewards[consumed] if consumed != ABSENT else 0.0
        return float(eaten - self.move_cost - self.wall_cost * bool(outcome.bumped))


class GridworldEnv(gymnasium.Env[np.ndarray, Action]):
    """Observations are planes of the whole map (walls, each object, the agent), or with `field_of_view` the codes
    of the square around the agent. Rewards belong to the agent, so the caller may supply any function of what
    happened; by default the first object is worth 1 and the others nothing.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        world: World = MAZE,
        *,
        field_of_view: int | None = None,
        reward: Reward | None = None,
        render_mode: str | None = None,
    ):
        if render_mode not in (None, "ansi"):
            raise BadSetting("render_mode", render_mode, "the only one is 'ansi'")
        self.world, self.field_of_view, self.render_mode = world, field_of_view, render_mode
        self.reward = reward or ObjectRewards([1.0] + [0.0] * (world.kinds - 1))
        self.action_space = spaces.Discrete(len(ACTIONS))
        if field_of_view is None:
            self.observation_space = spaces.MultiBinary((world.size, world.size, world.kinds + 2))
        else:
            check_field_of_view(field_of_view, 2 * world.size + 1)
            largest, shape = FIRST_OBJECT + world.kinds - 1, (field_of_view, field_of_view)
            self.observation_space = spaces.Box(0, largest, shape, np.int8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A fresh level, or the one in `options={"level": …}`: a `Level`, or its picture."""
        super().reset(seed=seed)
        level_key, self.key = jax.random.split(jax.random.key(int(self.np_random.integers(2**32))))
        level = (options or {}).get("level")
        if isinstance(level, str):
            level = parse_level(level, self.world)
        self.state: State = _reset(level_key, self.world) if level is None else _start(level)
        return self._observation(), {"consumed": ABSENT, "swapped": False, "bumped": False}

    def step(self, action: Action) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.key, step_key = jax.random.split(self.key)
        self.state, outcome = _step(step_key, self.state, jnp.int32(action), self.world)
        outcome = jax.device_get(outcome)
        info = {
            "consumed": int(outcome.consumed),
            "swapped": bool(outcome.swapped),
            "bumped": bool(outcome.bumped),
        }
        ended = bool(outcome.terminated), bool(outcome.truncated)
        return self._observation(), self.reward(outcome), *ended, info

    def render(self) -> str | None:
        return format_level(self.state, self.world) if self.render_mode == "ansi" else None

    def _observation(self) -> np.ndarray:
        if self.field_of_view is not None:
            return np.asarray(_window(self.state, self.field_of_view))
        cells = np.append(np.asarray(self.state.object_cells), self.state.agent_cell)
        where = np.arange(self.world.cells)[:, None] == cells  # an absent object's cell is nowhere
        planes = np.concatenate([np.asarray(self.state.walls).reshape(-1, 1), where], axis=-1)
        return planes.reshape(self.observation_space.shape).astype(np.int8)


def _start(level: Level) -> State:
    return reset_to_level(jax.tree.map(jnp.asarray, level))


gymnasium.register(id=NAME, entry_point=f"{__name__}:GridworldEnv")
