"""`tomnet reproduce`: the paper from nothing, as one plan of commands that can be stopped and goes on."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from ..support.checks import check_between, check_seed, check_writable
from ..support.errors import BadFile, nearest
from ..support.stages import TABLE, Command, Stage, carry_out
from .experiments import FEWEST_AGENTS

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
        from ..support.json_files import read_json, write_json

        if self.preset not in PRESETS:
            raise nearest(self.preset, PRESETS, "preset of the whole paper")
        check_seed(self.seed)
        check_between("seeds", self.seeds, 1, 100)
        check_between("jobs", self.jobs, 1, MOST_JOBS)
        folder = (self.out or Path("runs") / f"reproduce-{self.preset}-{self.seed}").absolute()
        check_writable(folder)
        plan, path = {"preset": self.preset, "seed": self.seed, "seeds": self.seeds}, folder / PLAN
        if path.exists() and read_json(path) != plan:
            raise BadFile(path, f"another plan was begun there: {read_json(path)}", "--out names another folder")
        write_json(path, plan)
        # several processes on one GPU must not each take all of its memory
        shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if self.jobs > 1 else {}
        environment = {"TOMNET_ZOO": str(folder / "zoo"), **shared}
        carry_out(list(self.stages(folder)), folder, jobs=self.jobs, environment=environment)
        print(f"{folder / f'report-{self.first}' / 'index.html'}, {folder / 'results.md'}; minutes in {folder / TABLE}")

    @property
    def first(self) -> int:
        """The seed of the first evaluation: nobody is evaluated on what was met in training."""
        return self.seed + 1

    def stages(self, folder: Path) -> Iterator[Stage]:
        yield self._agents(folder)
        yield from self._about_agents(folder)
        observers = list(self._observers(folder))
        yield from observers
        everything = frozenset(("agents", "agents/evaluation", "agents/ceiling", *(each.name for each in observers)))
        reports = list(range(self.first, self.first + self.seeds))
        for seed in reports:
            words = ("report", "--seed", str(seed), "--out", str(folder / f"report-{seed}"), *self._few("agents"))
            yield Stage(f"report/{seed}", "report", (_tomnet(*words),), everything)
        results = [str(folder / f"report-{seed}" / "results.json") for seed in reports]
        yield Stage(
            "results",
            "results",
            (
                _tomnet("results", *results, "--seeds", str(folder / "seeds.json")),
                _tomnet("results", results[0], "--out", str(folder / "results.md")),
                Command("tomnet.cards.adopt", ("cards", str(folder / f"report-{self.first}"))),
            ),
            frozenset(f"report/{seed}" for seed in reports),
        )

    def _few(self, option: str) -> tuple[str, ...]:
        """As few as there can be, where nothing is learned anyway."""
        return (f"--{option}", str(FEWEST_AGENTS)) if self.preset == "smoke" else ()

    def _agents(self, folder: Path) -> Stage:
        run = folder / "agents"
        words = ("agents", "train", "--preset", self.preset, "--seed", str(self.seed), "--out", str(run))
        adopt = Command("tomnet.cards.adopt", ("agents", str(run)))
        return Stage("agents", "agents", (_tomnet(*words, run_folder=run), adopt))

    def _about_agents(self, folder: Path) -> Iterator[Stage]:
        seed, needs = ("--seed", str(self.first)), frozenset(["agents"])
        run = folder / "agents-evaluation"
        few = ("--levels", "2") if self.preset == "smoke" else ()
        evaluate = _tomnet("agents", "evaluate", *seed, "--out", str(run), *few)
        card = Command("tomnet.cards.adopt", ("agents-card", str(run / "result.json")))
        yield Stage("agents/evaluation", "evaluation", (evaluate, card), needs)
        out = str(folder / "zoo" / "agents" / "ceiling.json")
        rollouts = ("--rollouts", "2") if self.preset == "smoke" else ()
        ceiling = _tomnet("agents", "ceiling", *seed, "--out", out, *self._few("agents"), *rollouts)
        yield Stage("agents/ceiling", "ceiling", (ceiling,), needs)

    def _observers(self, folder: Path) -> Iterator[Stage]:
        """Each where it is at home: one that several experiments share is trained once."""
        from ..experiments.registry import EXPERIMENTS
        from ..experiments.run import check_preset

        for experiment in EXPERIMENTS.values():
            for spec in experiment.specs(check_preset(self.preset)):
                if spec.home not in (None, experiment.name):
                    continue
                run = folder / "observers" / experiment.name / spec.name
                words = ("--preset", self.preset, "--seed", str(self.seed), "--out", str(run), "--observer", spec.name)
                train = _tomnet("run", experiment.name, *words, run_folder=run / spec.name)
                adopt = Command("tomnet.cards.adopt", ("observer", str(run), experiment.name, spec.name))
                needs = frozenset(["agents"]) if spec.species.conditions else frozenset()
                yield Stage(f"{experiment.name}/{spec.name}", experiment.name, (train, adopt), needs)


def _tomnet(*words: str, run_folder: Path | None = None) -> Command:
    return Command("tomnet", words, run_folder)
