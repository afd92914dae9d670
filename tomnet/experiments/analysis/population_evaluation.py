"""What a population of deep RL agents is like, before any observer meets it (sections 3.3 and 3.4, agents' side).

    tables, claims = evaluate_population(populations, levels=64, seed=0)

How well each condition does its task beside an oracle and a random walker, how good the beliefs are that it reports,
what swaps do to it, whether it acts on what it remembers, and which hand it follows walls with. All on levels that no
network was trained or chosen on.
With 64 levels a network takes about 2.3 CPU-seconds (32 channels, 16 of memory), compilation about 40 once.

Every network meets levels of its own, so that the spread over networks holds the luck of the levels as well. The first
networks of all conditions meet the same, and so do the second ones, and so on: conditions stay comparable, and oracle
and random walker meet all of them.

Every network is measured as it was trained, preferring object 0. Its other agents are the same weights in a world
with two objects exchanged: they would add time and no information.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...agents.agent import Agent
from ...agents.oracle import Oracle
from ...agents.population import Population, senses_of
from ...agents.random_policy import RandomAgent
from ...support.errors import BadSetting
from ...support.progress import stage
from ...support.streams import EVALUATION_STREAM, stream
from ...support.trees import pick
from ...support.words import counted
from ...world.gridworld import ACTIONS, SUBGOAL_MAZE, Level, World
from ...world.levels import draw_levels
from ..claims.claim import Claim
from ..sally_anne.acts_on_memory import ActsOnMemory, DependsOnPast, acts_on_memory, depends_on_past
from ..sally_anne.scenarios import Scenario, all_scenarios
from ..sally_anne.swap_claims import swap_claims
from ..sally_anne.swap_effects import SwapTable, swap_pairs, swap_table
from ..sally_anne.swap_examples import EXAMPLE_ROLLOUTS, SwapExamples, swap_examples
from .belief_quality import BeliefQuality, Statements, belief_quality, reported
from .handedness import Handedness, handedness, moves_along_walls
from .performance import Performance, behave, measures, performance, reference_performance
from .reachability import Reachable, levels_with_a_way

PREFERRED = 0
RETURN_GOALS = {"3x3": 0.95, "5x5": 1.15, "9x9": 1.3, "stateless-5x5": 0.55}  # set before these were trained
EXAMPLE_CONDITION = "5x5"  # the condition of Fig. 10


@dataclasses.dataclass(frozen=True)
class PopulationTables:
    """By condition; of performance and handedness also those of the references."""

    levels: int
    swap_levels: int
    seed: int
    performance: dict[str, Performance]
    beliefs: dict[str, BeliefQuality]
    swaps: dict[str, SwapTable]
    acts_on_memory: dict[str, ActsOnMemory]
    depends_on_past: dict[str, DependsOnPast]
    handedness: dict[str, Handedness]
    examples: SwapExamples


def evaluate_population(
    populations: dict[str, Population],
    *,
    levels: int,
    swap_levels: int | None = None,
    seed: int,
    world: World = SUBGOAL_MAZE,
    rollouts: int = EXAMPLE_ROLLOUTS,
    scenarios: list[Scenario] | None = None,
) -> tuple[PopulationTables, list[Claim]]:
    """The tables and the claims F1 and F7, of any of the conditions, by name.

    `levels` are those of each network. Swaps are measured on others, twice as many unless told otherwise: few episodes
    come by the preferred object and eat the subgoal first. Memory is tested on the hand-made `scenarios` of Fig. 11,
    or on those given.
    """
    if not populations:
        raise BadSetting("populations", "none", "there must be at least one condition")
    swap_levels = 2 * levels if swap_levels is None else swap_levels
    for name, count in (("levels", levels), ("swap_levels", swap_levels)):
        if count < 1:
            raise BadSetting(name, count, "must be above 0")
    stage("levels, the oracle and the random walk")
    level_key, reference_key, act_key, swap_key, example_key = jax.random.split(stream(seed, EVALUATION_STREAM), 5)
    courses = draw_courses(level_key, max(map(len, populations.values())), levels, swap_levels, world)
    tables = PopulationTables(levels, swap_levels, seed, {}, {}, {}, {}, {}, {}, {})
    scenarios = all_scenarios(world) if scenarios is None else scenarios
    for (name, agent), key in zip(references().items(), jax.random.split(reference_key)):
        tables.performance[name], tables.handedness[name] = _measure_reference(key, agent, courses, world)
    for number, (name, population) in enumerate(populations.items(), 1):
        networks = f"{counted(len(population), 'network')}, {counted(levels, 'level')} each"
        stage(f"[{number}/{len(populations)}] {name}, {networks}")
        agents = canonical_agents(population)
        tables.performance[name], tables.beliefs[name], hands = _measure_behaviour(act_key, agents, courses, world)
        tables.handedness[name] = handedness(hands, population.parts)
        pairs = [
            swap_pairs(jax.random.fold_in(swap_key, network), agent, course.ways, world)
            for network, (agent, course) in enumerate(zip(agents, courses))
        ]
        tables.swaps[name] = swap_table(pairs)
        tables.acts_on_memory[name] = acts_on_memory(agents, scenarios, world)
        tables.depends_on_past[name] = depends_on_past(agents, [each.rollout_state for each in pairs], world)
        if name == EXAMPLE_CONDITION:
            tables.examples.update(swap_examples(example_key, agents, pairs, world, rollouts))
    return tables, swap_claims(tables.swaps)


def _measure_reference(
    key: Key[Scalar, ""], agent: Agent, courses: "list[Course]", world: World
) -> tuple[Performance, Handedness]:
    measured, hands = [], []
    for number, course in enumerate(courses):
        episodes, _ = behave(jax.random.fold_in(key, number), agent, course.mazes, world)
        measured.append(measures(episodes, PREFERRED, course.reachable, world))
        hands.append(moves_along_walls(episodes))
    left, right = (np.concatenate(moves) for moves in zip(*hands))
    return reference_performance(measured), handedness([(left, right)])


def _measure_behaviour(
    key: Key[Scalar, ""], agents: list[DeepAgent], courses: "list[Course]", world: World
) -> tuple[Performance, BeliefQuality, list[tuple[np.ndarray, np.ndarray]]]:
    """Of one condition; last, each network's moves along walls at its left and at its right hand."""
    measured, stated, hands = [], [], []
    for network, (agent, course) in enumerate(zip(agents, courses)):
        episodes, told = behave(jax.random.fold_in(key, network), agent, course.mazes, world, record=reported)
        measured.append(measures(episodes, PREFERRED, course.reachable, world))
        stated.append(Statements(episodes, told, int(agent.senses.reach)))
        hands.append(moves_along_walls(episodes))
    return performance(measured), belief_quality(stated, world), hands


