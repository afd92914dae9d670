"""What several commands take, and the checks that go with it."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from tyro.conf import Positional, arg

from ..support.errors import BadFile, BadSetting, TomnetError, nearest

From = Annotated[
    str | None,
    arg(
        name="from",
        metavar="NAME",
        help="start from a pretrained observer: its name, or its file",
        help_behavior_hint="(default: at random)",
    ),
]
Seed = Annotated[int, arg(metavar="N", help="of the agents and levels")]


@dataclasses.dataclass(kw_only=True)
class TrainingArguments:
    """What every command takes that trains something, and the folder that follows from it."""

    preset: Annotated[
        str, arg(metavar="PRESET", help="smoke (hardly trains), laptop (two cores) or full (one GPU)")
    ] = "laptop"
    seed: Annotated[int, arg(metavar="N", help="of the weights and of all that is met in training")] = 0
    out: Annotated[
        Path | None,
        arg(metavar="DIR", help="the run folder", help_behavior_hint="(default: runs/…-PRESET-SEED)"),
    ] = None
    resume: bool = False
    """go on with the run in that folder"""

    def folder(self, what: str) -> Path:
        return self.out or Path("runs") / f"{what}-{self.preset}-{self.seed}"


def object_number(letter: str, objects: int) -> int:
    """Of the object that goes by this letter, among so many: A is 0."""
    from ..world.levels import LETTERS

    letters = list(LETTERS[:objects])
    if letter.upper() not in letters:
        raise nearest(letter, letters, "object")
    return letters.index(letter.upper())


def check_resume(resume: bool, folder: Path, found: bool) -> None:
    """Whoever asks to go on with a run does not want a new one, least of all after a misspelt folder."""
    if resume and not found:
        raise BadFile(folder, "there is no run to go on with", "without --resume a new one starts there")


def check_options(command: type, argv: list[str]) -> None:
    """Misspelt options and numbers that are none: what tyro says of them is meant for programmers."""
    options = options_of(command)
    for word, after in zip(argv, [*argv[1:], None]):
        option, equals, value = word.partition("=")
        if word == "":  # as a folder it would be the current one
            raise TomnetError("an argument is empty")
        if not option.startswith("--") or option == "--help":
            continue
        if option not in options:
            raise nearest(option, options, "option")
        value = value if equals else after
        if value is None or options[option] is bool or value.startswith("--"):
            continue
        if value == "":
            raise TomnetError(f"{option} is empty")
        if options[option] in (int, int | None) and not _is_whole(value):
            raise BadSetting(option, value, "must be a whole number")


def options_of(command: type) -> dict[str, Any]:
    """The type of each `--option` of a command; what has a place of its own on the line, as NAME has, is none."""
    (positional,) = get_args(Positional[str])[1:]
    kinds, marked = get_type_hints(command), get_type_hints(command, include_extras=True)
    options = {name: kind for name, kind in kinds.items() if positional not in get_args(marked[name])}
    # a trailing underscore is Python's, whose word `from` is
    return {f"--{name.rstrip('_').replace('_', '-')}": kind for name, kind in options.items()}


def _is_whole(value: str) -> bool:
    try:
        int(value)
    except ValueError:
        return False
    return True
