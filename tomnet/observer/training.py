"""The one engine that trains every observer.

Training runs in chunks: a chunk's encounters are drawn from a key that depends only on the seed and the chunk's
number, and the state is saved between chunks. So a run that is killed and resumed ends with the same weights, bit
for bit, as one that was not.
"""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int, Key, Scalar

from ..episodes.encounter import Encounter
from ..support.errors import BadSetting, TomnetError
from ..support.identity import plain
from ..support.interrupts import Interrupted, stop_requests
from ..support.json_files import append_jsonl, truncate_jsonl
from ..support.mesh import check_divides, in_memory, over, spread
from ..support.named_arrays import named_arrays, with_arrays
from ..support.precision import usual_dtype
from ..support.processes import anyone, by_the_first, is_first, locked
from ..support.progress import Progress
from ..support.run_folder import CHECKPOINT, METRICS, Run, enter_run
from ..support.streams import HELD_OUT_STREAM, NOISE_STREAM, TRAIN_STREAM, WEIGHT_STREAM, stream
from ..support.trees import on_device, on_host, pick, stack
from .bottleneck import annealed
from .checkpoint import load_observer, load_state, save_observer, save_state
from .config import ObserverConfig
from .frames import Capacity, capacity_for, deal, frames_of, usual_capacity
from .losses import Reduction, mean_losses
from .tomnet import Reading, ToMnet, observe

Sample = Callable[[Key[Scalar, ""], int], Encounter]
"""`(key, how many current episodes) -> encounters` with freshly drawn agents; those that share a past as one group."""

OBSERVER = "observer.safetensors"


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """How an observer is trained, and how often it is looked at and saved.

    >>> tomnet.TrainingConfig(steps=400, batch=32).learning_rate
    0.001
    """

    steps: int
    batch: int = 64  # encounters in a step: current episodes, however many queries there are about each
    currents: int = 1  # current episodes of an agent, which share its past
    queries: int = 1  # about each current episode, at times of their own
    swap_probability: float | None = None  # in current episodes, weighted back; None: as the world has it
    after_subgoal: float = 1.0  # how often the first steps after it are asked about, beside any others
    reduction: Reduction = "sum"  # of a head's losses over objects and discounts
    learning_rate: float = 1e-3
    chunk: int = 20  # steps between two looks at the clock, the loss and the checkpoint
    held_out: int = 256  # encounters evaluated while it runs
    evaluate_every: int = 10  # chunks
    checkpoint_seconds: float = 30.0
    beta: float = 0.0  # the price of a nat in the bottleneck, at last
    anneal: float = 0.25  # the share of the steps over which it rises

    def __post_init__(self):
        for name in ("steps", "batch", "learning_rate", "chunk", "held_out", "evaluate_every"):
            if not getattr(self, name) > 0:
                raise BadSetting(f"TrainingConfig.{name}", getattr(self, name), "must be above 0")
        if self.currents < 1 or self.batch % self.currents:
            raise BadSetting("TrainingConfig.currents", self.currents, f"must divide batch={self.batch}")
        if self.queries < 1:
            raise BadSetting("TrainingConfig.queries", self.queries, "must be above 0")
        if self.swap_probability is not None and not 0 < self.swap_probability < 1:
            why = "must lie between 0 and 1: what the world may do, swap or not, must stay possible"
            raise BadSetting("TrainingConfig.swap_probability", self.swap_probability, why)
        if not 0 < self.after_subgoal < float("inf"):
            raise BadSetting("TrainingConfig.after_subgoal", self.after_subgoal, "must be above 0")
        if self.after_subgoal != 1 and self.swap_probability is None:
            why = "goes with a swap_probability: it is there for what follows a swap"
            raise BadSetting("TrainingConfig.after_subgoal", self.after_subgoal, why)
        if self.reduction not in get_args(Reduction):
            raise BadSetting("TrainingConfig.reduction", repr(self.reduction), "must be 'sum' or 'mean'")

    def met_after(self, steps: int) -> dict[str, int]:
        """Current episodes met, and queries about them, in that many steps."""
        return {"encounters": steps * self.batch, "queries": steps * self.batch * self.queries}


class Diverged(TomnetError):
    """A loss that is not finite; the last good weights are kept."""


class TrainingState(eqx.Module):
    observer: ToMnet
    optimiser: optax.OptState
    step: Int[Array, ""]


def optimiser(training: TrainingConfig) -> optax.GradientTransformation:
    """Adam; the rate rises for the first 2% of the steps and falls to 1% on a cosine."""
    warm_up = max(1, training.steps // 50)
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, training.learning_rate, warm_up, max(training.steps, warm_up + 1), 0.01 * training.learning_rate
    )
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))


def first_state(
    config: ObserverConfig, training: TrainingConfig, seed: int, start: ToMnet | None = None
) -> TrainingState:
    """Weights at random, or those of a `start` of the same shape; what that one met in training is forgotten."""
    observer = ToMnet(config, key=stream(seed, WEIGHT_STREAM))
    if start is not None:
        observer = with_arrays(observer, named_arrays(start), Path("start"))
    return TrainingState(observer, optimiser(training).init(eqx.filter(observer, eqx.is_array)), jnp.int32(0))


