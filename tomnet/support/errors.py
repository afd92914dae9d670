"""Errors meant for the person at the keyboard: one clear line, no traceback.

The command line prints a `TomnetError` and exits with 2. Anything else that escapes is a bug in tomnet.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from os import PathLike


class TomnetError(Exception):
    """Something the user can put right; `str(error)` is always a single line.

    >>> tomnet.load("goal-inferense/2d")
    Traceback (most recent call last):
    tomnet...TomnetError: unknown observer 'goal-inferense/2d'; did you mean 'goal-inference/2d'?
    """

    def __init__(self, message: str):
        super().__init__(one_line(message))


class BadSetting(TomnetError):
    """A setting whose value cannot work: `World.objects = 200: only 77 free cells are certain`."""

    def __init__(self, field: str, value: object, why: str):
        super().__init__(f"{field} = {value}: {why}")
        self.field, self.value, self.why = field, value, why


class BadFile(TomnetError):
    """A file that cannot be used, what is wrong with it, and perhaps a way out."""

    def __init__(self, path: str | PathLike[str], why: str, hint: str | None = None):
        super().__init__(f"{path}: {why}" + (f"; {hint}" if hint else ""))
        self.path, self.why, self.hint = path, why, hint


class MissingExtra(TomnetError, ImportError):
    """A library that is installed on demand only: `gymnasium is not installed; pip install 'tomnet[gymnasium]' …`"""

    def __init__(self, library: str, extra: str):
        how = f"pip install 'tomnet[{extra}]' brings it, or '.[{extra}]' in a checkout"
        super().__init__(f"{library} is not installed; {how}")


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Around the imports of what an extra installs."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or extra).partition(".")[0], extra) from None


FEW = 5  # names that are all told, or the nearest of many
MANY = 20  # of so many names, not all are told


def nearest(name: str, known: Iterable[str], what: str) -> TomnetError:
    """The error for an unknown name: `unknown experiment 'goal-inferense'; did you mean 'goal-inference'?`"""
    known = sorted(known)
    bare = {each.lstrip("-"): each for each in known}  # that options begin alike does not make them alike
    close = get_close_matches(name.lstrip("-"), bare, n=1)
    begin_so = [each for each in known if name and each.startswith(name)]
    if 1 <= len(begin_so) <= FEW:
        advice = f"did you mean {' or '.join(map(repr, begin_so))}?"
    elif close:
        advice = f"did you mean {bare[close[0]]!r}?"
    elif len(known) >= MANY:
        some = get_close_matches(name.lstrip("-"), bare, n=FEW, cutoff=0)
        advice = f"the nearest of {len(known)}: {', '.join(bare[each] for each in some)}"
    elif known:
        advice = f"known: {', '.join(known)}"
    else:
        advice = "none is known"
    return TomnetError(f"unknown {what} {name!r}; {advice}")


def one_line(message: str) -> str:
    """File names and values come from outside: a newline or a terminal escape must not reach the screen."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in message)
