"""How long an observer takes to follow an agent: one more step, and what it then says.

    python benchmarks/online_answers.py [--steps 200]

Every kind of pretrained observer, and one of untrained weights with the mental net and the bottleneck of sections 3.3
to 3.5, at full size. Answers come back as numpy, so all of the work is in the time. Compilation is not: the first steps
are left out. The load of the machine is printed, because other jobs may share it.
"""

import argparse
import os
import time
import warnings

import numpy as np

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import jax  # noqa: E402

import tomnet  # noqa: E402
from tomnet.observer.config import HEADS  # noqa: E402

OBSERVERS = ("random-agents/alpha-1", "goal-inference/2d", "goal-snapshots/all-heads", "greedy-agents/greedy")
UNTRAINED = "untrained, mental net and bottleneck"
WARM_UP = 3
LEVEL = "@..........\n" + "...........\n" * 9 + "A.B..C....D"
ROUND = ("right", "down", "left", "up")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=200)
    steps = options.parse_args().steps
    warnings.simplefilter("ignore", tomnet.BeyondTraining)  # more episodes than some of them know
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at first")
    for name in (*OBSERVERS, UNTRAINED):
        for past in (1, 5):
            seconds = followed(observer_named(name), past, steps)
            median, fastest = 1000 * np.median(seconds), 1000 * min(seconds)
            print(f"{name}, N_past {past}: a step in {median:.1f} ms (median), {fastest:.1f} ms (fastest)", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} at last")


def observer_named(name: str) -> tomnet.ToMnet:
    if name != UNTRAINED:
        return tomnet.load(name)
    config = tomnet.ObserverConfig(mental=True, bottleneck=True, embedding=8, heads=HEADS)
    return tomnet.ToMnet(config, key=jax.random.key(0))


def followed(observer: tomnet.ToMnet, past: int, steps: int) -> list[float]:
    """Seconds of each step and the answer after it, on a walk round a square."""
    walks = tomnet.record(tomnet.MAZE, lambda scene: "right", episodes=past, agent="ann", steps=20)
    seen = walks if observer.config.character == "episodes" else [walk.step(0) for walk in walks]
    episode, seconds = tomnet.meet(observer, seen).begin(LEVEL), []
    for number in range(WARM_UP + steps):
        start = time.perf_counter()
        episode = episode.step(ROUND[number % len(ROUND)])
        episode.ask()
        seconds.append(time.perf_counter() - start)
    return seconds[WARM_UP:]


if __name__ == "__main__":
    main()
