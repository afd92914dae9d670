"""`tomnet fit`: an observer for somebody else's population of recorded agents."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from ..support.checks import check_between, check_seed, check_writable
from ..support.words import counted
from .arguments import From, check_resume
from .console import print_json, print_table
from .episodes import Where

if TYPE_CHECKING:
    from ..experiments.analysis.statistics import Estimate
    from ..fit.result import FitResult, Started


@dataclasses.dataclass
class Fit:
    """Fit an observer to your own agents, beside the baselines that a sceptic asks for.

    2 minutes of processor time for 1,200 episodes of 30 agents (measured).
    """

    path: Where
    out: Annotated[Path, arg(metavar="DIR", help="run folder: observer, result.json and figures")]
    seed: Annotated[int, arg(metavar="N", help="seed of the weights and of the split")] = 0
    fold: Annotated[int, arg(metavar="N", help="fifth of the agents to test on, 0 to 4")] = 0
    from_: From = None
    resume: bool = False
    """go on with the run in that folder"""
    json: bool = False
    """print all that was measured as JSON"""

    def __call__(self) -> None:
        from ..figures import save
        from ..figures.fit import panels
        from ..figures.panels import compose_all
        from ..fit.run import fit
        from ..fit.split import FOLDS
        from ..fit.warm_start import load_start
        from ..recordings.folder import read_recordings
        from ..support.run_folder import CONFIG
        from ..support.typed_json import to_json

        check_seed(self.seed)
        check_between("fold", self.fold, 0, FOLDS - 1)
        check_resume(self.resume, self.out, (self.out / CONFIG).exists())
        check_writable(self.out)
        start = None if self.from_ is None else load_start(self.from_)
        recordings = read_recordings(self.path)
        result = fit(recordings, self.out, seed=self.seed, fold=self.fold, resume=self.resume, start=start)
        save(compose_all(panels(result)), self.out / "figures")
        if self.json:
            print_json(to_json(result))
        else:
            print_fit(result, self.out)


def print_fit(result: "FitResult", folder: Path) -> None:
    print(f"{counted(result.episodes, 'episode')} of {counted(result.agents, 'agent')}; {result.split}")
    for remark in result.remarks:
        print(remark)
    names = dict.fromkeys(one.observer for one in result.scores)
    every = [("no past (the network)", "network", 0), *((name, name, None) for name in names)]
    after = f"after {counted(result.score('network', 'outcome').past, 'past episode')}; losses in nats"
    taken = [(told, *_of_what_is_taken(result, name, past)) for told, name, past in every]
    print_table(("observer", "loss", "accuracy", "where not the nearest"), taken, f"which object is taken, {after}")
    done = [(told, *_of_what_is_done(result, name, past)) for told, name, past in every]
    print_table(("observer", "loss", "accuracy", "successor maps"), done, f"the next action, {after}")
    if result.started is not None:
        print(told_start(result.started))
    for one in result.reliability:
        print(f"{one.observer}: expected calibration error {one.error:.3f}")
    losses = ", ".join(f"{name} {loss:.3f}" for name, loss in result.validation.items())
    print(f"recommended: {result.recommended} (loss on the validation part: {losses})")
    print(f"{folder}/observer.safetensors, {folder}/result.json, {folder}/figures")


def told_start(started: "Started") -> str:
    """Whether it helped to start from a pretrained observer."""
    gain = "helped" if started.gain.low > 0 else "did harm" if started.gain.high < 0 else "made no clear difference"
    ends = " … ".join(map(_shown, started.gain.interval))
    losses = (
        f"{_mean(started.test)} nats after {started.past} past episodes, {_mean(started.test_without)} from nothing"
    )
    kept = "it is the network here" if started.kept else "the network here is the one from nothing"
    validation = f"{_shown(started.validation)} and {_shown(started.validation_without)} on the validation part"
    return f"started from {started.name}: {losses}; that {gain} (95% interval {ends}). {validation}: {kept}"


def _of_what_is_taken(result: "FitResult", name: str, past: int | None) -> tuple[str, ...]:
    outcome = result.score(name, "outcome", past=past)
    hard = result.score(name, "outcome", "nearest not taken", past=past).accuracy
    interval = f" [{_shown(hard.low)}, {_shown(hard.high)}]" if hard is not None and hard.measured else ""
    return _mean(outcome.nats), _mean(outcome.accuracy), _mean(hard) + interval


def _of_what_is_done(result: "FitResult", name: str, past: int | None) -> tuple[str, ...]:
    heads = {(one.observer, one.head) for one in result.scores}
    action = result.score(name, "action", past=past) if (name, "action") in heads else None
    maps = result.score(name, "successor", past=past) if (name, "successor") in heads else None
    return _mean(action and action.nats), _mean(action and action.accuracy), _mean(maps and maps.nats)


def _mean(estimate: "Estimate | None") -> str:
    return "–" if estimate is None else _shown(estimate.mean)


def _shown(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"
