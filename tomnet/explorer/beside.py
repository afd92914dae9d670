"""What stands beside an observer's answer: the exact observer of the same past, and the agent itself.

Of planners and of random agents both are exact. A deep RL agent is led along the current episode again and asked what
it does next and what it believes.
"""

from functools import cache, lru_cache, singledispatch
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..agents.actor_critic import DeepAgent
from ..agents.planner import Planner, PlannerSpecies
from ..agents.random_policy import RandomAgent, RandomSpecies
from ..asking.inputs import TIMES, past_from, with_time
from ..episodes.episode import Episode, QueryState, Snapshot
from ..episodes.predictions import Probabilities
from ..episodes.replay import stand_at_query
from ..experiments.experiment import ObserverSpec
from ..ideal import dirichlet
from ..ideal.distinct_plans import ONE_BY_ONE
from ..ideal.inverse_planning import InversePlanner
from ..ideal.markov_chain import arrivals, chain_of, successor_maps
from ..ideal.paths import find_paths, object_at
from ..support.streams import EVALUATION_STREAM, stream
from ..support.trees import pick
from ..world.gridworld import ACTIONS, MAZE, SUBGOAL_MAZE, World
from ..world.levels import symbols
from .episode_text import Now, read_now
from .observers import seen_recordings, spec_of
from .requests import Choice, Seen
from .said import plain_answer

PARTICLES = 256  # of the exact observer


def beside(
    name: str | None, past: tuple[Seen, ...], text: str, choice: Choice | None, everywhere: bool
) -> dict[str, Any]:
    """`ideal` and `agent`, as an observer's answer is; None where there is none."""
    ideal = None
    if name is not None:
        now = read_now(text, spec_of(name).world)  # which is refused here, whatever the species
        ideal = _exact(spec_of(name).species, name, past, now.query, everywhere)
    return {"ideal": ideal, "agent": None if choice is None else itself(choice, text, everywhere)}


def itself(choice: Choice, text: str, everywhere: bool) -> dict[str, Any]:
    return _itself(choice.agent(), read_now(text, choice.world), everywhere)


@singledispatch
def _exact(
    species: object, name: str, past: tuple[Seen, ...], query: QueryState, everywhere: bool
) -> dict[str, Any] | None:
    """What the exact observer of a species says; None where nobody knows how to be exact."""
    return None


@_exact.register
def _exact_of_planners(
    species: PlannerSpecies, name: str, past: tuple[Seen, ...], query: QueryState, everywhere: bool
) -> dict[str, Any]:
    return _predict(_ideal(species), _posterior(name, past), query, everywhere)


@_exact.register
def _exact_of_random_agents(
    species: RandomSpecies, name: str, past: tuple[Seen, ...], query: QueryState, everywhere: bool
) -> dict[str, Any]:
    policy = dirichlet.predictive(_counts(spec_of(name), past), species.alphas)
    return _same_everywhere(policy, None, None, everywhere)


@singledispatch
def _itself(agent: Any, now: Now, everywhere: bool) -> dict[str, Any]:
    """What an agent is about to do; by its species, since each is another kind of mind."""
    raise NotImplementedError(type(agent))


@_itself.register
def _random_itself(agent: RandomAgent, now: Now, everywhere: bool) -> dict[str, Any]:
    policy = agent.action_probabilities
    return _same_everywhere(policy, *_drift(policy, now.query), everywhere)


@_itself.register
def _planner_itself(agent: Planner, now: Now, everywhere: bool) -> dict[str, Any]:
    # as many copies as there are particles: the program of the exact observer serves this one too
    copies = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (PARTICLES, *leaf.shape)), agent)
    nobody_else = jnp.full(PARTICLES, -np.log(PARTICLES), jnp.float32)
    sure = InversePlanner(copies, nobody_else, jnp.zeros(PARTICLES, bool), MAZE, at_once=ONE_BY_ONE)
    return _predict(sure, nobody_else[None], now.query, everywhere)


