"""What a step of training costs as the work grows, and how it is shared out over devices.

    python benchmarks/scaling.py                   # every curve, some minutes on two cores
    python benchmarks/scaling.py agents devices    # some

Shapes are small: a curve says how cost grows, not what a full run takes. Without an accelerator, devices are virtual:
eight that share the cores of this machine. Their times then show what sharing out costs; what one device is left with
to do is told by the compiler's own count of its operations.
"""

import argparse
import dataclasses
import os
import statistics
import time
from collections.abc import Callable, Iterator

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts
VIRTUAL = "--xla_force_host_platform_device_count"
if VIRTUAL not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {VIRTUAL}=8".strip()

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh  # noqa: E402

from tomnet.agents.population import senses_of  # noqa: E402
from tomnet.agents.population_config import POPULATION_PRESETS  # noqa: E402
from tomnet.agents.population_update import first_learners, update_all, update_key  # noqa: E402
from tomnet.experiments.experiment import ObserverSpec  # noqa: E402
from tomnet.experiments.registry import find  # noqa: E402
from tomnet.experiments.run import find_observer  # noqa: E402
from tomnet.observer.frames import capacity_for  # noqa: E402
from tomnet.observer.training import draw_chunk, shared_out  # noqa: E402
from tomnet.observer.training_step import first_state, one_step  # noqa: E402
from tomnet.support.mesh import mesh_of, over, spread  # noqa: E402

REPEATS = 5
SEED = 0


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one update, or of one step."""

    seconds: float
    drawing: float  # seconds, of the encounters that a step learns from
    operations: float  # floating-point, of one device


def median_seconds(work: Callable[[int], object]) -> float:
    """After a first time, which compiles."""
    times = []
    for number in range(REPEATS + 1):
        started = time.perf_counter()
        jax.block_until_ready(work(number))
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def of_population(networks: int, mesh: Mesh | None = None) -> Cost:
    """One update of so many networks of the smoke preset's size, each in 4 worlds for 8 steps on a grid of 5×5."""
    preset = POPULATION_PRESETS["smoke"]
    world = dataclasses.replace(preset.world, size=5, objects=3, max_walls=1)
    network = dataclasses.replace(preset.network, size=5, kinds=4)
    training = dataclasses.replace(
        preset, conditions=("3x3",), networks=networks, keep=1, chunk=networks, world=world, network=network
    )
    with over(mesh):
        senses, indices = spread(
            (senses_of([training.condition(index) for index in training.indices]), jnp.asarray(training.indices))
        )
        learners = first_learners(SEED, indices, training)
        program = update_all.lower((update_key(SEED, 0), indices, senses), learners, training).compile().compiled

        def update(number: int):
            nonlocal learners
            learners, told = update_all((update_key(SEED, number), indices, senses), learners, training)
            return told

        return Cost(median_seconds(update), 0.0, program.cost_analysis()["flops"])


def of_observer(spec: ObserverSpec, mesh: Mesh | None = None) -> Cost:
    """One step of an observer, and the encounters for it."""
    training = dataclasses.replace(spec.training, chunk=1)
    with over(mesh):
        sample = eqx.filter_jit(shared_out(spec.sampler(), mesh))
        encounters = draw_chunk(sample, training, 0, SEED).one_by_one()
        capacity, state = capacity_for(encounters.history), first_state(spec.observer, training, SEED)
        key = jax.random.key(SEED)
        program = one_step.lower(key, state, encounters, training, capacity).compile().compiled

        def step(number: int):
            return eqx.filter(one_step(key, state, encounters, training, capacity), eqx.is_array)

        return Cost(
            median_seconds(step),
            median_seconds(lambda number: draw_chunk(sample, training, number, SEED)),
            program.cost_analysis()["flops"],
        )


def observer(batch: int = 64, size: int = 11, step_limit: int = 31) -> ObserverSpec:
    """The smoke preset's of goal inference, in another world and with another batch."""
    spec = find_observer(find("goal-inference"), "smoke", "2d")
    return dataclasses.replace(
        spec,
        world=dataclasses.replace(spec.world, size=size, step_limit=step_limit),
        observer=dataclasses.replace(spec.observer, size=size),
        training=dataclasses.replace(spec.training, batch=batch),
    )


def agents() -> Iterator[tuple[str, Cost]]:
    for networks in (8, 32, 128):
        yield f"networks {networks}", of_population(networks)


def encounters() -> Iterator[tuple[str, Cost]]:
    for batch in (16, 64, 256):
        yield f"encounters {batch}", of_observer(observer(batch=batch))


def grid() -> Iterator[tuple[str, Cost]]:
    for size in (7, 11, 15):
        yield f"grid {size}x{size}", of_observer(observer(size=size))


def length() -> Iterator[tuple[str, Cost]]:
    for step_limit in (16, 31, 62):
        yield f"steps {step_limit} at most", of_observer(observer(step_limit=step_limit))


def devices() -> Iterator[tuple[str, Cost]]:
    for count in (1, 2, 8):
        yield f"devices {count}, networks 32", of_population(32, mesh_of(count))
    for count in (1, 2, 8):
        yield f"devices {count}, encounters 64", of_observer(observer(), mesh_of(count))


CURVES = {curve.__name__: curve for curve in (agents, encounters, grid, length, devices)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("curves", nargs="*", choices=[*CURVES, []], help="some of them (default: all)")
    asked = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{jax.device_count()} devices ({jax.devices()[0].device_kind}), {cores} cores, jax {jax.__version__}")
    print("| | a step, ms | drawing for it, ms | of one device, M operations |\n|---|---|---|---|", flush=True)
    for name in asked.curves or CURVES:
        for what, cost in CURVES[name]():
            numbers = f"{1e3 * cost.seconds:.1f} | {1e3 * cost.drawing:.1f} | {cost.operations / 1e6:,.1f}"
            print(f"| {what} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
