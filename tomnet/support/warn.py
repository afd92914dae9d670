"""Warnings that point at the user's own line, however deep inside they arise, and are given once for each line."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

INSIDE = {"tomnet", "equinox", "jaxtyping", "beartype"}  # ours, and those whose wrappers stand around what is ours


class BeyondTraining(UserWarning):
    """An observer is asked about something unlike anything that it met in training: take what it says with caution.

    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     stranger = tomnet.meet("goal-inference/2d", [])
    >>> print(said[0].message)
    unlike what this observer met in training: N_past is 0, at least 1 there
    """


_given: set[tuple[str, str, int]] = set()
_listener: ContextVar[list[str] | None] = ContextVar("listener", default=None)


def warn_once(message: str, category: type[Warning]) -> None:
    """As Python's own rule has it; but that forgets what was shown when anything changes the filters, as JAX does."""
    heard = _listener.get()
    if heard is not None:
        heard.append(message)
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    place = message, frame.f_code.co_filename, frame.f_lineno
    if place not in _given:
        warnings.warn(message, category, stacklevel=level)
        _given.add(place)  # not where a warning is an error: that is raised every time


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Warnings are put into this list and not given, each time anew: a page shows them beside its answer."""
    heard: list[str] = []
    token = _listener.set(heard)
    try:
        yield heard
    finally:
        _listener.reset(token)
