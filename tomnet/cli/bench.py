"""Throughput on this machine: world steps, episodes, training. Every number is a median after a warm-up.

tomnet bench                 everything
tomnet bench world --json    one part, for scripts
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from ..agents.planner import PlannerSpecies
from ..agents.population import senses_of
from ..agents.population_config import POPULATION_PRESETS
from ..agents.population_update import first_learners, update_all, update_key
from ..agents.random_policy import RandomSpecies
from ..episodes.episode import Snapshot
from ..episodes.rollout import play
from ..experiments.experiment import ObserverSpec, Preset
from ..experiments.registry import EXPERIMENTS
from ..observer.frames import capacity_for, deal, frame_count, frames_of
from ..observer.training_step import first_state, train_chunk
from ..support.progress import stage
from ..support.trees import pick
from ..world.gridworld import ACTIONS, MAZE, SUBGOAL_MAZE, State, World, reset_to_level, step_auto_reset
from ..world.levels import sample_level
from ..world.views import window


@dataclasses.dataclass(frozen=True)
class Measurement:
    """How much of something is done in a second."""

    part: str
    what: str
    median: float
    unit: str
    notes: dict[str, Any]  # sizes, the range of the repeats, and what else follows from the median

    def noted(self, more: dict[str, Any]) -> "Measurement":
        return dataclasses.replace(self, notes=self.notes | more)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much work one repeat does: enough to keep the device busy, and to last some tenths of a second."""

    worlds: int
    steps: int
    agents: int
    batches: int
    repeats: int = 5
    preset: Preset = "laptop"  # of the observers trained
    training: Preset = "laptop"  # of the deep RL agents trained


POOL = 4096  # levels to begin anew from
CPU_SIZES = Sizes(worlds=4096, steps=128, agents=1024, batches=4)
GPU_SIZES = Sizes(worlds=65_536, steps=512, agents=16_384, batches=50, training="full")


def usual_sizes() -> Sizes:
    return CPU_SIZES if jax.default_backend() == "cpu" else GPU_SIZES


def bench(parts: Iterable[str], sizes: Sizes | None = None) -> Iterator[Measurement]:
    """One after the other, as they are measured."""
    for part in parts:
        yield from PARTS[part](sizes or usual_sizes())


