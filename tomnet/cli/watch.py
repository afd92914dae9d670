"""`tomnet watch`: an observer meets recorded agents."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from ..support.checks import check_made_by_us
from ..support.words import counted
from .console import print_json, print_table, say
from .episodes import Where

if TYPE_CHECKING:
    from ..watch.result import Watched

MOST_SHOWN = 20  # agents


@dataclasses.dataclass
class Watch:
    """Show recorded agents to an observer: who resembles whom, what each will do, how surprising every step was."""

    path: Where
    model: Annotated[
        str | None,
        arg(
            metavar="NAME",
            help="pretrained observer, such as goal-inference/2d, or run folder of `tomnet fit`",
            help_behavior_hint="(default: a pretrained one that fits)",
        ),
    ] = None
    out: Annotated[
        Path | None,
        arg(metavar="DIR", help="folder for a page, its figures and all numbers", help_behavior_hint="(default: none)"),
    ] = None
    json: bool = False
    """print every probability and surprise as JSON"""

    def __call__(self) -> None:
        from ..recordings.folder import read_recordings
        from ..report.watched import DATA, build_page
        from ..support.typed_json import to_json
        from ..watch.run import watch

        if self.out is not None:
            check_made_by_us(self.out, DATA)
        watched = watch(read_recordings(self.path), self.model)
        page = None if self.out is None else build_page(watched, str(self.path), self.out)
        if self.json:
            print_json(to_json(watched))
        else:
            print_watched(watched)
        if page is not None:
            (say if self.json else print)(str(page))


def print_watched(watched: "Watched") -> None:
    from ..figures.style import plain
    from ..figures.violations import likeliest
    from ..figures.watch import most_surprising
    from ..report.watched import cluster_names, estimate, summary

    for sentence in (*summary(watched), *watched.remarks, watched.resemblance.told):
        print(sentence)
    agents, clusters = most_surprising(watched), cluster_names(watched)
    rows = [
        (one.agent, estimate(one.nats), len(one.episodes), clusters[one.cluster], ", ".join(one.nearest) or "–")
        for one in agents[:MOST_SHOWN]
    ]
    title = f"the {MOST_SHOWN} most surprising of {counted(len(agents), 'agent')}" if len(agents) > MOST_SHOWN else None
    if rows:
        print_table(("agent", "nats a step [95% interval]", "episodes", "cluster", "most like"), rows, title)
    for moment in watched.moments:
        step = moment.step
        print(
            f"{moment.agent}, episode {moment.episode}, step {step.time + 1}: {step.done} ({plain(step.nats, 1)} nats) "
            f"where {likeliest(step.action)} was expected"
        )
