"""Do agents act on what they remember? The hand-made Sally-Anne test without a swap, beside a level without its memory.

    .@.........     .@.........     Led from @ to the subgoal, the agent has passed A on the left, and on the right has
    .A...*.....     .....*.....     seen the same walls and an empty cell. At the subgoal it sees A in neither once it
    ....###....     ....###....     is further away than the field of view: only a memory then tells the two apart.
    ...........     ..........A
    ........BCD     ........BCD     Who acts on it steps back to the left more often where A was.

On the right A lies as far from its place as a free cell can, at least 6 cells from every cell of the walk: out of view
of even 9×9 agents, who see 4 cells far, at every distance. (Where, out of view, makes no difference to what they do.)
Distances 5 and 6 are beyond their view, all are beyond that of the blind, to whom both levels are the same.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...agents.actor_critic import DeepAgent
from ...episodes.rollout import RolloutState
from ...support.errors import BadSetting
from ...world.gridworld import ABSENT, ACTIONS, MOVES, Level, Outcome, World
from ...world.levels import LETTERS
from ..analysis.statistics import NetworkMean, over_networks
from .scenarios import PREFERRED, Scenario, first_steps, lead, stacked
from .swap_effects import look_around, without_swaps
from .visibility import distance

TURNING_GOALS = {"5x5": 0.7, "7x7": 0.7, "9x9": 0.7}  # beyond their view, set before these were trained


@dataclasses.dataclass(frozen=True)
class TurningBackAt:
    distance: int
    in_view: bool
    turning_back: NetworkMean
    never_there: NetworkMean


@dataclasses.dataclass(frozen=True)
class ActsOnMemory:
    """How likely networks of one condition are to step back to where the preferred object was last seen."""

    reach: int
    scenarios: int  # beyond their view
    beyond_view: NetworkMean  # where it is out of sight now
    never_there: NetworkMean  # the same step, there, where it never was
    by_distance: list[TurningBackAt]


def acts_on_memory(agents: list[DeepAgent], scenarios: list[Scenario], world: World) -> ActsOnMemory:
    reach = int(agents[0].senses.reach)
    controls = [never_there(each, reach, world) for each in scenarios]
    there, never = (np.stack([turning_back(agent, test, world) for agent in agents]) for test in (scenarios, controls))
    far = np.array([each.distance for each in scenarios])

    def means(chosen: np.ndarray) -> tuple[NetworkMean, NetworkMean]:
        return _mean(there[:, chosen]), _mean(never[:, chosen])

    by_distance = [TurningBackAt(int(cells), bool(cells <= reach), *means(far == cells)) for cells in np.unique(far)]
    return ActsOnMemory(reach, int((far > reach).sum()), *means(far > reach), by_distance)


def _mean(probabilities: np.ndarray) -> NetworkMean:
    """`[network, scenario]`; not a number where no scenario counts."""
    networks, scenarios = probabilities.shape
    return over_networks(probabilities.mean(1) if scenarios else np.full(networks, np.nan))


def turning_back(agent: DeepAgent, scenarios: list[Scenario], world: World) -> np.ndarray:
    """The probability of the step back from the subgoal of each scenario, for a canonical agent led there."""
    world = without_swaps(world)
    _, rollout_state = lead(agent, *stacked(scenarios, PREFERRED), world)
    policy, _ = look_around(agent, rollout_state, world)
    return np.asarray(policy, np.float64)[np.arange(len(scenarios)), [each.back for each in scenarios]]


def never_there(scenario: Scenario, reach: int, world: World) -> Scenario:
    """The same walk through the same level, the preferred object as many steps from its place as a free cell can be.

    It must not lie where the step back leads, nor come into view on a walk that ends with its place out of view.
    """
    level, letter = scenario.level, LETTERS[PREFERRED]
    start = divmod(int(level.start_cell), world.size)
    walk = np.cumsum([start, *MOVES[list(scenario.path)]], axis=0) @ (world.size, 1)
    cell = _furthest_free_cell(level, walk, world)
    if distance(walk, np.full(len(walk), cell), world.size).min() <= reach < scenario.distance:
        raise BadSetting("level", repr(letter), "is in view on the walk even in the free cell furthest from its place")
    moved = eqx.tree_at(lambda level: level.object_cells, level, level.object_cells.at[PREFERRED].set(cell))
    if scenario.back in first_steps(moved, int(walk[-1]), PREFERRED, world):
        why = f"leads to {letter} where it was never seen as well, so that the step would not tell what is remembered"
        raise BadSetting("level", ACTIONS[scenario.back], why)
    return dataclasses.replace(scenario, level=moved)


def _furthest_free_cell(level: Level, walk: np.ndarray, world: World) -> int:
    """From the preferred object, in rows and cols together."""
    objects = np.asarray(level.object_cells, int)
    free = ~np.asarray(level.walls).reshape(-1)
    free[[*objects[objects != ABSENT], *walk]] = False
    rows, cols = np.divmod(np.arange(world.cells), world.size)
    row, col = divmod(objects[PREFERRED], world.size)
    return int(np.where(free, abs(rows - row) + abs(cols - col), -1).argmax())


@dataclasses.dataclass(frozen=True)
class DependsOnPast:
    """The largest change of any action's probability that another past makes, in states that each network came to."""

    largest_change: float
    each: list[float]  # network
    states: int
    pasts: int


def depends_on_past(agents: list[DeepAgent], rollout_state: list[RolloutState], world: World) -> DependsOnPast:
    """All pasts of a state go through one compiled program, in the same place of the same batch: where the past does
    not matter at all, the change is exactly 0."""
    each = []
    for agent, mine in zip(agents, rollout_state, strict=True):
        policies = [look_around(agent, past, without_swaps(world))[0] for past in other_pasts(mine, world)]
        each.append(float(np.ptp(np.stack(policies), axis=0).max()))
    states = sum(int(mine.alive.shape[0]) for mine in rollout_state)
    return DependsOnPast(max(each), each, states, len(ACTIONS))


def other_pasts(rollout_state: RolloutState, world: World) -> list[RolloutState]:
    """The same states `[state]`, once after each action: that was worth something else, and with the memory of an agent
    that had come to another state."""
    no, count = jnp.zeros_like(rollout_state.alive), rollout_state.alive.shape[0]
    pasts = []
    for action in range(len(ACTIONS)):
        bumped = action % 2 == 1
        consumed = ABSENT if bumped else world.objects
        taken, eaten = (jnp.full(count, what, jnp.int32) for what in (action, consumed))
        last = Outcome(taken, eaten, no | bumped, no, no, no)
        memory = jax.tree.map(lambda leaf, by=action: jnp.roll(leaf, by, axis=0), rollout_state.memory)
        pasts.append(RolloutState(rollout_state.state, memory, last, rollout_state.alive))
    return pasts
