"""Bringing up a population: networks of all conditions side by side, in chunks, with checkpoints.

A network's draws depend only on the seed, its own index and the number of the update: a run that was killed goes on as
if nothing had happened, and the size of the chunks changes no draw.
"""

import dataclasses
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..support.array_files import load_arrays, save_arrays
from ..support.errors import BadSetting, TomnetError, nearest
from ..support.identity import plain
from ..support.interrupts import Interrupted, stop_requests
from ..support.json_files import append_jsonl, truncate_jsonl
from ..support.mesh import check_divides, in_memory, over, spread, whole
from ..support.named_arrays import named_arrays, with_arrays
from ..support.processes import anyone, by_the_first, is_first, locked
from ..support.progress import Progress
from ..support.run_folder import CHECKPOINT, METRICS, Run, enter_run
from ..support.streams import BIRTH, CHOOSING, HELD_OUT, TRAINING, WEIGHTS, agent_stream
from ..support.trees import concatenate, pick
from ..world.gridworld import SUBGOAL_MAZE, Level, World
from ..world.levels import draw_levels
from .actor_critic import Network, NetworkConfig, Rewards, Senses, check_world
from .experience import act, start_episodes
from .population import (
    CONDITIONS,
    Condition,
    Population,
    as_stored,
    blank_networks,
    find_condition,
    save_population,
    senses_of,
    split,
)
from .reinforcement import Learner, LearnerConfig, new_learner, update

STATE_FORMAT, CHUNK_FORMAT, VERSION = "tomnet agents in training", "tomnet trained agents", 1


@dataclasses.dataclass(frozen=True)
class PopulationTraining:
    """How a population is trained."""

    learner: LearnerConfig
    network: NetworkConfig = NetworkConfig()
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    only: tuple[str, ...] = ()  # conditions to train, if not all: each network is the one that it would be among all
    networks: int = 24  # of each condition
    keep: int = 20  # of each condition, the best on held-out levels
    chunk: int = 72  # networks trained side by side
    levels: int = 256  # held out, to choose by
    world: World = SUBGOAL_MAZE
    report_every: int = 20  # updates
    checkpoint_seconds: float = 60.0

    def __post_init__(self):
        check_world(self.world, self.network)
        for name in self.conditions:
            find_condition(name).check(self.world.size)
        for name in self.only:
            if name not in self.conditions:
                raise nearest(name, self.conditions, "condition")
        for name in ("networks", "levels", "report_every"):
            if getattr(self, name) < 1:
                raise BadSetting(f"PopulationTraining.{name}", getattr(self, name), "must be above 0")
        if self.chunk < 1:
            raise BadSetting("chunk", self.chunk, "must be above 0")
        if self.total % self.chunk:
            raise BadSetting("chunk", self.chunk, f"does not divide the population of {self.total} networks")
        if not 1 <= self.keep <= self.networks:
            raise BadSetting("keep", self.keep, f"of {self.networks} networks of each condition")

    @property
    def trained(self) -> tuple[str, ...]:
        """The conditions of which networks are trained."""
        return self.only or self.conditions

    @property
    def indices(self) -> list[int]:
        """Of the networks: they count all conditions in turn, so that no chunk is easier than another."""
        everyone = range(self.networks * len(self.conditions))
        return [index for index in everyone if self.condition(index).name in self.trained]

    @property
    def total(self) -> int:
        return len(self.indices)

    @property
    def chunks(self) -> int:
        return self.total // self.chunk

    def indices_of(self, chunk: int) -> list[int]:
        return self.indices[chunk * self.chunk : (chunk + 1) * self.chunk]

    def condition(self, index: int) -> Condition:
        return CONDITIONS[self.conditions[index % len(self.conditions)]]


POPULATION_PRESETS = {
    "smoke": PopulationTraining(
        learner=LearnerConfig(steps=256, worlds=4, unroll=8, pool=16),
        network=NetworkConfig(channels=8, memory_channels=8, belief_channels=8, hidden=16, salience_channels=8),
        networks=2,
        keep=2,
        chunk=12,
        levels=8,
        report_every=4,
    ),
    "laptop": PopulationTraining(
        learner=LearnerConfig(steps=1_000_000, worlds=32, unroll=32, pool=512),
        network=NetworkConfig(channels=16, memory_channels=16, belief_channels=16),
        conditions=("5x5",),
        networks=2,
        keep=2,
        chunk=2,
        levels=256,
    ),
    "full": PopulationTraining(learner=LearnerConfig(steps=10_000_000), chunk=144, report_every=50),
}


def update_key(seed: int, number: int) -> Key[Scalar, ""]:
    """That of one update, the same for every chunk."""
    return jax.random.fold_in(agent_stream(seed, TRAINING), number)


def own_keys(key: Key[Scalar, ""], indices: Int[Array, "network"]) -> Key[Array, "network"]:
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, indices)


