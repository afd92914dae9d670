"""Which observer watches: the one that is named, or the pretrained one that suits these recordings best."""

import itertools
from collections.abc import Sequence
from pathlib import Path

from .. import zoo
from ..fit.fitted_observer import OBSERVER, is_fitted, load_fitted
from ..observer.checkpoint import load_observer
from ..observer.tomnet import ToMnet
from ..recordings.bad_recording import BadRecording
from ..recordings.recording import SUBGOAL, Recording
from ..support.errors import BadFile, BadSetting, TomnetError
from .fitted import FittedWatcher
from .pretrained import PretrainedWatcher
from .watcher import Watcher

WAY_OUT = "`tomnet fit PATH --out DIR` makes an observer of them, and `tomnet watch PATH --model DIR` then reads it"


def named(model: str) -> Watcher:
    """By the name of a pretrained observer, the folder of a fit, or an observer's file."""
    path = Path(model)
    if is_fitted(path) or (path / OBSERVER).is_file():  # a damaged one says so itself
        return FittedWatcher(model, load_fitted(path))
    if path.is_dir():
        raise BadFile(path, f"holds no fitted observer, no {OBSERVER}", "the folder of a `tomnet fit` is expected")
    watcher = PretrainedWatcher(model, load_observer(path)[0] if path.is_file() else zoo.load_named(model))
    if not reads_past(watcher.observer):
        raise BadSetting("model", model, "this observer reads no past episodes, and all agents are alike to it")
    return watcher


def reads_past(observer: ToMnet) -> bool:
    return observer.character_net is not None and "action" in observer.config.heads


def choose(recordings: Sequence[Recording]) -> Watcher:
    """Of the pretrained observers that read all of these: one that met their like in training before any other, then
    one whose mazes had subgoals if these do, and only then; of several, most heads, then whole episodes before
    snapshots of them, then the longest past, then the first of the list."""
    every = [PretrainedWatcher(name, zoo.load_named(name)) for name in zoo.names()]
    every = sorted((each for each in every if reads_past(each.observer)), key=_says, reverse=True)
    readers, refusals = [], []
    for watcher in every:
        try:
            check_all(watcher, recordings)
        except TomnetError as why:
            refusals.append(why)
        else:
            readers.append(watcher)
    if not readers:
        reason = str(refusals[0]) if refusals else "the zoo is empty"
        raise TomnetError(f"no pretrained observer reads these: {reason}; {WAY_OUT}")
    agents, subgoals = by_agent(recordings), any(SUBGOAL in each.objects for each in recordings)
    alike = (each for each in readers if not any(map(each.beyond, agents)))
    # an episode that is too long is unlike them here and there, mazes of another kind are from end to end
    of_a_kind = (each for each in readers if each.met_subgoals == subgoals)
    return next(itertools.chain(alike, of_a_kind, readers))


def _says(watcher: PretrainedWatcher) -> tuple[int, bool, int]:
    config = watcher.observer.config
    return len(config.heads), config.character == "episodes", watcher.max_past


def check_all(watcher: Watcher, recordings: Sequence[Recording]) -> None:
    """That everything can be read is found out before the work begins."""
    for each in recordings:
        where = f"{each.agent}/{each.episode}"
        try:
            watcher.check(each)
        except BadRecording as fault:
            raise fault.at(where) from None
        except TomnetError as fault:
            raise TomnetError(f"{where}: {fault}") from None


def by_agent(recordings: Sequence[Recording]) -> list[list[Recording]]:
    """Episodes of an agent are taken to have happened in the order in which they come."""
    agents: dict[str, list[Recording]] = {}
    for each in recordings:
        agents.setdefault(each.agent, []).append(each)
    return list(agents.values())
