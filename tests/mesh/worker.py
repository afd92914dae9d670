"""Trains on as many devices as it is told to: `python -m mesh.worker '{"jobs": […], "place": […]}'`.

A job is a kind, a folder, a number of devices, and perhaps the number of steps after which it is asked to stop.
"""

import dataclasses
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import equinox as eqx
from faults.victims import OBSERVER, OBSERVER_TRAINING, POPULATION, sample

from tomnet.agents import population_training
from tomnet.observer import training as observer_training
from tomnet.support import processes
from tomnet.support.interrupts import Interrupted
from tomnet.support.mesh import mesh_of, over
from tomnet.support.named_arrays import digest_of
from tomnet.support.provenance import provenance
from tomnet.support.run_folder import METRICS

STEPS = 20
EIGHT_AGENTS = dataclasses.replace(OBSERVER_TRAINING, steps=STEPS, chunk=5, batch=16, held_out=16)
EIGHT_NETWORKS = dataclasses.replace(
    POPULATION,
    networks=4,
    chunk=8,
    report_every=5,
    learner=dataclasses.replace(POPULATION.learner, steps=STEPS * 16),
)


def do(kind: str, folder: str, devices: int, stop_after: int | None = None) -> None:
    mesh = mesh_of(devices)
    how = {"seed": 0, "about": {"environment": provenance(devices)}, "resume": True, "mesh": mesh}
    if kind == "draws":
        with over(mesh):
            draw = eqx.filter_jit(observer_training.shared_out(sample, mesh))
            print(digest_of(observer_training.draw_chunk(draw, EIGHT_AGENTS, 0, 0)))
        return
    stop_at(stop_after)
    with suppress(Interrupted):
        if kind == "observer":
            observer_training.train(OBSERVER, EIGHT_AGENTS, sample, Path(folder), **how)
        else:
            population_training.train_population(EIGHT_NETWORKS, Path(folder), **how)


def stop_at(steps: int | None) -> None:
    """Once a row of the metrics tells of so many steps, this process is asked to stop."""

    def write(path, row):
        append(path, row)
        if steps is not None and path.name == METRICS and row.get("step", row.get("updates")) == steps:
            os.kill(os.getpid(), signal.SIGTERM)

    observer_training.append_jsonl = population_training.append_jsonl = write


append = observer_training.append_jsonl

if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    if told["place"]:
        processes.join(*told["place"])
    for job in told["jobs"]:
        do(*job)