def train_step(
    key: Key[Scalar, ""], state: TrainingState, batch: Encounter, training: TrainingConfig, capacity: Capacity
) -> tuple[TrainingState, dict[str, Float[Array, ""]]]:
    """One step of Adam on one batch of encounters; the losses before it. Posteriors are drawn from by a key that is
    this step's own."""
    noise_key, batch = jax.random.fold_in(key, state.step), spread(batch)

    def loss_of(observer: ToMnet):
        reading, observer = observer.read(
            batch.history, batch.query, capacity, key=noise_key, training=True, dtype=usual_dtype()
        )
        losses = mean_losses(reading.predictions, batch.targets, batch.weight, training.reduction)
        total = sum(losses.values())
        if observer.config.bottleneck:
            prices = divergences(reading)
            total = total + annealed(training.beta, training.anneal, state.step, training.steps) * sum(prices.values())
            losses |= prices
        return total, (losses, observer)

    gradients, (losses, observer) = eqx.filter_grad(loss_of, has_aux=True)(state.observer)
    updates, optimiser_state = optimiser(training).update(gradients, state.optimiser)
    # the running moments come moved on in `observer`; their gradients, and so their updates, are zero
    return TrainingState(eqx.apply_updates(observer, updates), optimiser_state, state.step + 1), losses


def divergences(reading: Reading) -> dict[str, Float[Array, ""]]:
    """Nats that the embeddings tell: KL(posterior ‖ prior), on average over current episodes for the character and over
    queries for the mental state. They depend on nothing that comes later, and so need no weights."""
    posteriors = {"character_nats": reading.character, "mental_nats": reading.mental}
    return {
        name: jnp.sum(posterior.divergence()) / posterior.mean.shape[0]
        for name, posterior in posteriors.items()
        if posterior is not None
    }


one_step = eqx.filter_jit(train_step)


@eqx.filter_jit
def many_steps(
    key: Key[Scalar, ""], state: TrainingState, batches: Encounter, training: TrainingConfig, capacity: Capacity
):
    arrays, static = eqx.partition(state, eqx.is_array)

    def body(arrays, batch):
        state, losses = train_step(key, eqx.combine(arrays, static), batch, training, capacity)
        return eqx.filter(state, eqx.is_array), losses

    arrays, losses = jax.lax.scan(body, arrays, batches)
    return eqx.combine(arrays, static), losses


def train_chunk(
    key: Key[Scalar, ""], state: TrainingState, batches: Encounter, training: TrainingConfig, capacity: Capacity
) -> tuple[TrainingState, dict[str, Float[Array, ""]]]:
    """One step for each batch (leading axis), and the mean losses.

    On a GPU as one program. On the CPU step by step: inside a loop, XLA's CPU backend computes convolutions with one
    slow thread.
    """
    if jax.default_backend() != "cpu":
        state, losses = many_steps(key, state, batches, training, capacity)
    else:
        rows = []
        for index in range(batches.past_real.shape[0]):
            batch = pick(batches, index)
            state, row = one_step(key, state, batch, training, capacity)
            rows.append(row)
        losses = stack(rows)
    return state, jax.tree.map(jnp.mean, losses)


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
        done = int(state.step)

        def checkpoint():
            by_the_first(lambda: save_state(folder / CHECKPOINT, state, {"seconds": seconds}))

        def log(row: dict[str, Any]):
            by_the_first(lambda: append_jsonl(folder / METRICS, row))

        with Progress(title, training.steps, done) as progress:
            if done < training.steps:
                sample = eqx.filter_jit(shared_out(sample, mesh))
                looked_at = sample if sample_held_out is None else eqx.filter_jit(shared_out(sample_held_out, mesh))
                held_out = looked_at(stream(seed, HELD_OUT_STREAM), training.held_out)
                glimpse = pick(held_out, slice(8)).one_by_one()
                held_out = held_out.one_by_one()
                usual = usual_capacity(draw_chunk(sample, training, 0, seed).one_by_one().history, training.batch)
                if start is not None and not done:
                    before = {"step": 0} | training.met_after(0)
                    log(before | {"held_out": held_out_losses(state.observer, held_out)})
            started, saved = time.monotonic() - seconds, time.monotonic()
            while done < training.steps:
                chunk, good = done // training.chunk, state
                state, losses = run_chunk(state, sample, training, chunk, seed, usual)
                seconds = time.monotonic() - started
                step = int(state.step)
                row: dict[str, Any] = {"step": step} | training.met_after(step)
                row |= {"seconds": round(seconds, 2), **losses}
                due = step >= training.steps or (chunk + 1) % training.evaluate_every == 0
                # a chunk's last step can ruin the weights after its own loss was measured: look every time
                seen = held_out_losses(state.observer, held_out if due else glimpse)
                if due:
                    row["held_out"] = seen
                if not all(np.isfinite(loss) for loss in (*losses.values(), *seen.values())):
                    where, state = f"between steps {done} and {step}", good
                    checkpoint()
                    raise Diverged(f"{title}: a loss is not finite {where}; the last good weights are in {folder}")
                done = step
                log(row)
                progress.advance(done, losses)
                if anyone(stopped.is_set()):
                    checkpoint()
                    raise Interrupted(f"interrupted at step {done} of {training.steps}; --resume goes on from there")
                if anyone(done >= training.steps or time.monotonic() - saved > training.checkpoint_seconds):
                    checkpoint()
                    saved = time.monotonic()
        told = run.origin | identity | {"training": plain(training), "seconds": round(seconds, 1), "seed": seed}
        by_the_first(lambda: save_observer(folder / OBSERVER, state.observer, told))
    return state.observer if mesh is None else on_device(on_host(state.observer))


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
