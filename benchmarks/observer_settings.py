"""Settings of an observer's training side by side: how many queries and current episodes it learns from in a second.

    python benchmarks/observer_settings.py --experiment explicit-beliefs --preset full \\
        --setting "" --setting "currents=1 batch=128" --setting "queries=1 swap_probability=None" \\
        --setting "torso_depth=13"

Each setting changes fields of `TrainingConfig` or `ObserverConfig` in the preset (`--preset smoke` for a trial).
Chunks are drawn and learned from as in training. The first, in which everything is compiled, is timed by itself; of
the others the median counts, because a chunk that needs more room than usual may be a program of its own.
"""

import argparse
import dataclasses
import statistics
import time

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
from settings import changed  # noqa: E402

from tomnet.experiments.experiment import PRESETS, ObserverSpec  # noqa: E402
from tomnet.experiments.registry import find  # noqa: E402
from tomnet.experiments.run import find_observer  # noqa: E402
from tomnet.observer.frames import usual_capacity  # noqa: E402
from tomnet.observer.training import draw_chunk, run_chunk  # noqa: E402
from tomnet.observer.training_step import first_state  # noqa: E402

SEED = 7
PARTS = ("training", "observer")  # whose fields a setting may change


def measure(spec: ObserverSpec, chunks: int) -> tuple[float, float, float]:
    """Seconds for the first chunk, compilation included; then for one chunk, and for drawing one."""
    training, sample = spec.training, eqx.filter_jit(spec.sampler())
    training = dataclasses.replace(training, steps=training.chunk * (chunks + 1))
    state = first_state(spec.observer, training, SEED)
    usual = usual_capacity(draw_chunk(sample, training, 0, SEED).one_by_one().history, training.batch)
    all_of_it, drawing = [], []
    for chunk in range(chunks + 1):
        started = time.perf_counter()
        state, _ = run_chunk(state, sample, training, chunk, SEED, usual)
        jax.block_until_ready(jax.tree.leaves(eqx.filter(state, eqx.is_array)))
        all_of_it.append(time.perf_counter() - started)
        started = time.perf_counter()
        jax.block_until_ready(draw_chunk(sample, training, chunk, SEED))
        drawing.append(time.perf_counter() - started)
    return all_of_it[0], statistics.median(all_of_it[1:]), statistics.median(drawing[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--experiment", default="explicit-beliefs")
    parser.add_argument("--observer", help="of the experiment (default: its first)")
    parser.add_argument("--preset", default="full", choices=PRESETS)
    parser.add_argument("--chunks", type=int, default=5, help="timed, after the first")
    parser.add_argument("--setting", action="append", help='such as "queries=4 batch=256"; several, one by one')
    asked = parser.parse_args()
    experiment = find(asked.experiment)
    name = asked.observer or experiment.specs(asked.preset)[0].name
    plain = find_observer(experiment, asked.preset, name)
    print(f"{asked.experiment}/{name}, {asked.preset}, {jax.devices()[0].device_kind}", flush=True)
    for setting in asked.setting or [""]:
        spec = changed(plain, setting, *PARTS)
        first, one, drawing = measure(spec, asked.chunks)
        met = spec.training.met_after(spec.training.chunk)
        rates = ", ".join(f"{count / one:,.0f} {what}/s" for what, count in met.items())
        print(f"{setting or 'as the preset has it'}: {rates}; {drawing / one:.0%} of it drawing; first {first:.0f} s")


if __name__ == "__main__":
    main()
