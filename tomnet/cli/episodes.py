"""`tomnet episodes` and `tomnet record`: episodes of other people's agents, checked, converted and played by hand."""

import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ..support.checks import check_between, check_writable
from ..support.errors import TomnetError, nearest, one_line
from ..support.interrupts import Interrupted, stopped_at_once
from ..support.words import counted
from .console import print_json, print_table, say

if TYPE_CHECKING:
    from ..recordings.survey import Survey
    from ..recordings.transcript import Transcript

FOUND_BROKEN, NOTHING_RECORDED, BAD_INPUT = 1, 1, 2  # exit codes: of a check that found faults; nobody played; others
MOST_SHOWN = 8  # of sizes, objects or actions in a line
MOST_EPISODES = 1_000
Where = Annotated[
    Positional[Path], arg(metavar="PATH", help="file, folder with a folder for every agent, or Minari dataset")
]


@dataclasses.dataclass
class Check:
    """Say what is in there: agents, episodes, objects, actions, lengths; of what is broken, file, line and reason."""

    path: Where
    json: bool = False
    """print what was found as JSON"""

    def __call__(self) -> int | None:
        from ..recordings.survey import survey

        found = survey(self.path)
        tell_survey(found, self.path, self.json)
        return FOUND_BROKEN if found.broken or not found.episodes else None


@dataclasses.dataclass
class Convert:
    """Write the same episodes in another format: either all of them or none."""

    path: Where
    out: Annotated[
        Path, arg(metavar="PATH", help="folder that is not there yet; for jsonl and safetensors also a file")
    ]
    to: Annotated[str, arg(metavar="FORMAT", help="format to write: text, jsonl or safetensors")]
    json: bool = False
    """print what was written as JSON"""

    def __call__(self) -> int | None:
        from ..recordings.folder import FORMATS, read_recordings, write_recordings
        from ..recordings.survey import survey
        from ..support.files import check_is_new

        if self.to not in FORMATS:
            raise nearest(self.to, FORMATS, "format")
        check_is_new(self.out)
        check_writable(self.out)
        try:
            recordings = read_recordings(self.path)
        except TomnetError as first:
            found = survey(self.path)
            if not found.broken:
                raise first
            say("tomnet: nothing was written, because some of it cannot be read")
            tell_survey(found, self.path, self.json)
            return BAD_INPUT
        files = write_recordings(recordings, self.out, self.to)
        agents = len({recording.agent for recording in recordings})
        if self.json:
            print_json({"episodes": len(recordings), "agents": agents, "files": len(files), "out": str(self.out)})
        else:
            episodes, whose = counted(len(recordings), "episode"), counted(agents, "agent")
            print(f"{self.out}: {episodes} of {whose} in {counted(len(files), 'file')}")
        return None


@dataclasses.dataclass
class EpisodesGroup:
    """Read episodes of other people's agents: `episodes check` and `convert`."""


EPISODE_COMMANDS: dict[str, type] = {"check": Check, "convert": Convert}


def tell_survey(found: "Survey", path: Path, json: bool) -> None:
    from ..support.typed_json import to_json

    if json:
        print_json(to_json(found))
    else:
        print_survey(found, path)


def print_survey(found: "Survey", path: Path) -> None:
    if found.lengths is not None:
        shortest, longest = found.lengths.shortest, found.lengths.longest
        rows = [
            ("agents", f"{len(found.agents):,}"),
            ("episodes", f"{found.episodes:,}"),
            ("sizes", _counts(found.sizes)),
            ("objects", _counts(found.objects)),
            ("taken", _counts(found.taken)),
            ("actions", _counts(found.actions)),
            ("unknown actions", f"{found.unknown_actions:,}"),
            ("with a heading", f"{found.with_heading:,}"),
            ("steps", f"{shortest} to {longest}, median {found.lengths.median:g}"),
        ]
        print_table(("what", "how many"), rows, one_line(str(path)))
    for remark in found.remarks:
        print(remark)
    for broken in found.broken:
        place = broken.file if broken.line is None else f"{broken.file}, line {broken.line}"
        print(one_line(f"{place}: {broken.why}"))
    if found.more_broken:
        print(f"and {found.more_broken:,} more of the same files")
    if found.not_opened:
        names = ", ".join(found.not_opened[:MOST_SHOWN]) + (", …" if len(found.not_opened) > MOST_SHOWN else "")
        print(one_line(f"not opened, as no format of ours: {names}"))
    if not found.episodes and not found.broken:
        print(one_line(f"{path}: no episodes are in there"))


def _counts(counts: dict[str, int]) -> str:
    most = sorted(counts.items(), key=lambda item: -item[1])
    words = [f"{name} ({count:,})" for name, count in most[:MOST_SHOWN]]
    return ", ".join(words) + (f" and {len(most) - MOST_SHOWN} more" if len(most) > MOST_SHOWN else "") or "none"


@dataclasses.dataclass
class Record:
    """Play a level in the terminal: arrows or WASD move, space stays, q ends. The episode becomes a text file; Ctrl-C
    leaves without it, and episodes that were over before are kept.

    From a pipe, one action a line: `printf 'up\\nright\\n' | tomnet record level.txt --out episodes`.
    """

    level: Annotated[Positional[Path], arg(metavar="LEVEL", help="text file with the picture of a maze")]
    out: Annotated[Path, arg(metavar="DIR", help="folder for the episodes, with a folder for each agent")]
    agent: Annotated[str, arg(metavar="NAME", help="name of who plays")] = "player"
    episodes: Annotated[int, arg(metavar="N", help="number of episodes, one after the other")] = 1

    def __call__(self) -> int | None:
        from ..recordings.recording import check_name
        from ..recordings.terminal import keyboard, keys, pressed_actions, read_level, typed_actions

        check_name("agent", self.agent)
        check_between("episodes", self.episodes, 1, MOST_EPISODES)
        check_writable(self.out)
        level = read_level(self.level)
        if sys.stdin.isatty():
            with keyboard() as read_key:
                return self.play(level, lambda: pressed_actions(level, read_key), keys(level))
        lines = typed_actions(level, iter(sys.stdin))  # what one episode leaves is for the next
        return self.play(level, lambda: lines)

    def play(self, level: "Transcript", actions: "Callable[[], Iterator[str]]", help: str = "") -> int | None:
        from ..recordings.terminal import play
        from ..recordings.text import SUFFIX, format_text
        from ..support.files import write_atomically

        def show(picture: str) -> None:
            if sys.stdout.isatty():
                print(f"\x1b[2J\x1b[H{picture}\n\n{help}", flush=True)  # anew, at the top of the terminal

        for number in range(self.episodes):
            path = next(self.free_paths(SUFFIX))
            try:
                with stopped_at_once():
                    recording = play(level, self.agent, path.stem, actions(), show)
            except KeyboardInterrupt:
                kept = f"{counted(number, 'episode')} recorded" if number else "nothing recorded"
                raise Interrupted(f"interrupted: {kept}") from None
            if recording is None:
                say(f"tomnet: {counted(number, 'episode') if number else 'nothing'} recorded: no action came")
                return None if number else NOTHING_RECORDED
            write_atomically(path, format_text(recording).encode())
            print(path, flush=True)
        return None

    def free_paths(self, suffix: str) -> Iterator[Path]:
        from ..recordings.recording import episode_name

        paths = (self.out / self.agent / f"{episode_name(number)}{suffix}" for number in itertools.count())
        return (path for path in paths if not path.exists())
