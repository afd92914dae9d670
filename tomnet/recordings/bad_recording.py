"""What is wrong with a recording, in one line: every reader and every check says it the same way."""

from collections.abc import Callable
from os import PathLike

from ..support.errors import TomnetError


class BadRecording(TomnetError):
    """What is wrong with a recording: where, in which field, what was expected there and what was found.

    `ann/003.txt, line 7: action: expected one of up, down, left, right, stay, found 'jump'`
    """

    def __init__(
        self,
        field: str,
        expected: str,
        found: object,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        step: int | None = None,
    ):
        self.field, self.expected, self.value, self.found = field, expected, found, _short(found)
        self.path, self.line, self.step = path, line, step
        step_says = f" after step {step + 1}" if step is not None and line is None else ""
        self.why = f"{field}{step_says}: expected {expected}, found {self.found}"
        where = [str(path)] * (path is not None) + [f"line {line}"] * (line is not None)
        super().__init__(": ".join([", ".join(where)] * bool(where) + [self.why]))

    def at(self, path: str | PathLike[str] | None = None, line: int | None = None) -> "BadRecording":
        """The same fault, with where it was found; what is known already stays."""
        path, line = self.path if self.path is not None else path, self.line if self.line is not None else line
        return BadRecording(self.field, self.expected, _Said(self.found), path=path, line=line, step=self.step)

    def in_words_of(self, show: Callable[[object], str]) -> "BadRecording":
        """The same fault, with a value that was found written as a format writes it."""
        found = self.value if isinstance(self.value, str) else said(show(self.value))
        return BadRecording(self.field, self.expected, found, path=self.path, line=self.line, step=self.step)


class _Said(str):
    """Words of our own rather than a value that came from outside."""


def said(words: str) -> str:
    """What was found, in words: printed as it stands, where a value would be quoted."""
    return _Said(words)


def _short(found: object) -> str:
    text = found if isinstance(found, _Said) else repr(found)
    return text if len(text) <= 80 else text[:79] + "…"