def first_learners(seed: int, indices: Int[Array, "network"], training: PopulationTraining) -> Learner:
    """Networks as they are born; each depends on its own index alone."""
    return _first_learners(agent_stream(seed, WEIGHTS), agent_stream(seed, BIRTH), indices, training)


@eqx.filter_jit
def _first_learners(weight_key, pool_key, indices, training: PopulationTraining) -> Learner:
    pool = draw_levels(pool_key, training.learner.pool, training.world)

    def one(key):
        return new_learner(key, training.network, training.learner, pool)

    return spread(eqx.filter_vmap(one)(own_keys(weight_key, indices)))


def update_pool(key: Key[Scalar, ""], training: PopulationTraining) -> tuple[Level, Key[Scalar, ""]]:
    """The fresh levels of an update, and the key that its networks' own come from."""
    level_key, act_key = jax.random.split(key)
    return draw_levels(level_key, training.learner.pool, training.world), act_key


@eqx.filter_jit(donate="all-except-first")
def update_all(
    kept: tuple[Key[Scalar, ""], Int[Array, "network"], Senses], learners: Learner, training: PopulationTraining
):
    """One update of every network of a chunk, on fresh levels. All but `kept` gives its memory to the result."""
    key, indices, senses = kept
    pool, act_key = update_pool(key, training)

    def one(key, learner, senses):
        return update(key, learner, senses, training.world, Rewards(), pool, training.learner)

    return eqx.filter_vmap(one)(own_keys(act_key, indices), learners, senses)


@eqx.filter_jit
def returns_on(
    keys: Key[Array, "network"], networks: Network, senses: Senses, levels: Level, training: PopulationTraining
) -> Float[Array, "network"]:
    """Mean return of each network over one episode on each level."""

    def one(key, network, senses):
        ongoing = start_episodes(network, levels, jnp.float32)
        limit = training.world.step_limit
        _, happened, _, _ = act(key, network, ongoing, senses, training.world, Rewards(), levels, limit, jnp.float32)
        ended_before = jnp.cumsum(happened.done, axis=0) - happened.done
        return jnp.where(ended_before == 0, happened.reward, 0.0).sum(0).mean()

    return eqx.filter_vmap(one)(keys, networks, senses)


def train_population(
    training: PopulationTraining,
    folder: Path,
    *,
    seed: int,
    about: dict[str, Any],
    resume: bool = False,
    mesh: Mesh | None = None,
) -> dict[str, Population]:
    """Trains the population in a run folder and returns the kept networks of each condition; of several processes, the
    first one does. On a `mesh` of devices, each has its share of a chunk's networks."""
    check_divides(mesh, training.chunk, "the networks of a chunk")
    with locked(folder), stop_requests() as stopped:
        to_train = [chunk for chunk in range(training.chunks) if not _chunk_file(folder, chunk).exists()]
        new = Run("population", _settings(training, seed), about)
        run = by_the_first(lambda: enter_run(folder, new, resume=resume, finished=not to_train)) or new
        less = "a smaller --chunk needs less, more --devices share it out"
        with over(mesh), in_memory("chunk", training.chunk, less):
            for chunk in to_train:
                _train_chunk(training, chunk, folder, seed, stopped)
        return by_the_first(lambda: _chosen(training, folder, seed, run.origin)) or {}


def _chosen(training: PopulationTraining, folder: Path, seed: int, origin: dict[str, Any]) -> dict[str, Population]:
    populations = _choose(training, folder, seed, origin)
    for name, population in populations.items():
        save_population(folder / f"{name}.safetensors", population)
    return populations


