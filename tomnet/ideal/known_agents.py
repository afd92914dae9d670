"""The ideal observer of deep RL agents (sections 3.3 to 3.5): Bayes' rule over a pool of agents that it knows.

It has the networks themselves at hand. How likely is each agent of the pool to have acted so, its own memory running
along? The mixture of what they would do and believe, each as likely as it then is, is the best that anyone could say
who knows just these agents. With the agent in question among them it is a ceiling for every observer; with others of
its species, it is what can be known by one who has met only those, and takes the agent for one of them.

The posterior is exact. The mixture leaves out agents that are hardly likely, together at most `NEGLIGIBLE`; and what
they eat and where they go is sampled, `ROLLOUTS` of each and one made-up rollout that knows nothing. So what it loses
there lies a little above the least that anyone could.
"""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int, Key, Scalar

from ..agents.actor_critic import DeepAgent, check_world
from ..episodes.encounter import Encounter
from ..episodes.episode import Episode, QueryState, Snapshot
from ..episodes.history import History
from ..episodes.predictions import Predictions
from ..episodes.replay import replay
from ..support.errors import BadSetting
from ..support.progress import reached
from ..support.trees import on_device, on_host, pick
from ..world.gridworld import World
from .batching import in_chunks, side_by_side
from .forecast import forecast_mixture, mixed_predictions, not_begun

ROLLOUTS = 64  # of each agent that might be the one, from each query
NEGLIGIBLE = 0.01  # posterior probability that predictions may leave out, all agents together


