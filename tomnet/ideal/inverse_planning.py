"""The exact observer of goal-driven agents (section 3.2): Bayesian inverse planning over particles.

A particle is an agent that the species might hold, with its prior probability. Each past episode weighs the
particles by how likely they were to act so; predictions average what the particles would do. Up to the
number of particles this is the best that any observer can do.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..agents.planner import Planner, PlannerSpecies, is_greedy
from ..episodes.encounter import Encounter
from ..episodes.episode import Episode, QueryState, Snapshot
from ..episodes.predictions import Predictions
from ..episodes.targets import GAMMAS
from ..support.errors import BadSetting
from ..support.trees import concatenate_on_host, on_host, pick
from ..support.words import counted
from ..world.gridworld import ACTIONS, World
from .batching import chunks, in_chunks
from .distinct_plans import MANY, AtOnce, PlanForecast, find_all_paths, forecast_each_plan
from .markov_chain import arrivals, chain_of, consumption_everywhere, snapshot_probability, successor_maps
from .paths import Paths, choices, object_at, policy, standing_cells
from .planner_prior import spread_particles

ENCOUNTERS = 256  # how many are worked on at a time
PARTICLES = 1024  # four times as many change no loss by more than 0.001 nats
NEGLIGIBLE = 1e-5  # posterior probability that predictions may leave out, all particles together


class InversePlanner(eqx.Module):
    """Knows the species, the levels and how planners plan; all it has to infer is which agent this is.

    With probability `lapse` anything may happen: an agent takes any action, a prediction is uniform. That
    keeps the posterior defined where no particle explains what was seen.

    >>> agents = tomnet.PlannerSpecies().sample(jax.random.key(0), 4)
    >>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
    >>> species = tomnet.PlannerSpecies()
    >>> ideal = tomnet.InversePlanner.for_species(jax.random.key(2), species, tomnet.MAZE, particles=16)
    >>> ideal.observe(encounters).probabilities().consumption.shape  # [agent, object]
    (4, 4)
    """

    agents: Planner
    log_prior: Float[Array, "particle"]
    greedy: Bool[Array, "particle"]
    world: World
    lapse: float = eqx.field(static=True, default=1e-4)
    at_once: AtOnce = eqx.field(static=True, default=MANY)

    def __check_init__(self):
        if self.world.subgoal:
            raise BadSetting("World.subgoal", True, "inverse planning takes eating for the end of the episode")
        if self.agents.object_rewards.shape[-1] != self.world.objects:
            why = f"the agents value {counted(self.agents.object_rewards.shape[-1], 'object')}"
            raise BadSetting("World.objects", self.world.objects, why)
        if not 0 < self.lapse < 1:
            raise BadSetting("lapse", self.lapse, "must lie between 0 and 1")

    @classmethod
    def for_species(
        cls,
        key: Key[Scalar, ""],
        species: PlannerSpecies,
        world: World,
        *,
        particles: int = PARTICLES,
        at_once: AtOnce = MANY,
    ) -> "InversePlanner":
        agents, log_prior = spread_particles(key, species, particles)
        return cls(agents, log_prior, is_greedy(agents, species), world, at_once=at_once)

    def observe(self, encounters: Encounter, *, visitation: bool = True) -> Predictions:
        """`posterior`, then `predict`."""
        log_weights = self.posterior(encounters.past, encounters.past_real, visitation=visitation)
        return self.predict(log_weights, encounters.query)

    def posterior(
        self,
        past: Episode | Snapshot,
        past_real: Bool[Array, "agent past"],
        *,
        visitation: bool = True,
    ) -> Float[Array, "agent particle"]:
        """The log-probability of each particle given the real past episodes; the prior if there are none.

        A snapshot is one state/action pair from a time unknown. Where the agent then was is evidence too, unless
        `visitation` is off.
        """

        def likelihoods(seen: Episode | Snapshot) -> Float[np.ndarray, "episode particle"]:
            return self._of_snapshots(seen, visitation) if isinstance(seen, Snapshot) else self.of_episodes(seen)

        return self.weigh(past, past_real, likelihoods)

    def weigh(
        self, past: Any, past_real: Bool[Array, "agent past"], likelihoods: Callable[[Any], np.ndarray]
    ) -> Float[Array, "agent particle"]:
        """The posterior from log-likelihoods of what was seen: arrays `[agent, past, …]` in, `[episode, particle]` out
        for those that are real."""
        past, past_real = on_host((past, past_real))
        log_weights = np.tile(np.asarray(self.log_prior), (past_real.shape[0], 1))
        for part in chunks(past_real.shape[0], ENCOUNTERS):
            who, which = past_real[part].nonzero()
            if len(who):
                np.add.at(log_weights[part], who, likelihoods(pick(pick(past, part), (who, which))))
        return jax.nn.log_softmax(jnp.asarray(log_weights))

    def predict(self, log_weights: Float[Array, "agent particle"], query: QueryState) -> Predictions:
        """The expected targets of an episode that starts in the query state."""
        action, eaten, successor = self._average(_targets, log_weights, query)
        size = self.world.size
        eaten = self._with_lapse(eaten, self.world.objects + 1)
        return Predictions(
            action=jnp.log(self._with_lapse(action, len(ACTIONS))),
            consumption=jnp.log(eaten) - jnp.log1p(-eaten),
            successor=jnp.log(self._with_lapse(successor, size * size)).reshape(-1, len(GAMMAS), size, size),
        )

    def policy_field(
        self, log_weights: Float[Array, "agent particle"], query: QueryState
    ) -> Float[Array, "agent row col action"]:
        """The expected policy with every cell as the start (Fig. 5c); zero where no one stands."""
        policies = self._average(_policy_everywhere, log_weights, query)
        return jnp.moveaxis(policies, 1, -1).reshape(-1, self.world.size, self.world.size, len(ACTIONS))

    def consumption_field(
        self, log_weights: Float[Array, "agent particle"], query: QueryState
    ) -> Float[Array, "agent row col object"]:
        """The probability of each object with every cell as the start (Fig. 6); zero where no one stands."""
        eaten = self._average(_consumption_everywhere, log_weights, query)
        return jnp.moveaxis(eaten, 1, -1).reshape(-1, self.world.size, self.world.size, self.world.objects)

    def greedy_probability(self, log_weights: Float[Array, "agent particle"]) -> Float[Array, "agent"]:
        """The posterior probability that the agent belongs to the greedy share of its species."""
        return jnp.where(self.greedy, jnp.exp(log_weights), 0.0).sum(-1)

    def preferred_object(self, log_weights: Float[Array, "agent particle"]) -> Float[Array, "agent object"]:
        """The posterior probability that each object is the one the agent values most."""
        prefers = jax.nn.one_hot(self.agents.preferred, self.world.objects)
        return jnp.exp(log_weights) @ prefers

    def distances(self, query: QueryState) -> Float[Array, "agent object"]:
        """Steps from the agent's cell to each object, round the others; inf if the step limit comes first."""
        paths = find_all_paths(np.asarray(query.walls), np.asarray(query.object_cells), self.world, self.at_once)
        return jnp.asarray(paths.distances)[jnp.arange(len(paths.walls)), :, query.agent_cell]

    def reachable(self, query: QueryState) -> Bool[Array, "agent object"]:
        """Which objects the agent can eat before the episode ends."""
        return jnp.isfinite(self.distances(query))

    def _with_lapse(self, probabilities, outcomes):
        return (1 - self.lapse) * probabilities + self.lapse / outcomes

    def of_episodes(self, seen: Episode) -> Float[np.ndarray, "episode particle"]:
        """Log-likelihoods of whole episodes: the product of the probabilities of their actions. Objects stay where they
        were at first."""
        paths = find_all_paths(seen.walls, seen.object_cells[:, 0], self.world, self.at_once)
        steps = seen.agent_cells, seen.actions, seen.real
        return in_chunks(_episode_likelihoods, self.at_once.levels, (paths, *steps), self)

    def _of_snapshots(self, seen: Snapshot, visitation: bool) -> Float[np.ndarray, "episode particle"]:
        """Log-likelihoods of single state/action pairs."""
        paths = find_all_paths(seen.walls, seen.object_cells, self.world, self.at_once)
        pairs = seen.agent_cell, seen.action
        probability = in_chunks(_choice_probabilities, self.at_once.levels, (paths, *pairs), self)
        outcomes = len(ACTIONS)
        if visitation:
            possible = probability > 0
            _, plans, of_plan = forecast_each_plan(
                _snapshot, paths, self.agents, pairs, possible, self.world, self.at_once
            )
            probability = np.where(possible, of_plan[plans], 0.0)
            outcomes = len(ACTIONS) * self.world.cells
        return np.log(self._with_lapse(probability, outcomes))

    def _average(self, forecast: PlanForecast, log_weights: Float[Array, "agent particle"], query: QueryState) -> Any:
        """The posterior expectation of a forecast."""
        weights, query = on_host((jnp.exp(log_weights), query))
        parts = []
        for part in chunks(weights.shape[0], ENCOUNTERS):
            asked, weight = pick((query, weights), part)
            needed = weight > NEGLIGIBLE / weight.shape[1]
            paths = find_all_paths(asked.walls, asked.object_cells, self.world, self.at_once)
            levels, plans, forecasts = forecast_each_plan(
                forecast, paths, self.agents, asked.agent_cell, needed, self.world, self.at_once
            )
            plan_weight = np.bincount(plans[needed], weight[needed])
            parts.append(jax.tree.map(partial(_average_by_level, levels, plan_weight), forecasts))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), concatenate_on_host(parts))


