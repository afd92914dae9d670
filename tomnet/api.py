"""The functions of the public face: load observers and agents, let them meet, and ask the one about the other.

What draws is compiled as a whole: step by step, hundreds of small programs would have to be.
"""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, overload

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, Scalar

from . import zoo
from .agents.agent import Agent
from .agents.population import Population
from .asking import agent_model
from .asking.agent_model import AgentModel
from .asking.inputs import Past
from .asking.validation import check, check_observer
from .episodes import rollout, sampling
from .episodes.encounter import Encounter, EncounterSpec
from .episodes.episode import Episode, QueryState
from .episodes.faults import arrays_of, find_blocked, find_fault
from .episodes.history import History
from .episodes.predictions import Probabilities
from .fit.fitted_observer import FittedAgent, FittedObserver, is_fitted, load_fitted
from .observer.tomnet import ToMnet, ask
from .recordings.recording import Recording
from .support.errors import BadSetting, TomnetError
from .support.files import FilePath
from .support.words import counted
from .world.gridworld import Level, World


class Answers(Probabilities):
    """What an observer says of each agent in its query state, as probabilities, and who it takes the agent to be.

    `action [agent, action]`, `consumption [agent, object]`, `successor [agent, gamma, row, col]` and
    `belief [agent, object, place]` (the last place is nowhere); None where the observer has no such head.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> answers = tomnet.observe(tomnet.load("goal-inference/2d"), encounters)
    >>> answers.action.shape, answers.consumption.shape, answers.successor.shape, answers.belief
    ((4, 5), (4, 4), (4, 3, 11, 11), None)
    >>> answers.character.shape
    (4, 2)
    """

    character: Float[Array, "*batch feature"]  # the embedding; of a posterior, its mean
    deviation: Float[Array, "*batch feature"] | None  # and its standard deviation; None: no bottleneck, no posterior


def load(name: FilePath) -> ToMnet:
    """A pretrained observer by its name, `experiment/observer` (docs/observers.md has them all), or one from its file.

    >>> tomnet.load("goal-inference/2d").config.heads
    ('action', 'consumption', 'successor')
    """
    return zoo.load_named(name)


def load_agents(condition: str) -> Population:
    """The pretrained deep RL agents of a condition: `blind`, `3x3`, `5x5`, `7x7`, `9x9` or `stateless-5x5`.

    >>> population = tomnet.load_agents("5x5")
    >>> len(population)  # networks, the best first; each can be after any of the objects
    20
    >>> agent = population.agent(network=3, preferred=1)  # the fourth best; it is after object B
    """
    return zoo.agents(condition)


def draw_encounters(
    key: Key[Scalar, ""], agents: eqx.Module, world: World, encounter_spec: EncounterSpec, *, past: int | None = None
) -> Encounter:
    """One encounter with each agent of a population (its arrays' leading axis), on levels drawn for the occasion.

    `past` episodes are seen of each, or a number drawn between the spec's `min_past` and `max_past`.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> encounters.past.actions.shape, encounters.query.agent_cell.shape  # [agent, past, time] and [agent]
    ((4, 1, 31), (4,))
    """
    if any(jnp.ndim(leaf) == 0 for leaf in jax.tree.leaves(agents)) or not isinstance(agents, Agent):
        why = "should be a population: agents whose arrays have a leading axis, as `species.sample` gives them"
        raise BadSetting("agents", type(agents).__name__, why)
    return _draw_encounters(key, agents, world, encounter_spec, past)


@eqx.filter_jit
def _draw_encounters(
    key: Key[Scalar, ""], agents: eqx.Module, world: World, encounter_spec: EncounterSpec, past: int | None
) -> Encounter:
    return sampling.draw_encounters(key, agents, rollout.play(world), encounter_spec, past=past)


def play(key: Key[Scalar, ""], agent: Agent, level: Level, world: World) -> Episode:
    """One episode of one agent on one level: `[time]`, as long as the world's step limit.

    >>> world = tomnet.World(size=3, objects=1, max_walls=0, step_limit=4)
    >>> level = tomnet.parse_level("@.A\\n...\\n...", world)
    >>> agent = jax.tree.map(lambda leaf: leaf[0], tomnet.PlannerSpecies(objects=1).sample(jax.random.key(0), 1))
    >>> episode = tomnet.play(jax.random.key(1), agent, level, world)
    >>> episode.actions[: episode.length].tolist(), episode.consumed[: episode.length].tolist()
    ([3, 3], [-1, 0])
    """
    if not isinstance(agent, Agent):
        why = "should have ready, start and policy; `tomnet.record` takes any function as the policy"
        raise BadSetting("agent", type(agent).__name__, why)
    _check_level(level, world)
    return _play(key, agent, level, world)


