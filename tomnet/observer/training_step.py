"""One step of training: the losses of a batch of encounters, their gradients, Adam; and a chunk of such steps."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, Scalar

from ..episodes.encounter import Encounter
from ..support.mesh import spread
from ..support.named_arrays import named_arrays, with_arrays
from ..support.precision import usual_dtype
from ..support.streams import WEIGHT_STREAM, stream
from ..support.trees import pick, stack
from .bottleneck import annealed
from .config import ObserverConfig, TrainingConfig
from .frames import Capacity
from .losses import mean_losses
from .tomnet import Reading, ToMnet


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
