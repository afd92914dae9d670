"""Commands about results: `report` makes them, `results` writes them down."""

import dataclasses
import os
import time
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from ..support.checks import check_writable, check_writable_file
from ..support.errors import BadSetting, TomnetError
from .arguments import Seed
from .console import say, shown_verdict
from .experiments import Agents, measure


@dataclasses.dataclass
class Report:
    """Evaluate everything pretrained and write the report: index.html, results.json, every figure."""

    seed: Seed = 1  # the pretrained observers were trained with seed 0
    out: Annotated[Path, arg(metavar="DIR", help="folder for the report")] = Path("report")
    agents: Agents = None

    def __call__(self) -> None:
        from .. import zoo
        from ..experiments.registry import EXPERIMENTS
        from ..experiments.run import OtherAgents
        from ..report.page import build_report
        from ..report.seeds import stored_seeds
        from ..support.json_files import write_json

        check_writable(self.out)
        seeds = stored_seeds()
        started = time.monotonic()
        pretrained = [experiment for experiment in EXPERIMENTS.values() if zoo.available(experiment.name)]
        if not pretrained:
            raise TomnetError("nothing is pretrained; `tomnet run NAME` trains an experiment's observers")
        for experiment in pretrained:
            zoo.load(experiment.name)  # a damaged file is named now, not minutes into the work
        results = []
        for number, experiment in enumerate(pretrained, start=1):
            say(f"[{number}/{len(pretrained)}] {experiment.name}")
            try:
                result = measure(experiment, None, self.agents, self.seed)
            except OtherAgents as why:
                say(f"      waits: {why}")
                continue
            write_json(self.out / f"{experiment.name}.json", result)
            results.append(result)
            verdicts = ", ".join(f"{claim.id} {shown_verdict(claim, result)}" for claim in result.claims)
            say(f"      {verdicts or 'beyond the paper'} ({result.seconds:.0f} s)")
        cards = {result.experiment: zoo.card(result.experiment) for result in results}
        cards |= {zoo.AGENTS: zoo.agents_card()}
        cards = {name: card for name, card in cards.items() if card.exists()}
        waiting = EXPERIMENTS.keys() - {result.experiment for result in results}
        seconds = time.monotonic() - started
        page = build_report(results, self.out, cards=cards, seconds=seconds, waiting=waiting, seeds=seeds)
        print(f"{page} after {time.monotonic() - started:.0f} s")


@dataclasses.dataclass
class Results:
    """Write every claim of a report as a page of Markdown, from its results.json: docs/results.md is one.

    With --seeds, what came of every claim with several seeds is kept, to be told beside the verdicts.
    """

    paths: Annotated[
        Positional[tuple[Path, ...]],
        arg(
            metavar="FILE ...",
            help="results.json, or what `evaluate --json` printed; several with --seeds",
            help_behavior_hint="(required)",
        ),
    ]
    out: Annotated[
        Path | None,
        arg(
            metavar="FILE.md",
            help="file for the page; the claims that it was made from go beside it, as FILE.json",
            help_behavior_hint="(default: print it)",
        ),
    ] = None
    readme: Annotated[
        Path | None,
        arg(metavar="README.md", help="file whose table of results to renew", help_behavior_hint="(default: none)"),
    ] = None
    seeds: Annotated[
        Path | None,
        arg(
            metavar="SEEDS.json",
            help="file to keep the claims in, by seed, instead of a page; a page tells of seeds.json beside it, and of "
            "observers trained again, in retrained.json",
            help_behavior_hint="(default: none)",
        ),
    ] = None

    def __call__(self) -> None:
        from ..report.results_file import read_results, slim
        from ..report.results_page import readme_with, results_markdown
        from ..report.seeds import stored_seeds
        from ..support.files import write_atomically
        from ..support.json_files import read_json, write_json

        if not self.paths:
            raise TomnetError("a file is missing: the results.json of a report, or what `evaluate --json` printed")
        if self.seeds is not None:
            return self.keep_seeds(self.seeds)
        path, *others = self.paths
        if others:
            raise BadSetting("FILE", ", ".join(map(str, self.paths)), "a page is made of one; --seeds keeps several")
        results = read_results(path)
        if self.out is None:
            if self.readme is not None:
                raise BadSetting("readme", self.readme, "its links lead to the page, which --out names")
            print(results_markdown(results), end="")
            return
        if self.out.suffix != ".md":
            raise BadSetting("out", self.out, "must end in .md")
        data = self.out.with_suffix(".json")
        seeds = stored_seeds(self.out.with_name("seeds.json"))
        if os.path.realpath(data) != os.path.realpath(path):  # which would lose its tables
            write_json(data, slim(read_json(path)))
        retrained = stored_seeds(self.out.with_name("retrained.json"))
        write_atomically(self.out, results_markdown(results, data.name, seeds, retrained).encode())
        print(self.out)
        if self.readme is not None:
            page = os.path.relpath(self.out, self.readme.parent)
            write_atomically(self.readme, readme_with(results, self.readme.read_text(), page, seeds).encode())
            print(self.readme)

    def keep_seeds(self, path: Path) -> None:
        from ..report.results_file import read_results
        from ..report.seeds import save_seeds, stored_seeds, with_results

        if self.out or self.readme:
            raise BadSetting("seeds", path, "is a command of its own; a page is written after it, with --out")
        seeds = stored_seeds(path)
        for one in self.paths:
            seeds = with_results(seeds, read_results(one), one)
        check_writable_file(path)
        save_seeds(path, seeds)
        for name, kept in seeds.experiments.items():
            print(f"{name}: {', '.join(sorted(kept.seeds, key=int))}")
