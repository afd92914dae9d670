"""Trains the network in a run folder: whole sequences of episodes at a time, stopped when validation gets no better.

One pass over an agent's episodes asks about every one of them, each after all that came before. What a step learns from
depends on the seed and its number alone, so that a run that was killed and resumed ends with the same weights.
"""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from ..observer.checkpoint import load_state, save_state
from ..recordings.recording import UNKNOWN
from ..support.errors import BadSetting
from ..support.interrupts import Interrupted
from ..support.json_files import append_jsonl, truncate_jsonl
from ..support.progress import Progress
from ..support.run_folder import CHECKPOINT, METRICS
from ..support.streams import WEIGHT_STREAM, stream
from .dataset import QUERIES, Dataset
from .features import Table, Views, table_of, views_of
from .network import Character, Network, NetworkConfig
from .symmetry import usable_symmetries

CHECKPOINT_SECONDS = 30.0


@dataclasses.dataclass(frozen=True)
class FitTraining:
    """How the network is trained. Early stopping decides how long: `steps` is the most there can be."""

    steps: int = 800
    sequences: int = 16  # agents in a step
    window: int = 24  # of each, episodes in a row
    views: int = 48  # states in a step whose next action and successor maps are learned
    learning_rate: float = 3e-3
    weight_decay: float = 1e-3
    evaluate_every: int = 25
    patience: int = 10  # evaluations without a better one

    @staticmethod
    def for_episodes(count: int) -> "FitTraining":
        """More to learn from takes longer to learn."""
        return FitTraining(steps=min(400 + count // 2, 3000))

    def __post_init__(self):
        for name, value in vars(self).items():
            if not value > 0:
                raise BadSetting(f"FitTraining.{name}", value, "must be above 0")


@dataclasses.dataclass(frozen=True)
class Trained:
    """How long it took, and after how many steps the network was at its best."""

    steps: int
    best_step: int
    seconds: float


class Batch(eqx.Module):
    episodes: Int[Array, "sequence window"]  # in the order of time; -1 behind them is none
    counted: Bool[Array, "sequence window"]  # those that are asked about
    viewed: Int[Array, "view 3"]  # sequence, place in the window and query of each view
    views: Views


class FitState(eqx.Module):
    network: Network
    best: Network
    optimiser: optax.OptState
    step: Int[Array, ""]
    best_loss: Float[Array, ""]
    best_step: Int[Array, ""]


def said_of(network: Network, table: Table, episodes: Int[Array, "sequence window"]):
    """The character before each episode, and the log-probability of each outcome at each of its query states."""
    real = episodes >= 0
    characters = jax.vmap(network.character_net)(table.seen[episodes], table.episode[episodes], real)
    before: Character = jax.tree.map(lambda leaf: leaf[:, :-1], characters)
    ask = jax.vmap(network.outcome_head, in_axes=(None, 0, 0))  # over queries
    outcomes = jax.vmap(jax.vmap(ask))(before, table.asked[episodes], table.possible[episodes])
    return before, outcomes


def losses_of(network: Network, table: Table, batch: Batch) -> dict[str, Float[Array, ""]]:
    """In nats: of the outcome at all query states, of the next action and of the successor maps where it looked."""
    before, outcomes = said_of(network, table, batch.episodes)
    happened = jnp.take_along_axis(outcomes, table.outcome[batch.episodes][..., None], -1)[..., 0]
    outcome = -jnp.where(batch.counted[..., None], happened, 0).sum() / jnp.maximum(batch.counted.sum(), 1) / QUERIES
    sequence, place, query = batch.viewed.T
    # the maps are read with these goals in mind, and do not change what is thought of the goals
    goals = jax.lax.stop_gradient(jnp.exp(outcomes[sequence, place, query]))
    actions, successor = network.map_net(batch.views, goals, before.embedding[sequence, place])
    known = batch.views.action != UNKNOWN
    action = jnp.take_along_axis(actions, jnp.maximum(batch.views.action, 0)[:, None], -1)[:, 0]
    return {
        "outcome": outcome,
        "action": -jnp.where(known, action, 0).sum() / jnp.maximum(known.sum(), 1),
        "successor": -(batch.views.successor * successor).sum((-1, -2)).mean(),
    }


def _optimiser(training: FitTraining) -> optax.GradientTransformation:
    warm_up = max(1, training.steps // 50)
    rate = optax.warmup_cosine_decay_schedule(0.0, training.learning_rate, warm_up, training.steps + 1)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=training.weight_decay))


@eqx.filter_jit
def _step(state: FitState, table: Table, batch: Batch, training: FitTraining):
    def loss(network: Network):
        losses = losses_of(network, table, batch)
        return sum(losses.values()), losses

    gradients, losses = eqx.filter_grad(loss, has_aux=True)(state.network)
    parameters = eqx.filter(state.network, eqx.is_array)
    updates, optimiser = _optimiser(training).update(gradients, state.optimiser, parameters)
    moved = (eqx.apply_updates(state.network, updates), optimiser, state.step + 1)
    return eqx.tree_at(lambda state: (state.network, state.optimiser, state.step), state, moved), losses


_evaluate = eqx.filter_jit(losses_of)


def first_state(config: NetworkConfig, training: FitTraining, seed: int, start: Network | None = None) -> FitState:
    network = Network(config, key=stream(seed, WEIGHT_STREAM)) if start is None else start
    optimiser = _optimiser(training).init(eqx.filter(network, eqx.is_array))
    return FitState(network, network, optimiser, jnp.int32(0), jnp.float32(jnp.inf), jnp.int32(0))


# --- Batches


def draw_batch(data: Dataset, train: Bool[np.ndarray, "episode"], training: FitTraining, seed: int, step: int) -> Batch:
    """Windows of training agents, each beginning anywhere; states of theirs, each turned over in some way."""
    random = np.random.default_rng((seed, step))
    own = [each[train[each]] for each in data.sequences if train[each].any()]
    episodes = np.full((training.sequences, training.window), -1)
    for row, chosen in enumerate(random.integers(len(own), size=training.sequences)):
        start = random.integers(max(len(own[chosen]) - training.window // 2, 1))
        part = own[chosen][start : start + training.window]
        episodes[row, : len(part)] = part
    symmetries = usable_symmetries(data.schema.size, data.schema.action_names, data.schema.headed)
    return _batch(data, episodes, episodes >= 0, training.views, random, symmetries)


def validation_batch(data: Dataset, wanted: Bool[np.ndarray, "episode"], training: FitTraining) -> Batch:
    """Every wanted episode once, the agent's earlier ones in the window before it."""
    half = max(training.window // 2, 1)
    rows = []
    for own in data.sequences:
        for first in range(0, len(own), half):
            asked = own[first : first + half]
            if wanted[asked].any():
                before = own[max(first - half, 0) : first]
                rows.append(np.concatenate([before, asked]))
    episodes = np.full((len(rows), 2 * half), -1)
    counted = np.zeros(episodes.shape, bool)
    seen: set[int] = set()
    for row, part in enumerate(rows):
        episodes[row, : len(part)] = part
        counted[row, : len(part)] = wanted[part] & ~np.isin(part, list(seen))
        seen |= set(part.tolist())
    return _batch(data, episodes, counted, 4 * training.views, np.random.default_rng(0), None)


def _batch(data: Dataset, episodes, counted, views: int, random: np.random.Generator, symmetries) -> Batch:
    places = np.argwhere(counted)
    chosen = places[random.integers(len(places), size=views)]
    query = random.integers(QUERIES, size=views)
    symmetry = None if symmetries is None else random.choice(symmetries, size=views)
    seen = views_of(data, episodes[tuple(chosen.T)], query, symmetry)
    viewed = np.concatenate([chosen, query[:, None]], -1)
    return Batch(jnp.asarray(episodes), jnp.asarray(counted), jnp.asarray(viewed), seen)


# --- The run


def train_network(
    data: Dataset,
    train: Bool[np.ndarray, "episode"],
    validation: Bool[np.ndarray, "episode"],
    config: NetworkConfig,
    training: FitTraining,
    folder: Path,
    *,
    seed: int,
    start: Network | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Network, Trained]:
    """The network with the lowest validation loss, and how it got there; goes on from a checkpoint in the folder."""
    state, seconds = first_state(config, training, seed, start), 0.0
    if (folder / CHECKPOINT).exists():
        state, header = load_state(folder / CHECKPOINT, state)
        seconds = header["seconds"]
    truncate_jsonl(folder / METRICS, lambda row: row["step"] <= int(state.step))
    table = table_of(data)
    held_out = validation_batch(data, validation, training)
    started = saved = time.monotonic()
    started -= seconds
    losses, step = {}, int(state.step)

    def checkpoint():
        save_state(folder / CHECKPOINT, state, {"seconds": time.monotonic() - started})

    with Progress("network", training.steps, step) as progress:
        while step < training.steps and not _given_up(state, training):
            state, losses = _step(state, table, draw_batch(data, train, training, seed, step), training)
            step += 1
            if step % training.evaluate_every == 0 or step == training.steps:
                seen = _evaluate(state.network, table, held_out)
                loss = sum(seen.values())
                if loss < state.best_loss:
                    better = (state.network, jnp.float32(loss), state.step)
                    state = eqx.tree_at(lambda state: (state.best, state.best_loss, state.best_step), state, better)
                row = {name: round(float(value), 4) for name, value in losses.items()}
                row = {"step": step, "seconds": round(time.monotonic() - started, 2)} | row
                row["validation"] = {name: round(float(value), 4) for name, value in seen.items()}
                append_jsonl(folder / METRICS, row)
                progress.advance(step, {name: float(value) for name, value in seen.items()})
            if stopped():
                checkpoint()
                raise Interrupted(f"interrupted at step {step} of {training.steps}; --resume goes on from there")
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                checkpoint()
                saved = time.monotonic()
    checkpoint()
    return state.best, Trained(step, int(state.best_step), round(time.monotonic() - started, 1))


def _given_up(state: FitState, training: FitTraining) -> bool:
    return int(state.step) - int(state.best_step) >= training.patience * training.evaluate_every
