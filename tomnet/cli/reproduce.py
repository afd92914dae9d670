"""`tomnet reproduce`: the paper from nothing, as one plan of commands that can be stopped and goes on."""

import dataclasses
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from ..support.checks import check_between, check_seed, check_writable
from ..support.errors import BadFile, nearest

PRESETS = ("smoke", "full")  # those with agents of every condition
PLAN = "plan.json"
MOST_JOBS = 16


@dataclasses.dataclass
class Reproduce:
    """Do everything from nothing: train agents and observers, evaluate, report. Whatever is done is not done again.

    What is trained goes into a zoo of its own, in the folder; the one that came with tomnet is left alone.
    """

    preset: Annotated[str, arg(metavar="PRESET", help="size: smoke (hardly trains) or full (one GPU)")] = "full"
    seed: Annotated[int, arg(metavar="N", help="seed of all training")] = 0
    seeds: Annotated[int, arg(metavar="N", help="number of evaluations, with the seeds that follow")] = 5
    jobs: Annotated[int, arg(metavar="N", help="number of stages side by side")] = 1
    out: Annotated[
        Path | None, arg(metavar="DIR", help="folder", help_behavior_hint="(default: runs/reproduce-PRESET-SEED)")
    ] = None

    def __call__(self) -> None:
        if self.preset not in PRESETS:
            raise nearest(self.preset, PRESETS, "preset of the whole paper")
        check_seed(self.seed)
        check_between("seeds", self.seeds, 1, 100)
        check_between("jobs", self.jobs, 1, MOST_JOBS)
        folder = (self.out or Path("runs") / f"reproduce-{self.preset}-{self.seed}").absolute()
        check_writable(folder)
        from ..support.json_files import read_json, write_json
        from ..support.stages import TABLE, carry_out
        from .reproduction import Reproduction

        plan, path = Reproduction(self.preset, self.seed, self.seeds), folder / PLAN
        if path.exists() and read_json(path) != dataclasses.asdict(plan):
            raise BadFile(path, f"another plan was begun there: {read_json(path)}", "--out names another folder")
        write_json(path, plan)
        # several processes on one GPU must not each take all of its memory
        shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if self.jobs > 1 else {}
        environment = {"TOMNET_ZOO": str(folder / "zoo"), **shared}
        carry_out(list(plan.stages(folder)), folder, jobs=self.jobs, environment=environment)
        print(f"{folder / f'report-{plan.first}' / 'index.html'}, {folder / 'results.md'}; minutes in {folder / TABLE}")
