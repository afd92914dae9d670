"""How much anyone could know who knows the networks themselves: the ceiling beside what observers are asked.

An observer has to make out from behaviour what kind of agents there are. `KnownAgents` has them at hand, and its
predictions go through the same functions as an observer's. Two pools of agents are known in turn: the held-out ones,
which are asked about (nobody can do better), and the training ones (what can be known by one who has met only those).
"""

import dataclasses
from collections.abc import Iterable, Iterator

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Key, Scalar

from ...agents.population import Part, find_condition
from ...episodes.episode import QueryState
from ...episodes.predictions import Predictions, Probabilities
from ...episodes.targets import GAMMAS
from ...ideal import KnownAgents
from ...support.progress import stage
from ...support.trees import pick, stack
from ...support.words import counted
from ...world.gridworld import World
from ..agent_pool import AgentPool
from ..sally_anne.natural_swaps import Effects, asked_after, effects_foretold
from ..sally_anne.walks import Walks
from .belief_forecast import costs_of, forecast_rows
from .evaluation_set import EvaluationSet, losses_of
from .statistics import Estimate, by_network, mean_interval

POOLS: tuple[Part, ...] = ("held out", "training")


@dataclasses.dataclass(frozen=True)
class CeilingRow:
    """One number, with its interval over networks."""

    population: str  # the conditions of whom is asked about, and of who is known
    known: Part  # whose networks are known
    measure: str
    estimate: Estimate


@dataclasses.dataclass(frozen=True)
class Foretold:
    """What someone who knows a pool makes of encounters: who it is, from the past alone, and what it will do."""

    met: EvaluationSet
    conditions: tuple[str, ...]
    species: np.ndarray  # [encounter]: the likeliest condition
    preferred: np.ndarray  # [encounter]: the likeliest preferred object
    predictions: Predictions


def known_agents(conditions: tuple[str, ...], part: Part, world: World) -> KnownAgents:
    """All networks of that part of these conditions, however few of them are asked about."""
    pool = AgentPool(conditions, part)
    return KnownAgents(pool.agents(), pool.condition_numbers(), world)


def foretell(
    key: Key[Scalar, ""], known: KnownAgents, met: EvaluationSet, conditions: tuple[str, ...], rollouts: int
) -> Foretold:
    """As observers do, it tells the character by past episodes, and predicts by the current one as well."""
    history, query = met.encounters.history, met.encounters.query
    stage(f"how likely {counted(len(known), 'known agent')} would act so, in {counted(history.shown.size, 'episode')}")
    past_alone = eqx.tree_at(lambda history: history.recent, history, None, is_leaf=lambda leaf: leaf is None)
    by_past = known.posterior(past_alone)
    stage(f"and in the {len(met.who)} current ones")
    log_weights = known.update(by_past, history.recent)
    stage("what those would do that it may be")
    any_time = history.recent is not None
    predictions = known.predict(key, log_weights, query, history.recent, rollouts=rollouts, any_time=any_time)
    species, preferred = known.species_probability(by_past), known.preferred_object(by_past)
    return Foretold(met, conditions, species.argmax(1), preferred.argmax(1), predictions)


# --- Who it is, and what it will do (D1, D4, D5; B1, B3)

Measure = tuple[str, Estimate]
"""By name."""


def recognition(foretold: Foretold) -> Iterator[Measure]:
    """Accuracies of the condition and, for those that can see, of the preferred object."""
    met, who = foretold.met, foretold.met.who
    yield "species", _over_networks(met, foretold.species == met.species[who])
    sighted = np.array([find_condition(name).field_of_view > 0 for name in foretold.conditions])[met.species]
    yield "preferred object", _over_networks(met, foretold.preferred == met.preferred[who], sighted)


def taken_for_each_other(foretold: Foretold, one: str, other: str) -> Measure:
    """How often an agent of one of two conditions is taken for the other."""
    met = foretold.met
    pair = [foretold.conditions.index(name) for name in (one, other)]
    wrong = np.isin(foretold.species, pair) & (foretold.species != met.species[met.who])
    estimate = _over_networks(met, wrong, np.isin(met.species, pair))
    return f"{one} and {other} taken for each other", estimate


def losses(foretold: Foretold) -> Iterator[Measure]:
    """Table A1's, in nats: sums over objects and over discounts, and means, as the paper has them."""
    met, told = foretold.met, dataclasses.replace(foretold.predictions, belief=None)
    each = losses_of(told, met.encounters.targets)
    for head, loss in each.items():
        yield head, _over_networks(met, loss)
    objects = met.encounters.query.object_cells.shape[-1]
    yield "consumption, mean over objects", _over_networks(met, each["consumption"] / objects)
    yield "successor, mean over discounts", _over_networks(met, each["successor"] / len(GAMMAS))


def beliefs(foretold: Foretold) -> Iterator[Measure]:
    """The cross-entropy with what agents say they believe, and the share of the way to their own entropy (B1)."""
    met = foretold.met
    costs = costs_of(foretold.predictions, met.encounters)
    yield "belief", _over_networks(met, costs["observer"])
    everyone = forecast_rows(costs, met, foretold.conditions)[-1]
    yield "belief, share", everyone.share


def _over_networks(met: EvaluationSet, values: np.ndarray, asked: np.ndarray | None = None) -> Estimate:
    """The mean of what was measured in every encounter, each network by its own mean; of the agents `asked` about."""
    agents = np.flatnonzero(np.ones(met.count, bool) if asked is None else asked)
    return mean_interval(by_network(met.means(values)[agents], met.network[agents]))


# --- What swaps do (F5, B2)


def swap_effects(key: Key[Scalar, ""], known: KnownAgents, walks: Walks) -> Effects:
    """What a swap changes in the mixture of policies and beliefs, as for an observer; successor maps are left out."""
    where = np.argwhere(walks.kept)
    if not len(where):
        return effects_foretold(walks, where, Probabilities(None, None, None, None))
    stage(f"who among {len(known)} known agents took each of {len(where)} walks, and what swaps are to them")
    history, queries = asked_after(walks, where)
    log_weights = known.posterior(history)

    def in_world(query: QueryState) -> Probabilities:
        return known.predict(key, log_weights, query, history.recent, rollouts=0).probabilities()

    worlds = [in_world(pick(queries, number)) for number in range(queries.agent_cell.shape[0])]
    return effects_foretold(walks, where, jax.tree.map(np.asarray, stack(worlds)))


def rows(population: str, known: Part, measures: Iterable[Measure]) -> list[CeilingRow]:
    return [CeilingRow(population, known, name, estimate) for name, estimate in measures]