class KnownAgents(eqx.Module):
    """A pool of agents, any of which this one may be. Before anything is seen, every condition is equally likely, and
    within a condition every agent.
    """

    agents: DeepAgent  # stacked
    species: Int[np.ndarray, "agent"]  # the number of each one's condition
    world: World
    negligible: float = eqx.field(static=True, default=NEGLIGIBLE)

    def __check_init__(self):
        if not len(self.species):
            raise BadSetting("agents", 0, "someone must be known for anyone to be recognised")
        if self.agents.preferred.shape != self.species.shape:
            count = self.agents.preferred.shape[0]
            raise BadSetting("species", len(self.species), f"each of the {count} agents has one")
        check_world(self.world, self.agents.network.config)

    def __len__(self) -> int:
        return len(self.species)

    @property
    def log_prior(self) -> Float[np.ndarray, "agent"]:
        kinds, number, counts = np.unique(self.species, return_inverse=True, return_counts=True)
        return -np.log(len(kinds) * counts[number].astype(np.float64))

    def observe(self, key: Key[Scalar, ""], encounters: Encounter, *, rollouts: int = ROLLOUTS) -> Predictions:
        """`posterior`, then `predict`. Encounters come one by one; a current episode is asked about at any time."""
        asked = encounters.query, encounters.recent
        any_time = encounters.recent is not None
        return self.predict(key, self.posterior(encounters.history), *asked, rollouts=rollouts, any_time=any_time)

    def posterior(self, history: History) -> Float[np.ndarray, "query agent"]:
        """The log-probability of each agent, given past episodes and the current one so far; the prior if there are
        none. Histories may share their past episodes."""
        self._check_history(history)
        past, seen = jax.tree.map(np.asarray, (history.past, history.past_real))
        log_weights = np.tile(self.log_prior, (len(seen), 1))
        if past.length.size:
            flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), past)
            likelihood = self.log_likelihood(flat).reshape(*past.length.shape, len(self))
            shared = np.repeat(likelihood, len(seen) // len(likelihood), axis=0)  # query, past, agent
            log_weights += np.where(seen[..., None], shared, 0.0).sum(1)
        return self.update(_normalised(log_weights), history.recent)

    def update(
        self, log_weights: Float[np.ndarray, "query agent"], recent: Episode | None
    ) -> Float[np.ndarray, "query agent"]:
        """The same log-probabilities after the current episode so far."""
        if recent is None:
            return log_weights
        self._check_kind(recent.walls, recent.object_cells)
        return _normalised(log_weights + self.log_likelihood(recent))

    def log_likelihood(self, episodes: Episode) -> Float[np.ndarray, "episode agent"]:
        """Of all that was done in each episode, had it been done by each agent."""
        episodes = jax.tree.map(np.asarray, episodes)
        first, same = _distinct(episodes)
        # side by side, all take as long as the longest: those of a length go together
        first = first[np.argsort(episodes.length[first], kind="stable")]
        size = side_by_side(cpu=32, gpu=1024)
        each, agents = [], on_host(self.agents)
        for number in range(len(self)):
            reached(number, len(self))
            one = on_device(pick(agents, number))
            each.append(in_chunks(_log_likelihoods, size, (pick(episodes, first),), one, self.world))
        likelihood = np.empty((len(same), len(self)))
        likelihood[first] = np.stack(each, axis=1)
        return likelihood[same]

    def predict(
        self,
        key: Key[Scalar, ""],
        log_weights: Float[np.ndarray, "query agent"],
        query: QueryState,
        recent: Episode | None = None,
        *,
        rollouts: int = ROLLOUTS,
        any_time: bool = False,
    ) -> Predictions:
        """The mixture of what each agent would do in the query state, coming there by way of `recent`; with 0 rollouts,
        of policies and beliefs alone.

        `any_time`: the query's time was drawn from the whole of its episode. A future that makes the episode T steps
        long is then asked about with probability 1 / T at this very time, and counts as much.
        """
        self._check_kind(query.walls, query.object_cells)
        weights = np.exp(log_weights)
        weights = np.where(weights > self.negligible / len(self), weights, 0.0)
        weights = weights / weights.sum(1, keepdims=True)
        asked = jax.tree.map(np.asarray, (not_begun(query) if recent is None else recent, query))
        any_time = any_time and rollouts > 0
        mixture = forecast_mixture(key, self.agents, weights, asked, self.world, rollouts, any_time)
        return mixed_predictions(mixture, query, rollouts, any_time)

    def species_probability(self, log_weights: Float[np.ndarray, "query agent"]) -> Float[np.ndarray, "query species"]:
        """The posterior probability of each condition, by its number: 0 for one of which nobody is known."""
        return np.exp(log_weights) @ (self.species[:, None] == np.arange(self.species.max() + 1))

    def preferred_object(self, log_weights: Float[np.ndarray, "query agent"]) -> Float[np.ndarray, "query object"]:
        """The posterior probability that each object is the one that the agent is after."""
        return np.exp(log_weights) @ (np.asarray(self.agents.preferred)[:, None] == np.arange(self.world.objects))

    def _check_history(self, history: History) -> None:
        self._check_kind(history.past.walls, history.past.object_cells)
        if history.query_times is not None:
            queries = history.query_times.shape[-1]
            raise BadSetting("queries", queries, "known agents are asked about once in an episode, after all of it")
        if isinstance(history.past, Snapshot):
            raise BadSetting("past", "snapshots", "known agents are recognised by whole episodes")
        if (np.asarray(history.shown) & np.asarray(history.past.length < 1)).any():
            raise BadSetting("length", 0, "a past episode has at least one step; mark it as not seen, or leave it out")

    def _check_kind(self, walls: Array | np.ndarray, object_cells: Array | np.ndarray) -> None:
        if walls.shape[-1] != self.world.size:
            raise BadSetting("size", walls.shape[-1], f"the known agents act on grids of {self.world.size}")
        if object_cells.shape[-1] != self.world.kinds:
            why = f"the known agents' world has {self.world.kinds}, the subgoal included"
            raise BadSetting("objects", object_cells.shape[-1], why)


def _normalised(log_weights: Float[np.ndarray, "query agent"]) -> Float[np.ndarray, "query agent"]:
    return log_weights - np.logaddexp.reduce(log_weights, axis=1, keepdims=True)


def _distinct(episodes: Episode) -> tuple[Int[np.ndarray, "distinct"], Int[np.ndarray, "episode"]]:
    """Which episodes differ from all before them; and for each episode, the first that is the same as it. The histories
    of one agent often share some."""
    told = [np.ascontiguousarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(episodes)]
    seen: dict[bytes, int] = {}
    same = [seen.setdefault(b"".join(row.tobytes() for row in rows), number) for number, rows in enumerate(zip(*told))]
    return np.array(list(seen.values()), int), np.array(same, int)


@eqx.filter_jit
def _log_likelihoods(episodes: Episode, agent: DeepAgent, world: World) -> Float[Array, "episode"]:
    acting = agent.ready()
    return jax.vmap(lambda episode: replay(acting, episode, world).log_likelihood)(episodes)
