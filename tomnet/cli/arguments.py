"""What several commands take, and the checks that go with it."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from tyro.conf import Positional, arg

from ..support.cpu import compile_quickly
from ..support.errors import BadFile, BadSetting, TomnetError, nearest
from .console import say
from .overseer import JOINED, end_with_overseer

if TYPE_CHECKING:
    from jax.sharding import Mesh

From = Annotated[
    str | None,
    arg(
        name="from",
        metavar="NAME",
        help="pretrained observer to start from: its name, or its file",
        help_behavior_hint="(default: at random)",
    ),
]
Seed = Annotated[int, arg(metavar="N", help="seed of the agents and levels")]
Model = Annotated[
    Path | None,
    arg(
        metavar="PATH",
        help="run folder, or observer file that takes the place of the pretrained one",
        help_behavior_hint="(default: pretrained)",
    ),
]
PopulationFolder = Annotated[
    Path | None,
    arg(metavar="DIR", help="run folder of `agents train`", help_behavior_hint="(default: pretrained)"),
]
ResultFolder = Annotated[
    Path | None,
    arg(metavar="DIR", help="folder for result.json and the figures", help_behavior_hint="(default: none)"),
]


@dataclasses.dataclass(kw_only=True)
class DeviceArguments:
    """On how many devices, and in how many processes."""

    devices: Annotated[
        int | None,
        arg(
            metavar="N", help="number of devices to share the work", help_behavior_hint="(default: 1; distributed: all)"
        ),
    ] = None
    distributed: bool = False
    """be one of several processes, told of each other by Slurm, Kubernetes, Open MPI or the three options below"""
    coordinator: Annotated[
        str | None,
        arg(metavar="HOST:PORT", help="address of process 0", help_behavior_hint="(default: found)"),
    ] = None
    processes: Annotated[
        int | None, arg(metavar="N", help="number of processes", help_behavior_hint="(default: found)")
    ] = None
    process: Annotated[
        int | None, arg(metavar="N", help="number of this process, from 0", help_behavior_hint="(default: found)")
    ] = None

    @property
    def together(self) -> bool:
        """Whether this is one process of several."""
        return self.distributed or (self.coordinator, self.processes, self.process) != (None, None, None)

    def mesh(self) -> "Mesh | None":
        """The devices, once all processes have found each other; before anything is computed."""
        import jax

        from ..support.mesh import mesh_of, size_of
        from ..support.processes import check_place, join

        if not self.together:
            return mesh_of(1 if self.devices is None else self.devices)
        check_place(self.coordinator, self.processes, self.process)
        if self.devices is not None:
            raise BadSetting("devices", self.devices, "several processes use all that they have")
        end_with_overseer()
        join(self.coordinator, self.processes, self.process)
        mesh = mesh_of(None)
        say(f"{JOINED}, {jax.process_count()} processes with {size_of(mesh)} devices in all")
        return mesh


@dataclasses.dataclass(kw_only=True)
class TrainingArguments:
    """What every command takes that trains something, and the folder that follows from it."""

    preset: Annotated[
        str, arg(metavar="PRESET", help="size: smoke (hardly trains), laptop (two cores) or full (one GPU)")
    ] = "laptop"
    seed: Annotated[int, arg(metavar="N", help="seed of the weights and of all that is met in training")] = 0
    out: Annotated[
        Path | None,
        arg(metavar="DIR", help="run folder", help_behavior_hint="(default: runs/…-PRESET-SEED)"),
    ] = None
    resume: bool = False
    """go on with the run in that folder"""

    def compile_as_fits(self) -> None:
        """The smoke preset compiles more than it computes. To be called before JAX looks for its devices."""
        if self.preset == "smoke":
            compile_quickly()

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


def check_options(command: type, argv: list[str], program: str) -> None:
    """Misspelt options, numbers that are none, a word too many: what tyro says of them is meant for programmers."""
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
        if options[option] is bool:
            continue
        if value is None or value in options:
            raise TomnetError(f"{option} needs a value")
        if value == "":
            raise TomnetError(f"{option} is empty")
        if options[option] in (int, int | None) and not _is_whole(value):
            raise BadSetting(option, value, "must be a whole number")
    check_places(command, argv, options, program)
    check_missing(command, argv, options, program)


def check_missing(command: type, argv: list[str], options: dict[str, Any], program: str) -> None:
    """That there is a word for every place that has no default, and every option that has none."""
    if {"--help", "-h"} & {*argv}:
        return
    needed = {field.name for field in dataclasses.fields(command) if _has_no_default(field)}
    places = [
        _metavar(marked) for name, (_, marked) in _arguments(command).items() if name in needed and _has_place(marked)
    ]
    wanted = [
        f"--{name}" for name, (_, marked) in _arguments(command).items() if name in needed and not _has_place(marked)
    ]
    given = {word.partition("=")[0] for word in argv}
    missing = [*places[len(_words(argv, options)) :], *(option for option in wanted if option not in given)]
    if missing:
        are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise TomnetError(f"{' and '.join(missing)} {are} missing; `{program} --help` explains {them}")


def _has_no_default(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _words(argv: list[str], options: dict[str, Any]) -> list[str]:
    """What stands there without `--`, and is no option's value."""
    is_value = [False, *(options.get(word) not in (None, bool) for word in argv)]
    return [word for word, value in zip(argv, is_value) if not value and not word.startswith("-")]


def check_places(command: type, argv: list[str], options: dict[str, Any], program: str) -> None:
    """That there are no more words without `--` than the command has places for."""
    places = places_of(command)
    if any(get_origin(kind) is tuple for kind in places.values()):  # as many as one likes
        return
    words = _words(argv, options)
    if len(words) > len(places):
        taken = ", ".join((*places, *options)) or "nothing"
        raise TomnetError(f"{words[len(places)]!r} is a word too many: `{program}` takes {taken}")


def places_of(command: type) -> dict[str, Any]:
    """The type of each argument that has a place of its own on the line, by what help calls it: NAME, PATH."""
    return {_metavar(marked): kind for kind, marked in _arguments(command).values() if _has_place(marked)}


def options_of(command: type) -> dict[str, Any]:
    """The type of each `--option`."""
    arguments = _arguments(command).items()
    # a trailing underscore is Python's, whose word `from` is
    options = {name.rstrip("_"): kind for name, (kind, marked) in arguments if not _has_place(marked)}
    return {f"--{name.replace('_', '-')}": kind for name, kind in options.items()}


def _arguments(command: type) -> dict[str, tuple[Any, Any]]:
    """Of each field, its type without and with what tyro is told about it."""
    kinds, marked = get_type_hints(command), get_type_hints(command, include_extras=True)
    return {name: (kind, marked[name]) for name, kind in kinds.items()}


def _has_place(marked: Any) -> bool:
    (positional,) = get_args(Positional[str])[1:]
    return positional in get_args(marked)


def _metavar(marked: Any) -> str:
    return next(told.metavar for told in get_args(marked) if getattr(told, "metavar", None))


def _is_whole(value: str) -> bool:
    try:
        int(value)
    except ValueError:
        return False
    return True