def _average_by_level(
    levels: Int[np.ndarray, "plan"], weights: Float[np.ndarray, "plan"], values: Float[np.ndarray, "plan ..."]
) -> Float[np.ndarray, "level ..."]:
    """The weighted mean over the plans of each level, which come in the order of levels."""
    first = np.flatnonzero(np.diff(levels, prepend=-1))
    weights = weights / np.add.reduceat(weights, first)[levels]
    return np.add.reduceat(values * weights.reshape(-1, *[1] * (values.ndim - 1)), first)


def _targets(paths: Paths, agent: Planner, start_cell: Int[Array, ""], world: World):
    """What `episodes.targets` asks, for an episode of this agent from this cell."""
    plan = policy(choices(paths), agent, world)
    chain = chain_of(paths, plan)
    arrived = arrivals(chain, jax.nn.one_hot(start_cell, world.cells), world)
    eaten = (object_at(paths) * arrived.sum(0)).sum(-1)
    return plan[:, start_cell], eaten, successor_maps(chain, arrived, world)


def _policy_everywhere(paths: Paths, agent: Planner, asked: Any, world: World) -> Float[Array, "action cell"]:
    return jnp.where(standing_cells(paths), policy(choices(paths), agent, world), 0.0)


def _consumption_everywhere(paths: Paths, agent: Planner, asked: Any, world: World) -> Float[Array, "object cell"]:
    chain = chain_of(paths, policy(choices(paths), agent, world))
    return jnp.where(standing_cells(paths), consumption_everywhere(chain, paths, world), 0.0)


