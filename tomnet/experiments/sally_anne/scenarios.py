"""The hand-made Sally-Anne test (Fig. 11): levels drawn so that an agent sees what it likes, walks away from it to the
subgoal, and may or may not see that it was moved meanwhile.

    .@.........     an agent that prefers A starts beside it and is led away, to the right and then down to the
    .A...*.....     subgoal. Where the swap happens, A is 4 cells away: out of a 5×5 field of view, in a 9×9 one. A wall
    ....###....     below leaves two new ways: back to where A was, and the other way, where all else lies.

Turning back to where A was is right as far as the agent can know, unless it has seen A go; whoever knows where A is now
goes the other way. The way back is not the way it came: deep RL agents hardly ever turn on their heels, whatever they
know.
"""

import dataclasses

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Int

from ...agents.actor_critic import DeepAgent
from ...agents.teacher_forcing import TeacherForced
from ...episodes.episode import Episode
from ...episodes.rollout import RolloutState, at_the_subgoal, continue_rollout, start_rollout
from ...ideal.paths import find_paths
from ...support.errors import BadSetting
from ...support.trees import on_device, pick_on_host, stack_on_host
from ...world.gridworld import ACTIONS, MOVES, Level, World
from ...world.levels import LETTERS, parse_level
from .visibility import distance

