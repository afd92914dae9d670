"""`tomnet sally-anne`: the classic test of false beliefs as a story in six pictures."""

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from ..support.checks import check_between, check_seed, check_writable
from ..support.cpu import compile_quickly
from ..support.errors import BadFile, TomnetError
from ..support.progress import narrated, stage
from .arguments import Model, PopulationFolder, Seed, object_number
from .console import say

if TYPE_CHECKING:
    from ..observer.tomnet import ToMnet

TELLERS = (("explicit-beliefs", "mixed"), ("false-beliefs", "5x5"))
"""Whoever is pretrained, in this order; of a 5×5 agent, first the one that knows no others."""
MOST_PAST = 100


@dataclasses.dataclass
class SallyAnne:
    """Move an object behind an agent's back, and ask an observer what the agent will do.

    Six seconds the first time, some of them to compile, and four afterwards (docs/performance.md).
    """

    condition: Annotated[str, arg(metavar="CONDITION", help="field of view of the agent: 3x3, 5x5, 7x7 or 9x9")] = "5x5"
    distance: Annotated[int, arg(metavar="N", help="cells between the agent and what is moved, 1 to 6")] = 4
    prefers: Annotated[str, arg(metavar="LETTER", help="object that the agent likes")] = "A"
    network: Annotated[
        int | None,
        arg(
            metavar="N",
            help="number of a held-out network",
            help_behavior_hint="(default: the one that acts most clearly on what it believes)",
        ),
    ] = None
    past: Annotated[int, arg(metavar="N", help="number of episodes in which the observer has seen it before")] = 4
    population: PopulationFolder = None
    model: Model = None
    seed: Seed = 1
    out: Annotated[Path, arg(metavar="DIR", help="folder for story and pictures")] = Path("sally-anne")

    def __call__(self) -> None:
        from ..agents.population import load_condition
        from ..experiments.run import check_populations
        from ..experiments.sally_anne.story import Cast, check_past, moral, tell
        from ..figures import save
        from ..figures.story import draw_story
        from ..support.json_files import write_json
        from ..support.streams import EVALUATION_STREAM, stream
        from ..world.gridworld import SUBGOAL_MAZE

        started = time.monotonic()
        compile_quickly()
        check_seed(self.seed)
        check_between("past", self.past, 0, MOST_PAST)
        check_writable(self.out)
        cast = Cast(self.condition, object_number(self.prefers, SUBGOAL_MAZE.objects), self.network, self.population)
        warning = check_past(self.past)
        if warning:
            say(f"tomnet: {warning}")
        key = stream(self.seed, EVALUATION_STREAM)
        observer, met = observer_of(self.model, cast.condition)
        if cast.condition in met:
            here = load_condition(cast.condition, self.population).digest
            check_populations("the observer", met, {cast.condition: here})
        with narrated("sally-anne"):
            story = tell(key, observer, cast, distance=self.distance, past=self.past)
            write_json(self.out / "story.json", story)
            print(moral(story), flush=True)
            stage("six pictures")
            for path in save(draw_story(story), self.out):
                print(path)
        chosen = "" if self.network is not None else ", of those held out the one that acts most clearly on its belief"
        say(f"the agent is network {story.network}{chosen}; told in {time.monotonic() - started:.0f} s")


def observer_of(model: Path | None, condition: str) -> "tuple[ToMnet, dict[str, str]]":
    """The one that was asked for, or of the pretrained ones the one that knows this condition best; and the
    populations that it met."""
    from .. import zoo
    from ..observer.checkpoint import load_observer

    names = " or ".join(experiment for experiment, _ in TELLERS)
    tellers = sorted(TELLERS, key=lambda teller: teller[1] != condition)
    if model is not None:
        file = zoo.observer_in(model, [name for _, name in tellers])
        if file is None:
            raise BadFile(
                model, f"holds no trained observer of {names}", "a run folder or an observer file is expected"
            )
        observer, about = load_observer(file)
        return observer, about.get("populations", {})
    for experiment, name in tellers:
        path = zoo.observer_file(experiment, name)
        if path.exists():
            observer, description = zoo.read(path, experiment, name)
            return observer, description.populations
    advice = f"`tomnet run {TELLERS[-1][0]} --out DIR` trains one, for --model DIR"
    raise TomnetError(f"the zoo holds no pretrained observer of {names}; {advice}")
