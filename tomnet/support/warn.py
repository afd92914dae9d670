"""Warnings that point at the user's own line, however deep inside they arise, and are given once for each line."""

import sys
import warnings
from collections.abc import Iterator, Sequence
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


def warn_once(message: str, category: type[Warning], reasons: Sequence[str] = ()) -> None:
    """As Python's own rule has it; but that forgets what was shown when anything changes the filters, as JAX does.

    Of several `reasons`, which end the message, each is given once for a line, whichever others come with it.
    """
    heard = _listener.get()
    if heard is not None:
        heard.append(_whole(message, reasons))
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    line = frame.f_code.co_filename, frame.f_lineno
    places = {reason: (_whole(message, (reason,)), *line) for reason in reasons or ("",)}
    new = [reason for reason, place in places.items() if place not in _given]
    if new:
        warnings.warn(_whole(message, new), category, stacklevel=level)
        _given.update(places.values())  # not where a warning is an error: that is raised every time


def _whole(message: str, reasons: Sequence[str]) -> str:
    return f"{message}: {'; '.join(reasons)}" if any(reasons) else message


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Warnings are put into this list and not given, each time anew: a page shows them beside its answer."""
    heard: list[str] = []
    token = _listener.set(heard)
    try:
        yield heard
    finally:
        _listener.reset(token)
