"""Training a population in a run folder: networks of all conditions side by side, in chunks, with checkpoints.

A network's draws depend only on the seed, its own index and the number of the update: a run that was killed goes on as
if nothing had happened, and the size of the chunks changes no draw.
"""

import time
from pathlib import Path
from threading import Event
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Int

from ..support.array_files import load_arrays, save_arrays
from ..support.errors import TomnetError
from ..support.identity import plain
from ..support.interrupts import Interrupted, stop_requests
from ..support.json_files import append_jsonl, truncate_jsonl
from ..support.mesh import check_divides, in_memory, over, spread, whole
from ..support.named_arrays import named_arrays, with_arrays
from ..support.processes import anyone, by_the_first, is_first, locked
from ..support.progress import Progress
from ..support.run_folder import CHECKPOINT, METRICS, Run, enter_run
from ..support.streams import CHOOSING, HELD_OUT, agent_stream
from ..support.trees import concatenate, pick
from ..world.levels import draw_levels
from .actor_critic import Senses
from .population import CONDITIONS, Condition, Population, as_stored, blank_networks, save_population, senses_of, split
from .population_config import PopulationTraining
from .population_update import first_learners, own_keys, returns_on, update_all, update_key
from .reinforcement import Learner

STATE_FORMAT, CHUNK_FORMAT, VERSION = "tomnet agents in training", "tomnet trained agents", 1


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


def _train_chunk(training: PopulationTraining, chunk: int, folder: Path, seed: int, stopped: Event) -> None:
    conditions = [training.condition(index) for index in training.indices_of(chunk)]
    senses, indices = spread((senses_of(conditions), jnp.asarray(training.indices_of(chunk))))
    learners, done, seconds = _learners_in(folder, chunk, first_learners(seed, indices, training))
    learner, updates = training.learner, training.learner.updates
    started, saved = time.monotonic() - seconds, time.monotonic()

    def save():
        arrays, header = named_arrays(learners), {"chunk": chunk, "updates": done, "seconds": seconds}
        path, kind = folder / CHECKPOINT, {"format": STATE_FORMAT, "version": VERSION}
        by_the_first(lambda: save_arrays(path, arrays, header, **kind, keep_previous=True))

    with Progress(f"agents {chunk + 1}/{training.chunks}", updates, done) as progress:
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
    _measure(training, learners, senses, indices, _chunk_file(folder, chunk), seed, seconds)


def _learners_in(folder: Path, chunk: int, first: Learner) -> tuple[Learner, int, float]:
    """The learners to go on with, the updates that they have had, and the seconds spent so far."""
    learners, done, seconds = first, 0, 0.0
    if (folder / CHECKPOINT).exists():
        arrays, header = load_arrays(folder / CHECKPOINT, STATE_FORMAT, VERSION)
        if header["chunk"] == chunk:  # else it is that of the chunk before, which is finished
            learners = with_arrays(first, arrays, folder / CHECKPOINT)
            done, seconds = header["updates"], header["seconds"]
    if is_first() and (folder / METRICS).exists():
        truncate_jsonl(folder / METRICS, lambda row: (row["chunk"], row["updates"]) <= (chunk, done))
    return learners, done, seconds


def _measure(
    training: PopulationTraining,
    learners: Learner,
    senses: Senses,
    indices: Int[Array, "network"],
    path: Path,
    seed: int,
    seconds: float,
) -> None:
    """What each trained network of a chunk earns on the levels to choose by, written down beside the networks."""
    levels = draw_levels(agent_stream(seed, HELD_OUT), training.levels, training.world)
    keys = own_keys(agent_stream(seed, CHOOSING), indices)
    returns = returns_on(keys, spread(as_stored(learners.network)), senses, levels, training)
    header = {
        "returns": whole(returns).tolist(),
        "healthy": whole(learners.healthy).tolist(),
        "seconds": round(seconds, 1),
    }
    arrays = named_arrays(learners.network)
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
