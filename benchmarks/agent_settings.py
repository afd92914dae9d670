"""Settings of deep RL agents side by side: what they earn, and whether they act on what they remember.

    python benchmarks/agent_settings.py --steps 4800000 --networks 6 --conditions 3x3 5x5 \\
        --setting "" --setting "read_out=cell" --setting "belief=0.5 gradient_norm=0.5"

Each setting changes fields of `LearnerConfig` or `NetworkConfig` in the `full` preset (`--preset smoke` for a trial)
and is trained in turn, its networks all at once and from the same seeds. A row for each setting and condition: the
mean return on held-out levels, the probability of turning back to where the favourite was last seen, out of sight, and
of the same step where it never was, each ± one standard error over networks; and the speed, compilation left out.
Choose by all of them: agents have been known to earn well without acting on what they remember.
"""

import argparse
import dataclasses
import time

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from settings import changed  # noqa: E402

from tomnet.agents.population import CONDITIONS, Population, as_stored, senses_of  # noqa: E402
from tomnet.agents.population_config import POPULATION_PRESETS, PopulationTraining  # noqa: E402
from tomnet.agents.population_update import (  # noqa: E402
    first_learners,
    own_keys,
    returns_on,
    update_all,
    update_key,
)
from tomnet.experiments.analysis.population_evaluation import canonical_agents  # noqa: E402
from tomnet.experiments.sally_anne.acts_on_memory import acts_on_memory  # noqa: E402
from tomnet.experiments.sally_anne.scenarios import all_scenarios  # noqa: E402
from tomnet.support.streams import CHOOSING, HELD_OUT, agent_stream  # noqa: E402
from tomnet.world.levels import draw_levels  # noqa: E402

SEED = 7
PARTS = ("learner", "network")  # whose fields a setting may change


def train(training: PopulationTraining):
    """All networks, and agent-steps a second once compiled."""
    indices = jnp.arange(training.total)
    senses = senses_of([training.condition(index) for index in range(training.total)])
    learners = first_learners(SEED, indices, training)
    started = time.monotonic()
    for number in range(training.learner.updates):
        learners, _ = update_all((update_key(SEED, number), indices, senses), learners, training)
        if number == 0:
            jax.block_until_ready(learners)
            started = time.monotonic()
    jax.block_until_ready(learners)
    seconds = time.monotonic() - started
    steps = (training.learner.updates - 1) * training.learner.worlds * training.learner.unroll * training.total
    networks = as_stored(learners.network)
    levels = draw_levels(agent_stream(SEED, HELD_OUT), training.levels, training.world)
    earned = returns_on(own_keys(agent_stream(SEED, CHOOSING), indices), networks, senses, levels, training)
    return networks, np.asarray(earned), steps / seconds


def plus_minus(each: np.ndarray) -> str:
    return (
        f"{np.mean(each):6.3f} ± {np.std(each, ddof=1) / len(each) ** 0.5:.3f}" if len(each) > 1 else f"{each[0]:6.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--preset", default="full", choices=POPULATION_PRESETS)
    parser.add_argument("--steps", type=int, help="of each network")
    parser.add_argument("--networks", type=int, default=6, help="of each condition")
    parser.add_argument("--conditions", nargs="+", default=["5x5"], choices=CONDITIONS)
    parser.add_argument("--setting", action="append", help='such as "belief=0.5 read_out=cell"; several, one by one')
    asked = parser.parse_args()
    conditions, total = tuple(asked.conditions), asked.networks * len(asked.conditions)
    plain = dataclasses.replace(
        POPULATION_PRESETS[asked.preset], conditions=conditions, networks=asked.networks, keep=1, chunk=total
    )
    if asked.steps:
        plain = changed(plain, f"steps={asked.steps}", *PARTS)
    scenarios = all_scenarios(plain.world)
    for setting in asked.setting or [""]:
        networks, earned, speed = train(changed(plain, setting, *PARTS))
        print(f"{setting or 'as the preset has it'}: {speed / 1e6:.3f} M agent-steps/s", flush=True)
        for place, name in enumerate(conditions):
            mine = np.arange(place, total, len(conditions))
            of_one = jax.tree.map(lambda leaf, mine=mine: leaf[mine], networks)
            returns = tuple(earned[mine].tolist())
            population = Population(of_one, CONDITIONS[name], returns, tuple(range(len(mine))), (), {})
            table = acts_on_memory(canonical_agents(population), scenarios, plain.world)
            back, never = (plus_minus(np.array(mean.each)) for mean in (table.beyond_view, table.never_there))
            print(f"  {name:14} return {plus_minus(earned[mine])}  back {back}  never there {never}", flush=True)


if __name__ == "__main__":
    main()
