"""What stands beside an observer's answer: the exact observer of the same past, and the agent itself.

Of planners both are exact. A deep RL agent is led along the current episode again and asked what it does next and what
it believes.
"""

from functools import cache, lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..agents.actor_critic import DeepAgent
from ..agents.planner import Planner, PlannerSpecies
from ..asking.inputs import TIMES, past_from, with_time
from ..episodes.episode import Episode, QueryState, Snapshot
from ..episodes.predictions import Probabilities
from ..episodes.replay import stand_at_query
from ..experiments.experiment import ObserverSpec
from ..ideal.distinct_plans import ONE_BY_ONE
from ..ideal.inverse_planning import InversePlanner
from ..support.streams import EVALUATION_STREAM, stream
from ..support.trees import pick
from ..world.gridworld import MAZE, SUBGOAL_MAZE, World
from ..world.levels import symbols
from .acting import agent_of
from .observers import seen_recordings, spec_of
from .requests import DeepChoice, PlannerChoice, Seen
from .said import plain_answer
from .texts import read_now

PARTICLES = 256  # of the exact observer
Choice = PlannerChoice | DeepChoice | None


def beside(name: str | None, past: tuple[Seen, ...], text: str, choice: Choice, everywhere: bool) -> dict[str, Any]:
    """`ideal` and `agent`, as an observer's answer is; None where there is none."""
    spec = None if name is None else spec_of(name)
    ideal = None
    if spec is not None and isinstance(spec.species, PlannerSpecies):
        query = read_now(text, spec.world).query
        ideal = _predict(_ideal(spec.species), _posterior(str(name), past), query, everywhere)
    return {"ideal": ideal, "agent": None if choice is None else itself(choice, text, everywhere)}


def itself(choice: PlannerChoice | DeepChoice, text: str, everywhere: bool) -> dict[str, Any]:
    agent = agent_of(choice)
    if isinstance(agent, Planner):
        # as many copies as there are particles: the program of the exact observer serves this one too
        copies = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (PARTICLES, *leaf.shape)), agent)
        nobody_else = jnp.full(PARTICLES, -np.log(PARTICLES), jnp.float32)
        sure = InversePlanner(copies, nobody_else, jnp.zeros(PARTICLES, bool), MAZE, at_once=ONE_BY_ONE)
        return _predict(sure, nobody_else[None], read_now(text, MAZE).query, everywhere)
    assert isinstance(agent, DeepAgent)
    now = read_now(text, SUBGOAL_MAZE)
    action, belief = _mind(agent, now.recent, now.query, SUBGOAL_MAZE)
    return plain_answer(Probabilities(action, consumption=None, successor=None, belief=belief))


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
