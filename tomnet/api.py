"""The functions of the public face: load observers and agents, let them meet, and ask the one about the other.

What draws is compiled as a whole: step by step, hundreds of small programs would have to be.
"""

from pathlib import Path

import equinox as eqx
from jaxtyping import Array, Float, Key, Scalar

from . import zoo
from .agents.agent import Agent
from .agents.population import Population
from .episodes import encounter, rollout
from .episodes.encounter import Encounter, EncounterSpec
from .episodes.episode import Episode, Snapshot
from .episodes.history import History
from .episodes.predictions import Probabilities
from .observer.checkpoint import load_observer
from .observer.tomnet import ToMnet, ask
from .support.errors import BadSetting, nearest
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


def load(name: str) -> ToMnet:
    """A pretrained observer by its name, `experiment/observer` (docs/observers.md has them all), or one from its file.

    >>> tomnet.load("goal-inference/2d").config.heads
    ('action', 'consumption', 'successor')
    """
    if name.endswith(".safetensors"):
        return load_observer(Path(name))[0]
    known = zoo.names()
    if name not in known:
        raise nearest(name, known, "observer")
    experiment, observer = name.split("/")
    return zoo.load_one(experiment, observer)


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
    return _draw_encounters(key, agents, world, encounter_spec, past)


@eqx.filter_jit
def _draw_encounters(
    key: Key[Scalar, ""], agents: eqx.Module, world: World, encounter_spec: EncounterSpec, past: int | None
) -> Encounter:
    return encounter.draw_encounters(key, agents, rollout.play(world), encounter_spec, past=past)


def play(key: Key[Scalar, ""], agent: Agent, level: Level, world: World) -> Episode:
    """One episode of one agent on one level: `[time]`, as long as the world's step limit.

    >>> world = tomnet.World(size=3, objects=1, max_walls=0, step_limit=4)
    >>> level = tomnet.parse_level("@.A\\n...\\n...", world)
    >>> agent = jax.tree.map(lambda leaf: leaf[0], tomnet.PlannerSpecies(objects=1).sample(jax.random.key(0), 1))
    >>> episode = tomnet.play(jax.random.key(1), agent, level, world)
    >>> episode.actions[: episode.length].tolist(), episode.consumed[: episode.length].tolist()
    ([3, 3], [-1, 0])
    """
    return _play(key, agent, level, world)


_play = eqx.filter_jit(rollout.rollout)


def observe(observer: ToMnet, seen: Encounter | History, query: Snapshot | None = None) -> Answers:
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
    if isinstance(seen, Encounter):
        each = seen.one_by_one()
        seen, query = each.history, each.query if query is None else query
    if query is None:
        raise BadSetting("query", query, "a history ends before a state that the observer is asked about: name one")
    reading = ask(observer, seen, query)
    said = reading.predictions.probabilities()
    return Answers(said.action, said.consumption, said.successor, said.belief, character=reading.character.mean)
