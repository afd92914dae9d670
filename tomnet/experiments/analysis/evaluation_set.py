"""Encounters with every agent of a pool, equally many, and what observers make of all those encounters.

A whole evaluation goes through one compiled program, batch by batch. Means are taken over each network's encounters
first, so that intervals are over networks: agents that differ only in what they prefer are not independent.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...agents.population import Part
from ...episodes.encounter import Encounter
from ...episodes.episode import QueryState
from ...episodes.predictions import Predictions
from ...episodes.targets import Targets
from ...observer.frames import Capacity, capacity_for
from ...observer.losses import losses_each
from ...observer.tomnet import Reading, ToMnet, check_kind
from ...support.progress import stage
from ...support.trees import concatenate_on_host, on_device, on_host, pick
from ...support.words import counted
from ..agent_pool import AgentPool
from ..experiment import ObserverSpec

BATCH = 256  # encounters read side by side


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """Agents of a pool and encounters with them: the i-th is with the agent `who[i]`."""

    agents: DeepAgent
    species: np.ndarray  # of each agent: the number of its condition
    encounters: Encounter  # one by one; those of a group share the agent's episodes

    @property
    def count(self) -> int:
        return len(self.species)

    @property
    def preferred(self) -> np.ndarray:
        return np.asarray(self.agents.preferred)

    @property
    def network(self) -> np.ndarray:
        """Which network each agent has: those that differ only in what they prefer share one."""
        return np.cumsum(self.preferred == 0) - 1

    @property
    def who(self) -> np.ndarray:
        return np.arange(len(self.encounters.past_real)) // self.currents % self.count

    @property
    def currents(self) -> int:
        """Encounters of each group, which share an agent's episodes."""
        return len(self.encounters.past_real) // len(self.encounters.past.walls)

    @property
    def first(self) -> np.ndarray:
        """The first encounter with each agent."""
        return np.arange(self.count) * self.currents

    @property
    def times(self) -> int:
        """Encounters with each agent."""
        return len(self.encounters.past_real) // self.count

    def by_agent(self, values: Any) -> np.ndarray:
        """What was measured in every encounter, as `[agent, encounter, ...]`."""
        values = np.asarray(values)
        groups = values.reshape(-1, self.count, self.currents, *values.shape[1:])
        return np.moveaxis(groups, 1, 0).reshape(self.count, self.times, *values.shape[1:])

    def means(self, values: Any) -> np.ndarray:
        """The mean over each agent's encounters."""
        return self.by_agent(values).mean(1, dtype=np.float64)

    def network_means(self, values: Any) -> np.ndarray:
        """The mean over the encounters of each network's agents."""
        agents = self.means(values)
        return np.stack([agents[self.network == one].mean(0) for one in np.unique(self.network)])

    @property
    def network_species(self) -> np.ndarray:
        """Of each network: the number of its condition."""
        return self.species[np.unique(self.network, return_index=True)[1]]


@dataclasses.dataclass(frozen=True)
class Met:
    """How many there were."""

    agents: int
    encounters: int

    @staticmethod
    def of(evaluation_set: EvaluationSet) -> "Met":
        return Met(evaluation_set.count, len(evaluation_set.who))


def draw_evaluation_set(key: Key[Scalar, ""], spec: ObserverSpec, part: Part, agents: int) -> EvaluationSet:
    """About `agents` groups, each of `spec.reuse` encounters; everyone is met equally often, at least once.

    Where that is fewer than there are agents, only the first networks of each condition are met.
    """
    species = spec.species
    networks = max(1, agents // (spec.world.objects * len(species.conditions)))
    pool = AgentPool(species.conditions, part, species.folder, networks=networks)
    population, species = pool.agents(), pool.condition_numbers()
    times = max(1, agents // len(species))
    stage(f"{counted(len(species), f'{part} agent')} act, {counted(times, 'time')}")
    draw_encounters = eqx.filter_jit(
        lambda key, agents: spec.draw_encounters(
            key, agents, past=spec.encounter_spec.max_past, currents=spec.reuse
        ).one_by_one()
    )
    met = [on_host(draw_encounters(one, population)) for one in jax.random.split(key, times)]
    return EvaluationSet(population, species, concatenate_on_host(met))


# --- Observers


@eqx.filter_jit
def _read(observer: ToMnet, encounters: Encounter, capacity: Capacity) -> Reading:
    return observer.read(encounters.history, encounters.query, capacity)[0]


@eqx.filter_jit
def _predict(observer: ToMnet, character: Array, query: QueryState, mental: Array | None) -> Predictions:
    return observer.predict(character, query, mental)


def in_batches(count: int, batch: int = BATCH) -> np.ndarray:
    """Indices of equal batches; what is missing from the last is filled up from the first."""
    batches = -(-count // batch)
    size = -(-count // batches)
    return (np.arange(batches * size) % count).reshape(batches, size)


def _joined(parts: list[Any], count: int) -> Any:
    return pick(concatenate_on_host(parts), slice(count))


def read_everything(observer: ToMnet, encounters: Encounter, batch: int = BATCH) -> Reading:
    """As `read`, for more encounters than fit side by side; posteriors stand for themselves by their means."""
    check_kind(observer, encounters.history, encounters.query)
    count = len(encounters.past_real)
    stage(f"an observer reads {count} encounters")
    groups = encounters.by_agent()
    index = in_batches(len(groups.past.walls), max(1, batch * len(groups.past.walls) // count))
    dealt = on_device(pick(groups, index)).one_by_one()
    capacity = capacity_for(dealt.history)  # one for all, or each batch would be a program of its own
    readings = [_read(observer, pick(dealt, number), capacity) for number in range(len(index))]
    return _joined([on_host(reading) for reading in readings], count)


def predict_everything(
    observer: ToMnet, character: np.ndarray, query: QueryState, mental: np.ndarray | None = None, batch: int = BATCH
) -> Predictions:
    """Predictions from embeddings, whosever they are; without `mental`, as for agents that have not acted yet."""
    predicted = []
    for index in in_batches(len(character), batch):
        seen = None if mental is None else jnp.asarray(mental[index])
        some = _predict(observer, jnp.asarray(character[index]), pick(query, index), seen)
        predicted.append(on_host(some))
    return _joined(predicted, len(character))


def losses_of(predictions: Predictions, targets: Targets) -> dict[str, np.ndarray]:
    """The loss of each head in every encounter, in nats."""
    predictions, targets = on_device((predictions, targets))
    return {head: np.asarray(loss, np.float64) for head, loss in losses_each(predictions, targets).items()}


def somebody_else(key: Key[Scalar, ""], count: int) -> np.ndarray:
    """For each encounter another one, all of them once: in a random order, everyone gets the next one's.

    Neighbours in an evaluation are agents of one species, and often of one network, so that handing embeddings on to
    the neighbour would leave most of what they tell in place.
    """
    order = np.asarray(jax.random.permutation(key, count))
    other = np.empty(count, int)
    other[order] = np.roll(order, 1)
    return other


def shuffled_losses(
    observer: ToMnet, reading: Reading, encounters: Encounter, shuffled: tuple[str, ...], other: np.ndarray
) -> dict[str, np.ndarray]:
    """The losses when predictions are made with `other` encounters' embeddings: "character", "mental" or both.

    The past is read only once.
    """
    character, mental = np.asarray(reading.character.mean), None
    if reading.mental is not None:
        mental = np.asarray(reading.mental.mean)
        mental = mental[other] if "mental" in shuffled else mental
    character = character[other] if "character" in shuffled else character
    return losses_of(predict_everything(observer, character, encounters.query, mental), encounters.targets)
