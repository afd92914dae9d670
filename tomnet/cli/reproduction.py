"""The plan of `tomnet reproduce`: all commands from nothing to the report, and which must come before which."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from ..experiments.registry import EXPERIMENTS
from ..experiments.run import check_preset
from ..support.stages import Command, Stage
from .experiments import FEWEST_AGENTS


@dataclasses.dataclass(frozen=True)
class Reproduction:
    preset: str
    seed: int  # of all training
    seeds: int  # how many follow, each for an evaluation of its own

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