def references() -> dict[str, Agent]:
    uniform = jnp.full(len(ACTIONS), 1 / len(ACTIONS))
    return {"oracle": Oracle(jnp.int32(PREFERRED)), "random": RandomAgent(uniform)}


def canonical_agents(population: Population) -> list[DeepAgent]:
    """Each network by itself: one compiled program then serves any number of them, with the largest products."""
    senses = pick(senses_of([population.condition]), 0)
    networks = [pick(population.networks, i) for i in range(len(population))]
    return [DeepAgent(network, senses, jnp.int32(PREFERRED)) for network in networks]


@dataclasses.dataclass(frozen=True)
class Course:
    """The levels that one network of each condition meets."""

    mazes: Level
    reachable: Reachable  # on the mazes
    ways: Level  # to measure swaps on


def draw_courses(key: Key[Scalar, ""], count: int, levels: int, swap_levels: int, world: World) -> list[Course]:
    """Each depends on its number alone, not on how many there are."""

    def one(key) -> Course:
        maze_key, way_key = jax.random.split(key)
        mazes = draw_levels(maze_key, levels, world)
        return Course(mazes, Reachable(mazes, world), levels_with_a_way(way_key, swap_levels, world))

    return [one(jax.random.fold_in(key, number)) for number in range(count)]
