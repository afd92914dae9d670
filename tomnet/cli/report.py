"""Commands about results: `report` makes them, `results` writes them down."""

import dataclasses
import os
import time
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from ..support.checks import check_writable
from ..support.errors import BadSetting, TomnetError
from .arguments import Seed
from .console import say, shown_verdict
from .experiments import Agents, measure


@dataclasses.dataclass
class Report:
    """Evaluate everything pretrained and write the report: index.html, results.json, every figure."""

    seed: Seed = 1  # the pretrained observers were trained with seed 0
    out: Annotated[Path, arg(metavar="DIR", help="where to")] = Path("report")
    agents: Agents = None

    def __call__(self) -> None:
        from .. import zoo
        from ..experiments.registry import EXPERIMENTS
        from ..experiments.run import OtherAgents
        from ..report.page import build_report
        from ..support.files import write_json

        check_writable(self.out)
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
            say(f"      {verdicts} ({result.seconds:.0f} s)")
        cards = {result.experiment: zoo.card(result.experiment) for result in results}
        cards |= {zoo.AGENTS: zoo.agents_card()}
        cards = {name: card for name, card in cards.items() if card.exists()}
        waiting = EXPERIMENTS.keys() - {result.experiment for result in results}
        seconds = time.monotonic() - started
        page = build_report(results, self.out, cards=cards, seconds=seconds, waiting=waiting)
        print(f"{page} after {time.monotonic() - started:.0f} s")


@dataclasses.dataclass
class Results:
    """Every claim of a report as a page of Markdown, from its results.json: docs/results.md is one."""

    path: Annotated[Positional[Path], arg(metavar="FILE", help="results.json, or what `evaluate --json` printed")]
    out: Annotated[
        Path | None,
        arg(
            metavar="FILE.md",
            help="write it here, and beside it, as FILE.json, the claims that it was made from",
            help_behavior_hint="(default: print it)",
        ),
    ] = None
    readme: Annotated[
        Path | None,
        arg(metavar="README.md", help="also renew the table of results there", help_behavior_hint="(default: no)"),
    ] = None

    def __call__(self) -> None:
        from ..report.results import read_results, readme_with, results_markdown, slim
        from ..support.files import write_atomically, write_json

        results = read_results(self.path)
        if self.out is None:
            if self.readme is not None:
                raise BadSetting("readme", self.readme, "its links lead to the page, which --out names")
            print(results_markdown(results), end="")
            return
        if self.out.suffix != ".md":
            raise BadSetting("out", self.out, "must end in .md")
        data = self.out.with_suffix(".json")
        if data.resolve() != self.path.resolve():  # which would lose its tables
            write_json(data, slim(results))
        write_atomically(self.out, results_markdown(results, data.name).encode())
        print(self.out)
        if self.readme is not None:
            page = os.path.relpath(self.out, self.readme.parent)
            write_atomically(self.readme, readme_with(results, self.readme.read_text(), page).encode())
            print(self.readme)