def _train_chunk(training: PopulationTraining, chunk: int, folder: Path, seed: int, stopped) -> None:
    conditions = [training.condition(index) for index in training.indices_of(chunk)]
    senses, indices = spread((senses_of(conditions), jnp.asarray(training.indices_of(chunk))))
    learners = first_learners(seed, indices, training)
    done, seconds = 0, 0.0
    if (folder / CHECKPOINT).exists():
        arrays, header = load_arrays(folder / CHECKPOINT, STATE_FORMAT, VERSION)
        if header["chunk"] == chunk:  # else it is that of the chunk before, which is finished
            learners = with_arrays(learners, arrays, folder / CHECKPOINT)
            done, seconds = header["updates"], header["seconds"]
    if is_first() and (folder / METRICS).exists():
        truncate_jsonl(folder / METRICS, lambda row: (row["chunk"], row["updates"]) <= (chunk, done))
    learner, updates = training.learner, training.learner.updates
    started, saved = time.monotonic() - seconds, time.monotonic()
    title = f"agents {chunk + 1}/{training.chunks}"

    def save():
        arrays, header = named_arrays(learners), {"chunk": chunk, "updates": done, "seconds": seconds}
        path, kind = folder / CHECKPOINT, {"format": STATE_FORMAT, "version": VERSION}
        by_the_first(lambda: save_arrays(path, arrays, header, **kind, keep_previous=True))

    with Progress(title, updates, done) as progress:
        while done < updates:
            seen = []
            for _ in range(min(training.report_every, updates - done)):
                learners, told = update_all((update_key(seed, done), indices, senses), learners, training)
                seen.append(told)
                done += 1
            row = _summary(seen, conditions, learners.healthy)
            steps = done * learner.worlds * learner.unroll
            seconds = time.monotonic() - started
            row = {"chunk": chunk, "updates": done, "steps": steps, "seconds": round(seconds, 2), **row}
            by_the_first(lambda row=row: append_jsonl(folder / METRICS, row))
            progress.advance(done, {name: value for name, value in row["returns"].items() if np.isfinite(value)})
            if anyone(stopped.is_set()):
                save()
                raise Interrupted(f"interrupted at update {done} of {updates}; --resume goes on from there")
            if anyone(time.monotonic() - saved > training.checkpoint_seconds):
                save()
                saved = time.monotonic()
    levels = draw_levels(agent_stream(seed, HELD_OUT), training.levels, training.world)
    keys = own_keys(agent_stream(seed, CHOOSING), indices)
    returns = returns_on(keys, spread(as_stored(learners.network)), senses, levels, training)
    header = {
        "returns": whole(returns).tolist(),
        "healthy": whole(learners.healthy).tolist(),
        "seconds": round(seconds, 1),
    }
    path, arrays = _chunk_file(folder, chunk), named_arrays(learners.network)
    by_the_first(lambda: save_arrays(path, arrays, header, format=CHUNK_FORMAT, version=VERSION))


def _summary(seen: list, conditions: list[Condition], healthy: Bool[Array, "network"]) -> dict[str, Any]:
    """Over the last updates: returns of each network, their mean by condition, and the mean losses."""
    episodes = np.stack([whole(told.episodes) for told in seen])
    returns = np.stack([whole(told.returns) for told in seen])
    ended = episodes.sum(0)
    each = np.where(ended > 0, (returns * episodes).sum(0) / np.maximum(ended, 1), np.nan)  # before any episode ended
    fit = whole(healthy)
    names = [condition.name for condition in conditions]
    by_condition = {}
    for name in dict.fromkeys(names):
        mine = [value for value, other, ok in zip(each, names, fit, strict=True) if other == name and ok]
        by_condition[name] = float(np.nanmean(mine)) if np.isfinite(mine).any() else float("nan")
    losses = {
        name: float(np.mean([whole(told.losses[name])[fit] for told in seen])) if fit.any() else float("nan")
        for name in seen[0].losses
    }
    diverged = np.flatnonzero(~fit).tolist()
    return {"returns": by_condition, "each": each.round(4).tolist(), "losses": losses, "diverged": diverged}


def _choose(training: PopulationTraining, folder: Path, seed: int, origin: dict[str, Any]) -> dict[str, Population]:
    """The best networks of each condition, those that diverged left out, and their split."""
    networks, returns, healthy, seconds = [], [], [], 0.0
    for chunk in range(training.chunks):
        path = _chunk_file(folder, chunk)
        arrays, header = load_arrays(path, CHUNK_FORMAT, VERSION)
        networks.append(with_arrays(blank_networks(training.network, training.chunk), arrays, path))
        returns += header["returns"]
        healthy += header["healthy"]
        seconds += header["seconds"]
    together = as_stored(concatenate(networks))
    populations = {}
    for name in training.trained:
        mine = [i for i, index in enumerate(training.indices) if training.condition(index).name == name]
        fit = sorted((i for i in mine if healthy[i]), key=lambda i: -returns[i])
        if not fit:
            raise TomnetError(f"all {len(mine)} networks of {name} diverged; {folder} keeps what there is")
        best = fit[: training.keep]
        chosen = pick(together, jnp.asarray(best))
        facts = {
            "trained": len(mine),
            "diverged": [training.indices[i] for i in mine if not healthy[i]],
            "indices": [training.indices[i] for i in best],
            "seconds": round(seconds, 1),
            "steps": training.learner.updates * training.learner.worlds * training.learner.unroll,
            "seed": seed,
            "discount": round(float(training.learner.discount(senses_of([CONDITIONS[name]]))[0]), 6),
        }
        populations[name] = Population(
            chosen,
            CONDITIONS[name],
            tuple(returns[i] for i in best),
            *split(len(best), seed),
            origin | facts,
        )
    return populations


def _chunk_file(folder: Path, chunk: int) -> Path:
    return folder / f"chunk-{chunk}.safetensors"


def _settings(training: PopulationTraining, seed: int) -> dict[str, Any]:
    """All that the weights depend on."""
    told = ("networks", "keep", "chunk", "levels", "conditions", "only", "world", "network", "learner")
    return {name: plain(getattr(training, name)) for name in told} | {"seed": seed}