def seconds_of(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - started


def measurement(
    part: str, what: str, unit: str, count: int, call: Callable[[], Any], repeats: int, **notes: Any
) -> Measurement:
    """`count` things done by each call, a second."""
    stage(f"{part}, {what}")
    seconds_of(call)  # compiles
    rates = sorted(count / seconds_of(call) for _ in range(repeats))
    notes["range"] = f"{rates[0]:,.0f} … {rates[-1]:,.0f}"
    return Measurement(part, what, statistics.median(rates), unit, notes)


# --- The world


def bench_world(sizes: Sizes) -> Iterator[Measurement]:
    done = sizes.worlds * sizes.steps
    for name, world in {"maze": MAZE, "subgoal maze": SUBGOAL_MAZE}.items():
        for seen, field_of_view in {"no observation": None, "5×5 observation": 5}.items():
            walk = random_walk(world, sizes.worlds, sizes.steps, field_of_view)
            what, notes = f"{name}, {seen}", {"worlds": sizes.worlds}
            yield measurement("world", what, "steps/s", done, walk, sizes.repeats, **notes)


def random_walk(world: World, worlds: int, steps: int, field_of_view: int | None) -> Callable[[], Array]:
    """Random actions in many worlds at once, each beginning anew from a pool of levels when its episode ends.

    What the call returns depends on every outcome and every observation, so that none can be optimised away.
    """
    draw = eqx.filter_jit(jax.vmap(sample_level, in_axes=(0, None)))
    pool = draw(jax.random.split(jax.random.key(0), POOL), world)
    state = reset_to_level(pick(pool, jnp.arange(worlds) % POOL))

    def act(carry: tuple[State, Int[Array, "world"]], key):
        state, total = carry
        action_key, world_key = jax.random.split(key)
        actions = jax.random.randint(action_key, (worlds,), 0, len(ACTIONS))
        step = jax.vmap(step_auto_reset, in_axes=(0, 0, 0, None, None))
        state, outcome = step(jax.random.split(world_key, worlds), state, actions, world, pool)
        total = total + outcome.consumed
        if field_of_view is not None:
            total = total + jax.vmap(window, in_axes=(0, None))(state, field_of_view).sum((-2, -1))
        return (state, total), None

    @jax.jit
    def walk(state: State) -> Int[Array, "world"]:
        keys = jax.random.split(jax.random.key(1), steps)
        return jax.lax.scan(act, (state, jnp.zeros(worlds, jnp.int32)), keys)[0][1]

    return lambda: walk(state)


# --- The agents


def bench_agents(sizes: Sizes) -> Iterator[Measurement]:
    species = {"planners": PlannerSpecies(objects=MAZE.objects), "random agents": RandomSpecies((1.0,))}
    for name, one_species in species.items():
        what, count = f"{name}, a fresh level for each episode", sizes.agents
        agents = one_species.sample(jax.random.key(0), count)
        keys = jax.random.split(jax.random.key(1), count)
        episodes = eqx.filter_jit(jax.vmap(lambda key, agent: play(MAZE)(key, agent, 1)))

        def call(episodes=episodes, keys=keys, agents=agents):
            return episodes(keys, agents)

        yield measurement("agents", what, "episodes/s", count, call, sizes.repeats, agents=count)


# --- Deep RL agents that learn


def bench_learning(sizes: Sizes) -> Iterator[Measurement]:
    """Updates of a chunk of networks, as in training: acting, learning and fresh levels."""
    training = POPULATION_PRESETS[sizes.training]
    learner, networks = training.learner, training.chunk
    first = training.indices_of(0)
    indices, senses = jnp.asarray(first), senses_of([training.condition(index) for index in first])
    learners, key = first_learners(0, indices, training), update_key(0, 0)

    def call():
        nonlocal learners  # an update takes the memory of what it is given
        learners, told = update_all((key, indices, senses), learners, training)
        return told

    what = f"deep RL agents, {sizes.training}"
    count, notes = networks * learner.worlds * learner.unroll, {"networks": networks, "worlds": learner.worlds}
    measured = measurement("learning", what, "agent-steps/s", count, call, sizes.repeats, **notes)
    yield measured.noted({"unroll": learner.unroll})


# --- The observer


def bench_observer(sizes: Sizes) -> Iterator[Measurement]:
    preset = sizes.preset
    firsts = {experiment.name: experiment.specs(preset)[0] for experiment in EXPERIMENTS.values()}
    for name, spec in firsts.items():
        if not spec.species.available():
            stage(f"{name} is left out: the zoo holds no agents for its observers to meet")
        else:
            yield _training(f"{name}/{spec.name}, {preset}", spec, sizes)


def _training(what: str, spec: ObserverSpec, sizes: Sizes) -> Measurement:
    """Steps of training on encounters that were drawn before, as `training.train` takes them."""
    stage(f"observer, {what}: encounters")
    training, batches = spec.training, sizes.batches
    count = training.batch * batches
    encounters = eqx.filter_jit(spec.sampler())(jax.random.key(0), count)
    frames = frame_count(encounters.past, encounters.history.shown)
    dealt = deal(frames_of(encounters.history), batches)
    encounters = jax.tree.map(lambda leaf: leaf[dealt], encounters).one_by_one()
    capacity = capacity_for(encounters.history)
    state = first_state(spec.observer, training, seed=0)
    past = encounters.past
    padded = (past.action if isinstance(past, Snapshot) else past.actions)[0].size
    measured = measurement(
        "observer",
        what,
        "encounters/s",
        count,
        lambda: train_chunk(jax.random.key(0), state, encounters, training, capacity),
        sizes.repeats,
        batch=training.batch,
    )
    return measured.noted(
        {
            "queries/s": round(measured.median * training.queries),
            "frames/s": round(measured.median * float(frames.sum()) / count),
            "padding skipped": f"{1 - capacity.past / padded:.0%}",
        }
    )


PARTS = {"world": bench_world, "agents": bench_agents, "learning": bench_learning, "observer": bench_observer}