def _check_level(level: Level, world: World) -> None:
    start = QueryState(level.walls, level.start_cell, level.object_cells)
    arrays = arrays_of("level", start)
    fault = find_fault(QueryState, arrays) or find_blocked(QueryState, arrays)
    if fault:
        raise TomnetError(f"level.{fault.replace('agent_cell', 'start_cell')}")
    if arrays["walls"].shape != (world.size, world.size):
        grid = "×".join(map(str, arrays["walls"].shape))
        raise BadSetting("level.walls", grid, f"a single level of this world is {world.size}×{world.size}")
    if arrays["object_cells"].shape != (world.kinds,):
        raise BadSetting(
            "level.object_cells", counted(arrays["object_cells"].shape[0], "object"), f"this world has {world.kinds}"
        )


_play = eqx.filter_jit(rollout.rollout)


def observe(observer: ToMnet, seen: Encounter | History, query: QueryState | None = None) -> Answers:
    """What an observer says of some agents, by what it has seen of them: a batch, one query for each.

    An encounter comes with its query; about a history, or to ask something else, `query` says in which states.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> observer = tomnet.load("goal-inference/2d")
    >>> answers = tomnet.observe(observer, encounters)
    >>> same = tomnet.observe(observer, encounters.history, encounters.query)
    >>> bool((answers.action == same.action).all()), answers.action.sum(-1).round(3).tolist()
    (True, [1.0, 1.0, 1.0, 1.0])
    """
    check_observer(observer)
    if not isinstance(seen, Encounter | History):
        why = "should be an Encounter or a History; `tomnet.meet(observer, recordings)` takes recordings of an agent"
        raise BadSetting("seen", type(seen).__name__, why)
    if isinstance(seen, Encounter):
        each = seen.one_by_one()
        seen, query = each.history, each.query if query is None else query
    if query is None:
        raise BadSetting("query", query, "a history ends before a state that the observer is asked about: name one")
    check(observer, seen, query)
    reading = ask(observer, seen, query)
    said, who = reading.predictions.probabilities(), reading.character
    deviation = None if who.log_variance is None else jnp.exp(0.5 * who.log_variance)
    return Answers(said.action, said.consumption, said.successor, said.belief, character=who.mean, deviation=deviation)


@overload
def meet(observer: FittedObserver, past: Iterable[Recording]) -> FittedAgent: ...
@overload
def meet(observer: ToMnet, past: Past, *, objects: Sequence[str] | None = None) -> AgentModel: ...
@overload
def meet(observer: FilePath, past: Past, *, objects: Sequence[str] | None = None) -> Any: ...
def meet(observer: ToMnet | FittedObserver | FilePath, past: Any, *, objects: Sequence[str] | None = None) -> Any:
    """Lets an observer, or the one of this name, meet an agent through its past; the model that it makes of the agent
    can be asked about any state, and follows an episode step by step.

    `past`: recordings, or episodes or snapshots of our own, in a list or stacked. `objects` says what the kinds of
    objects are called, where that is not `A`, `B`, … and `*` for a subgoal. The folder of a `tomnet fit` is an observer
    as well: it takes recordings, knows objects by their letters, and is asked state by state.

    >>> (walk,) = tomnet.record(tomnet.MAZE, lambda scene: "right", episodes=1, agent="ann", seed=3)
    >>> ann = tomnet.meet("greedy-agents/greedy", [walk])
    >>> said = ann.ask("@..........\\n" + "...........\\n" * 9 + "A.B..C....D")
    >>> said.action["down"] + said.action["right"] > 0.9, said.consumption.names, said.successor[0.9].shape
    (True, ('A', 'B', 'C', 'D'), (11, 11))
    """
    if isinstance(observer, str | PathLike):
        observer = load_fitted(observer) if is_fitted(observer) else load(str(observer))
    if isinstance(observer, ToMnet):
        return agent_model.meet(observer, past, objects)
    if not isinstance(observer, FittedObserver):
        raise BadSetting("observer", observer, "must be an observer, or the name or the folder of one")
    if objects is not None:
        raise BadSetting("objects", repr(objects)[:200], "a fitted observer knows objects by their letters")
    return observer.meet(past)
