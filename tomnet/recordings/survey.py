"""What is in a file or folder of recordings: counted in one pass that keeps none of them, what is broken included."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..support.errors import TomnetError
from ..support.files import FilePath
from ..support.words import counted
from .folder import scan
from .recording import UNKNOWN, Recording
from .transcript import steps_elsewhere

MOST_FAULTS = 100  # told of one file: ten thousand bad lines have one reason


@dataclass(frozen=True)
class Broken:
    file: str
    line: int | None
    why: str


@dataclass(frozen=True)
class Lengths:
    """In steps."""

    shortest: int
    median: float
    longest: int


@dataclass
class Survey:
    """Counts are of episodes but for `actions`, `unknown_actions` and `led_elsewhere`, which are of steps, and `taken`,
    of objects."""

    episodes: int = 0
    agents: dict[str, int] = field(default_factory=Counter)
    sizes: dict[str, int] = field(default_factory=Counter)  # rows×cols
    objects: dict[str, int] = field(default_factory=Counter)
    taken: dict[str, int] = field(default_factory=Counter)
    actions: dict[str, int] = field(default_factory=Counter)
    unknown_actions: int = 0
    led_elsewhere: int = 0  # steps that did not lead where their action says
    with_heading: int = 0
    lengths: Lengths | None = None
    remarks: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    more_broken: int = 0  # beyond those that are told
    not_opened: list[str] = field(default_factory=list)  # files of other kinds


def survey(path: FilePath) -> Survey:
    found = Survey()
    return _surveyed(found, scan(path, skip=lambda path: found.not_opened.append(str(path))), path)


def survey_of(recordings: Iterable[Recording]) -> Survey:
    """Of what is in memory already."""
    return _surveyed(Survey(), recordings, "")


def _surveyed(found: Survey, every: Iterable[Recording | TomnetError], path: FilePath) -> Survey:
    lengths, faults, resting = [], Counter(), Counter()
    for each in every:
        if isinstance(each, TomnetError):
            broken = _broken(each, path)
            faults[broken.file] += 1
            if faults[broken.file] <= MOST_FAULTS:
                found.broken.append(broken)
            else:
                found.more_broken += 1
            continue
        lengths.append(len(each))
        resting[each.agent] += bool((each.cells == each.cells[0]).all())
        _count(found, each)
    if lengths:
        found.lengths = Lengths(min(lengths), float(statistics.median(lengths)), max(lengths))
        found.remarks = list(_remarks(found, resting))
    return found


def _broken(error: TomnetError, path: FilePath) -> Broken:
    why, hint = getattr(error, "why", str(error)), getattr(error, "hint", None)
    why = why if hint is None else f"{why}; {hint}"
    return Broken(str(getattr(error, "path", path)), getattr(error, "line", None), why)


def _count(found: Survey, recording: Recording) -> None:
    found.episodes += 1
    found.agents[recording.agent] += 1
    found.sizes["×".join(map(str, recording.size))] += 1
    found.with_heading += recording.headings is not None
    found.led_elsewhere += steps_elsewhere(recording)
    for letter in dict.fromkeys(recording.objects):
        found.objects[letter] += 1
    for letter in recording.took:
        found.taken[letter] += 1
    for number, count in Counter(recording.actions.tolist()).items():
        if number == UNKNOWN:
            found.unknown_actions += count
        else:
            found.actions[recording.action_names[number]] += count


def _remarks(found: Survey, resting: Counter[str]) -> Iterator[str]:
    """What can and cannot be learned from these."""
    if found.episodes == 1:
        yield "a single episode: it can be watched, and nothing can be learned from it"
    elif len(found.agents) == 1:
        yield "a single agent: its own later episodes can be predicted, and not what another agent would do"
    alone = sum(count == 1 for count in found.agents.values())
    if alone and found.episodes > 1:
        yield f"{alone} of {len(found.agents)} agents have one episode: there is no past to know them by"
    still = [agent for agent, count in resting.items() if count == found.agents[agent]]
    if still:
        yield f"{len(still)} of {len(found.agents)} agents never move: they show nothing of what they want"
    if not found.taken:
        yield "nothing is ever taken: which object an agent is after cannot be learned"
    steps = found.unknown_actions + sum(found.actions.values())
    if found.unknown_actions:
        yield f"{found.unknown_actions} of {steps} actions are unknown: they are seen and not predicted"
    if found.led_elsewhere:
        why = "something stood in the way, the ground was slippery, or it is a mistake"
        yield f"{found.led_elsewhere} of {counted(steps, 'step')} led elsewhere than their action says: {why}"