@_itself.register
def _deep_itself(agent: DeepAgent, now: Now, everywhere: bool) -> dict[str, Any]:
    action, belief = _mind(agent, now.recent, now.query, SUBGOAL_MAZE)
    return plain_answer(Probabilities(action, consumption=None, successor=None, belief=belief))


def _counts(spec: ObserverSpec, past: tuple[Seen, ...]) -> Float[Array, "action"]:
    if not past:
        return jnp.zeros(len(ACTIONS))
    seen, real = _seen(spec, past)
    assert isinstance(seen, Snapshot)
    return dirichlet.action_counts(seen, real)[0]


def _same_everywhere(policy: Float[Array, "action"], eaten: Any, maps: Any, everywhere: bool) -> dict[str, Any]:
    """Of agents that look at nothing."""
    field = np.broadcast_to(policy, (MAZE.cells, len(ACTIONS))) if everywhere else None
    return plain_answer(Probabilities(policy, consumption=eaten, successor=maps, belief=None), field)


@eqx.filter_jit
def _drift(
    policy: Float[Array, "action"], query: QueryState
) -> tuple[Float[Array, "object"], Float[Array, "gamma row col"]]:
    """What is taken, and where the time goes, when every step is drawn from the same policy."""
    paths = find_paths(query.walls, query.object_cells, MAZE)
    chain = chain_of(paths, jnp.broadcast_to(policy[:, None], (len(ACTIONS), MAZE.cells)))
    arrived = arrivals(chain, jax.nn.one_hot(query.agent_cell, MAZE.cells), MAZE)
    eaten = (object_at(paths) * arrived.sum(0)).sum(-1)
    return eaten, successor_maps(chain, arrived, MAZE).reshape(-1, MAZE.size, MAZE.size)


@cache
def _ideal(species: PlannerSpecies) -> InversePlanner:
    key = stream(0, EVALUATION_STREAM)
    return InversePlanner.for_species(key, species, MAZE, particles=PARTICLES, at_once=ONE_BY_ONE)


@lru_cache(64)
def _posterior(name: str, past: tuple[Seen, ...]) -> Float[Array, "1 particle"]:
    """One episode after the other: what is known already is not worked out again."""
    spec = spec_of(name)
    ideal = _ideal(spec.species)
    if not past:
        return ideal.log_prior[None]
    before, (last, real) = _posterior(name, past[:-1]), _seen(spec, past[-1:])
    return jax.nn.log_softmax(before + ideal.posterior(last, real) - ideal.log_prior)


def _seen(spec: ObserverSpec, past: tuple[Seen, ...]) -> tuple[Episode | Snapshot, Bool[Array, "1 past"]]:
    seen = past_from(seen_recordings(spec, past), spec.observer, tuple(symbols(spec.world)))
    if isinstance(seen, Episode):
        seen = with_time(seen, -(-seen.actions.shape[-1] // TIMES) * TIMES)
    return pick(jax.tree.map(jnp.asarray, seen), jnp.newaxis), jnp.ones((1, len(past)), bool)


def _predict(
    ideal: InversePlanner, log_weights: Float[Array, "1 particle"], query: QueryState, everywhere: bool
) -> dict[str, Any]:
    asked = pick(query, jnp.newaxis)
    said = pick(ideal.predict(log_weights, asked).probabilities(), 0)
    field = ideal.policy_field(log_weights, asked)[0].reshape(-1, 5) if everywhere else None
    return plain_answer(said, field)


@eqx.filter_jit
def _mind(
    agent: DeepAgent, recent: Episode, query: QueryState, world: World
) -> tuple[Float[Array, "action"], Float[Array, "kind place"]]:
    acting = agent.ready()
    now = stand_at_query(acting, recent, query, world)
    policy, memory = acting.policy(now.memory, now.state, now.last, world)
    return policy, acting.belief(memory, world)
