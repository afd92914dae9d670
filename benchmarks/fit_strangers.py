"""The acceptance test of `tomnet fit`: strangers of three hidden kinds, cross-validated by agent.

    python benchmarks/fit_strangers.py [--folder DIR] [--seed 0]

Writes the mazes of `strangers.py` into DIR, fits an observer for each of the five folds, and prints for every observer
how often it knows which object is taken after 20 past episodes where the nearest one was not, with 95% intervals over
the 30 agents, each of them a stranger in its own fold. A hidden kind is recovered if the nearest centre of the
embeddings of known agents is that of the agent's own kind.
"""

import argparse
import json
import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from strangers import write_strangers

from tomnet.support.cpu import prepare_cpu


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, help="where mazes and observers go (default: a temporary folder)")
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    prepare_cpu()
    with tempfile.TemporaryDirectory() as temporary:
        print(json.dumps(measure(asked.folder or Path(temporary), asked.seed), indent=1))


def measure(folder: Path, seed: int) -> dict:
    from tomnet.experiments.analysis.statistics import mean_interval, share_interval
    from tomnet.fit.run import fit
    from tomnet.fit.split import FOLDS
    from tomnet.recordings.folder import read_recordings

    kinds = write_strangers(folder / "episodes", seed=seed)
    recordings = read_recordings(folder / "episodes")
    numbers, recovered, seconds, recommended = defaultdict(list), [], [], []
    for fold in range(FOLDS):
        start = time.monotonic()
        result = fit(recordings, folder / f"fold-{fold}", seed=seed, fold=fold)
        seconds.append(round(time.monotonic() - start))
        recommended.append(result.recommended)
        for score in result.agent_scores:
            numbers[score.observer, score.cases, "nats"].append(score.nats)
            numbers[score.observer, score.cases, "accuracy"].append(score.accuracy)
        for score in result.agent_scores:
            if score.observer == result.recommended:
                numbers["recommended", score.cases, "nats"].append(score.nats)
                numbers["recommended", score.cases, "accuracy"].append(score.accuracy)
        for score in result.scores:
            if (score.observer, score.head, score.past) == ("network", "outcome", 0):
                numbers["no past, five folds", score.cases, "accuracy"].append(score.accuracy.mean)
                numbers["no past, five folds", score.cases, "nats"].append(score.nats.mean)
        recovered += recovered_kinds(result.points, kinds)
    table = {}
    for (observer, cases, unit), values in sorted(numbers.items()):
        one = mean_interval(np.array(values))
        table[f"{observer}, {cases}, {unit}"] = [round(number, 3) for number in (one.mean, one.low, one.high)]
    share = share_interval(np.array(recovered))
    return {
        "observers": table,
        "kinds recovered": [round(number, 3) for number in (share.mean, share.low, share.high)],
        "recommended": recommended,
        "seconds a fold": seconds,
        "cores": len(os.sched_getaffinity(0)),
    }


def recovered_kinds(points: list, kinds: dict[str, str]) -> list[bool]:
    known = [point for point in points if point.part != "test"]
    centres = {
        kind: np.mean([point.embedding for point in known if kinds[point.agent] == kind], axis=0)
        for kind in set(kinds.values())
    }
    return [
        min(centres, key=lambda kind: np.linalg.norm(centres[kind] - point.embedding)) == kinds[point.agent]
        for point in points
        if point.part == "test"
    ]


if __name__ == "__main__":
    main()
