"""The one engine that trains every observer.

Training runs in chunks: a chunk's encounters are drawn from a key that depends only on the seed and the chunk's
number, and the state is saved between chunks. So a run that is killed and resumed ends with the same weights, bit
for bit, as one that was not.
"""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Key, Scalar

from ..episodes.encounter import Encounter
from ..support.errors import TomnetError
from ..support.identity import plain
from ..support.interrupts import Interrupted, stop_requests
from ..support.json_files import append_jsonl, truncate_jsonl
from ..support.mesh import check_divides, in_memory, over, spread
from ..support.processes import anyone, by_the_first, is_first, locked
from ..support.progress import Progress
from ..support.run_folder import CHECKPOINT, METRICS, Run, enter_run
from ..support.streams import HELD_OUT_STREAM, NOISE_STREAM, TRAIN_STREAM, stream
from ..support.trees import on_device, on_host, pick
from .checkpoint import load_observer, load_state, save_observer, save_state
from .config import ObserverConfig, TrainingConfig
from .frames import Capacity, capacity_for, deal, frames_of, usual_capacity
from .losses import mean_losses
from .tomnet import ToMnet, observe
from .training_step import TrainingState, first_state, train_chunk

Sample = Callable[[Key[Scalar, ""], int], Encounter]
"""`(key, how many current episodes) -> encounters` with freshly drawn agents; those that share a past as one group."""

OBSERVER = "observer.safetensors"


class Diverged(TomnetError):
    """A loss that is not finite; the last good weights are kept."""