PREFERRED = 0  # as drawn; other agents get the same level with their letter and A exchanged
DISTANCES = (1, 2, 3, 4, 5, 6)
STEPS = {"u": 0, "d": 1, "l": 2, "r": 3}
FREE, OTHERS = "...........", "........BCD"
"""What else may change places with A lies further away, and the other way, whatever the distance."""
_find_paths = eqx.filter_jit(find_paths)


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One level and the way along which the agent is led."""

    level: Level
    path: tuple[int, ...]  # actions
    distance: int  # from the subgoal to the preferred object
    back: int  # the action that leads from the subgoal back to it

    def for_agent(self, preferred: int) -> Level:
        """The same with that object in the place of A."""
        order = np.arange(len(self.level.object_cells))
        order[[PREFERRED, preferred]] = preferred, PREFERRED
        return Level(self.level.walls, pick_on_host(self.level.object_cells, order), self.level.start_cell)


def drawing(far: int) -> tuple[str, str]:
    """The level whose swap is that far away, and the way to the subgoal."""
    led, liked, wall = ".@" + 9 * ".", f".A{(far - 1) * '.'}*{(9 - far) * '.'}", f"{far * '.'}###{(8 - far) * '.'}"
    return "\n".join((FREE, FREE, led, liked, wall, *(FREE,) * 5, OTHERS)), far * "r" + "d"


def orientations(picture: str, path: str) -> list[tuple[str, str]]:
    """The same story towards each of the four sides: agents need not be as good at turning left as at turning right."""
    rows = picture.split()
    mirrored = [row[::-1] for row in rows], path.translate(str.maketrans("lr", "rl"))
    turned = []
    for lines, way in ((rows, path), mirrored):
        over = ["".join(column) for column in zip(*lines, strict=True)]
        turned.append((over, way.translate(str.maketrans("lrud", "udlr"))))
    return [("\n".join(lines), way) for lines, way in ((rows, path), mirrored, *turned)]


def all_scenarios(world: World, distances: tuple[int, ...] = DISTANCES) -> list[Scenario]:
    scenarios = []
    for far in distances:
        for picture, path in orientations(*drawing(far)):
            scenarios.append(scenario(picture, path, world))
            if scenarios[-1].distance != far:
                raise BadSetting("level", scenarios[-1].distance, f"drawn for a swap at distance {far}")
    return scenarios


def scenario(picture: str, path: str, world: World) -> Scenario:
    """A drawn level and a way such as "rrr", if they tell the story; one line says why not."""
    level = parse_level(picture, world)
    cells = _walk(level, path, world)
    objects = np.asarray(level.object_cells)
    end, liked = cells[-1], objects[PREFERRED]
    far = distance(np.full(world.objects, end), objects[: world.objects], world.size)
    for kind in range(world.objects):
        if objects[kind] < 0:
            raise BadSetting("level", repr(LETTERS[kind]), "is not drawn, and all objects take part in a swap")
        if kind != PREFERRED and far[kind] <= far[PREFERRED]:
            why = f"is as near to the subgoal as {LETTERS[PREFERRED]}, whose going is what may be seen"
            raise BadSetting("level", repr(LETTERS[kind]), why)
    if not (distance(np.asarray(cells[:-1]), np.full(len(cells) - 1, liked), world.size) <= 1).any():
        raise BadSetting("path", path, f"the agent never comes beside {LETTERS[PREFERRED]}, and may not have seen it")
    back = first_steps(level, end, PREFERRED, world)
    if len(back) != 1:
        ways = " and ".join(ACTIONS[action] for action in back)
        raise BadSetting("level", ways, f"both lead back to {LETTERS[PREFERRED]} from the subgoal; one must")
    for kind in range(1, world.objects):
        if back[0] in first_steps(level, end, kind, world):
            why = f"leads to {LETTERS[kind]} as well, so that going there would not tell belief from truth"
            raise BadSetting("level", ACTIONS[back[0]], why)
    return Scenario(level, tuple(STEPS[letter] for letter in path), int(far[PREFERRED]), back[0])


def _walk(level: Level, path: str, world: World) -> list[int]:
    """The cells along the way, which must lead to the subgoal, and there first."""
    walls, objects = np.asarray(level.walls), np.asarray(level.object_cells)
    cells = [int(level.start_cell)]
    if not 0 < len(path) < world.step_limit:
        raise BadSetting("path", repr(path), f"must have between 1 and {world.step_limit - 1} steps")
    for number, letter in enumerate(path, start=1):
        if letter not in STEPS:
            raise BadSetting("path", repr(letter), f"a step is one of {', '.join(STEPS)}")
        row, col = np.divmod(cells[-1], world.size) + MOVES[STEPS[letter]]
        if not (0 <= row < world.size and 0 <= col < world.size) or walls[row, col]:
            raise BadSetting("path", path, f"step {number} walks into a wall")
        cells.append(int(row * world.size + col))
        eaten = np.flatnonzero(objects == cells[-1])
        if len(eaten) and eaten[0] != world.objects:
            raise BadSetting("path", path, f"step {number} eats {LETTERS[eaten[0]]}, and the episode ends")
        if len(eaten) and number < len(path):
            raise BadSetting("path", path, f"the subgoal is reached at step {number} already")
    if cells[-1] != objects[world.objects]:
        row, col = divmod(cells[-1], world.size)
        raise BadSetting("path", path, f"ends in row {row}, col {col}, and not at the subgoal")
    return cells


def first_steps(level: Level, end: int, kind: int, world: World) -> list[int]:
    """The actions that begin a shortest way from the subgoal to that object."""
    terminal = pick_on_host(level.object_cells, slice(world.objects))
    steps = np.array(_find_paths(level.walls, terminal, world).distances)[kind]
    steps[int(level.object_cells[kind])] = 0  # arrived
    if not np.isfinite(steps[end]):
        why = f"cannot be reached from the subgoal in {world.step_limit} steps"
        raise BadSetting("level", repr(LETTERS[kind]), why)
    row, col = divmod(end, world.size)
    shorter = []
    for action, (down, right) in enumerate(MOVES[: len(ACTIONS) - 1]):
        inside = 0 <= row + down < world.size and 0 <= col + right < world.size
        if inside and steps[(row + down) * world.size + col + right] == steps[end] - 1:
            shorter.append(action)
    return shorter


def exchanges(object_cells: np.ndarray, preferred: int, world: World) -> np.ndarray:
    """`[swap, ...]`: the preferred object changes places with each other one in turn."""
    swapped = []
    for other in range(world.objects):
        if other != preferred:
            cells = np.array(object_cells)
            cells[..., [preferred, other]] = cells[..., [other, preferred]]
            swapped.append(cells)
    return np.stack(swapped)


def stacked(scenarios: list[Scenario], preferred: int) -> tuple[Level, jax.Array]:
    """The levels as this agent meets them, and what it is made to do there; at the subgoal it is let go."""
    levels = [each.for_agent(preferred) for each in scenarios]
    longest = max(len(each.path) for each in scenarios)
    stay = ACTIONS.index("stay")
    actions = [each.path + (stay,) * (longest - len(each.path)) for each in scenarios]
    return on_device(stack_on_host(levels)), on_device(np.array(actions, np.int32))


@eqx.filter_jit
def lead(
    agent: DeepAgent, levels: Level, actions: Int[Array, "level time"], world: World
) -> tuple[Episode, RolloutState]:
    """The agent led to the subgoal of each level, its memory running: the way, and where it then stands."""

    def one(level: Level, actions) -> tuple[Episode, RolloutState]:
        led = TeacherForced(agent, actions)
        start = start_rollout(led, level, world)
        # its actions are certain and nothing else is drawn, so any key will do
        partial_rollout = continue_rollout(jax.random.key(0), led, start, world, actions.shape[0], stop=at_the_subgoal)
        return partial_rollout.episode, partial_rollout.end

    return jax.vmap(one)(levels, actions)