def _snapshot(paths: Paths, agent: Planner, pair: tuple[Array, Array], world: World) -> Float[Array, ""]:
    plan = policy(choices(paths), agent, world)
    return snapshot_probability(chain_of(paths, plan), paths, plan, *pair, world)


@eqx.filter_jit
def _episode_likelihoods(
    paths: Paths, cells: Array, actions: Array, real: Array, observer: InversePlanner
) -> Float[Array, "episode particle"]:
    def of_episode(episode):
        paths, cells, actions, real = episode
        ahead = choices(paths).at(cells)
        taken = jnp.arange(len(ACTIONS))[:, None] == actions

        def of_agent(agent):
            probability = jnp.where(taken, policy(ahead, agent, observer.world), 0.0).sum(0)
            return jnp.where(real, jnp.log(observer._with_lapse(probability, len(ACTIONS))), 0.0).sum()

        return jax.vmap(of_agent)(observer.agents)

    return jax.lax.map(of_episode, (paths, cells, actions, real))


@eqx.filter_jit
def _choice_probabilities(
    paths: Paths, cells: Array, actions: Array, observer: InversePlanner
) -> Float[Array, "episode particle"]:
    """pi(action | cell) of every particle."""

    def of_pair(paths, cell, action):
        ahead = choices(paths).at(cell[None])
        return jax.vmap(lambda agent: policy(ahead, agent, observer.world)[action, 0])(observer.agents)

    return jax.vmap(of_pair)(paths, cells, actions)