def train(
    config: ObserverConfig,
    training: TrainingConfig,
    sample: Sample,
    folder: Path,
    *,
    seed: int,
    identity: dict[str, Any] | None = None,
    about: dict[str, Any],
    sample_held_out: Sample | None = None,
    resume: bool = False,
    start: ToMnet | None = None,
    title: str = "observer",
    mesh: Mesh | None = None,
) -> ToMnet:
    """Trains one observer in a run folder and returns it. With `resume`, goes on from the last checkpoint.

    `sample(key, count)` draws that many encounters, with fresh agents each time; `sample_held_out` draws those it is
    looked at with, where training draws its own in some other way. `identity` is what else its weights depend on, such
    as whom it meets; `about` is all the rest worth knowing. A `start` is an observer of the same shape, whose weights
    are the first; what they are worth before any step is the first row of the metrics. On a `mesh` of devices, each
    has its share of a step's encounters.

    >>> world = tomnet.World(size=3, objects=1, max_walls=0, step_limit=1)
    >>> def sample(key, count):
    ...     agents = tomnet.RandomSpecies((0.1,)).sample(key, count)
    ...     return tomnet.draw_encounters(key, agents, world, tomnet.EncounterSpec(0, 2, snapshots=True))
    >>> config = tomnet.ObserverConfig(
    ...     size=3, objects=1, heads=("action",), character="snapshots", character_channels=4, channels=4,
    ...     character_depth=1, torso_depth=1, torso_plain=True
    ... )
    >>> training = tomnet.TrainingConfig(steps=2, chunk=2, batch=4, held_out=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     observer = tomnet.train(config, training, sample, Path(folder) / "run", seed=0, about={})
    >>> observer.config.heads
    ('action',)
    """
    identity = identity or {}
    settings = {"observer": plain(config), "training": plain(training), "seed": seed} | identity
    check_divides(mesh, training.batch // training.currents, "the agents of a batch")
    less = f"more devices share it out, TrainingConfig.batch = {training.batch // 2} halves it"
    with locked(folder), stop_requests() as stopped, over(mesh), in_memory("batch", training.batch, less):
        kept = (folder / OBSERVER).exists()
        new = Run("observer", settings, about)
        run = by_the_first(lambda: enter_run(folder, new, resume=resume, finished=kept)) or new
        if kept:
            return load_observer(folder / OBSERVER)[0]
        state, seconds = _state_in(folder, first_state(config, training, seed, start))
        with Progress(title, training.steps, int(state.step)) as progress:
            if state.step < training.steps:
                drawn = _draw(sample, sample_held_out, training, seed, mesh)
                if start is not None and not state.step:
                    worth = {"held_out": held_out_losses(state.observer, drawn.held_out)}
                    _log(folder, {"step": 0} | training.met_after(0) | worth)
                state, seconds = _go_on(state, seconds, drawn, training, folder, seed, progress, stopped)
        told = run.origin | identity | {"training": plain(training), "seconds": round(seconds, 1), "seed": seed}
        by_the_first(lambda: save_observer(folder / OBSERVER, state.observer, told))
    return state.observer if mesh is None else on_device(on_host(state.observer))


def _go_on(
    state: TrainingState,
    seconds: float,
    drawn: "Drawn",
    training: TrainingConfig,
    folder: Path,
    seed: int,
    progress: Progress,
    stopped: Event,
) -> tuple[TrainingState, float]:
    """Chunk by chunk to the last step; the state then, and all the seconds spent."""
    done, started, saved = int(state.step), time.monotonic() - seconds, time.monotonic()
    while done < training.steps:
        chunk, good = done // training.chunk, state
        state, losses = run_chunk(state, drawn.sample, training, chunk, seed, drawn.usual)
        seconds = time.monotonic() - started
        step = int(state.step)
        row: dict[str, Any] = {"step": step} | training.met_after(step)
        row |= {"seconds": round(seconds, 2), **losses}
        due = step >= training.steps or (chunk + 1) % training.evaluate_every == 0
        # a chunk's last step can ruin the weights after its own loss was measured: look every time
        seen = held_out_losses(state.observer, drawn.held_out if due else drawn.glimpse)
        if due:
            row["held_out"] = seen
        if not all(np.isfinite(loss) for loss in (*losses.values(), *seen.values())):
            _save(folder, good, seconds)
            where = f"between steps {done} and {step}"
            raise Diverged(f"{progress.title}: a loss is not finite {where}; the last good weights are in {folder}")
        done = step
        _log(folder, row)
        progress.advance(done, losses)
        if anyone(stopped.is_set()):
            _save(folder, state, seconds)
            raise Interrupted(f"interrupted at step {done} of {training.steps}; --resume goes on from there")
        if anyone(done >= training.steps or time.monotonic() - saved > training.checkpoint_seconds):
            _save(folder, state, seconds)
            saved = time.monotonic()
    return state, seconds


def _save(folder: Path, state: TrainingState, seconds: float) -> None:
    by_the_first(lambda: save_state(folder / CHECKPOINT, state, {"seconds": seconds}))


def _log(folder: Path, row: dict[str, Any]) -> None:
    by_the_first(lambda: append_jsonl(folder / METRICS, row))


class Drawn(NamedTuple):
    """What a run learns from, and what it is looked at with."""

    sample: Sample
    held_out: Encounter
    glimpse: Encounter  # a few of these
    usual: Capacity  # of a batch


def _draw(
    sample: Sample, sample_held_out: Sample | None, training: TrainingConfig, seed: int, mesh: Mesh | None
) -> Drawn:
    sample = eqx.filter_jit(shared_out(sample, mesh))
    looked_at = sample if sample_held_out is None else eqx.filter_jit(shared_out(sample_held_out, mesh))
    held_out = looked_at(stream(seed, HELD_OUT_STREAM), training.held_out)
    glimpse = pick(held_out, slice(8)).one_by_one()
    first = draw_chunk(sample, training, 0, seed).one_by_one()
    return Drawn(sample, held_out.one_by_one(), glimpse, usual_capacity(first.history, training.batch))


def shared_out(sample: Sample, mesh: Mesh | None) -> Sample:
    """The same encounters, each drawn on the device that learns from it."""
    return sample if mesh is None else eqx.Partial(_shared_out, sample=sample)


def _shared_out(key: Key[Scalar, ""], count: int, sample: Sample) -> Encounter:
    return spread(sample(key, count))


def _state_in(folder: Path, first: TrainingState) -> tuple[TrainingState, float]:
    """The state to go on from, and the seconds spent so far."""
    state, seconds = first, 0.0
    if (folder / CHECKPOINT).exists():
        state, header = load_state(folder / CHECKPOINT, first)
        seconds = header["seconds"]
    if is_first():
        truncate_jsonl(folder / METRICS, lambda row: row["step"] <= int(state.step) != 0)
    return state, seconds


def draw_chunk(sample: Sample, training: TrainingConfig, chunk: int, seed: int) -> Encounter:
    """What a chunk learns from: the same for the same seed, whatever came before."""
    return sample(jax.random.fold_in(stream(seed, TRAIN_STREAM), chunk), training.chunk * training.batch)


def run_chunk(
    state: TrainingState,
    sample: Sample,
    training: TrainingConfig,
    chunk: int,
    seed: int,
    usual: Capacity | None = None,
) -> tuple[TrainingState, dict[str, float]]:
    """One chunk. The `usual` capacity of a batch keeps most chunks to one program, and so to one compilation."""
    steps = min(training.chunk, training.steps - chunk * training.chunk)
    encounters = draw_chunk(sample, training, chunk, seed)
    dealt = deal(frames_of(encounters.history), training.chunk)[:steps]
    batches = jax.tree.map(lambda leaf: leaf[dealt], encounters).one_by_one()
    capacity = capacity_for(batches.history, usual)
    state, losses = train_chunk(stream(seed, NOISE_STREAM), state, batches, training, capacity)
    return state, {name: float(loss) for name, loss in losses.items()}


def held_out_losses(observer: ToMnet, encounters: Encounter) -> dict[str, float]:
    """As losses are defined, sums and unweighted, whatever training makes of them: so they compare across settings."""
    _, predictions = observe(observer, encounters)
    return {name: float(loss) for name, loss in mean_losses(predictions, encounters.targets).items()}
