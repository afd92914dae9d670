"""What something is, as a plain dictionary of every field, and how two such dictionaries differ.

Unlike a repr, it names what is at its default, and does not change when a class gets another name: classes that can
stand in for each other are told apart by a word of their own, `kind`.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from .errors import BadSetting

LOCAL = {"local": True}  # metadata of a field that says where something lies on this machine, and not what it is
FIRST = ("version", "kind")  # where these differ, the other fields do not compare


def plain(thing: Any) -> Any:
    """Every field of a dataclass and of those within it, defaults included, as JSON holds them."""
    if dataclasses.is_dataclass(thing):
        told = [field.name for field in dataclasses.fields(thing) if not field.metadata.get("local")]
        kind = getattr(thing, "kind", None)
        return ({"kind": kind} if kind else {}) | {name: plain(getattr(thing, name)) for name in told}
    if isinstance(thing, tuple | list):
        return [plain(item) for item in thing]
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    raise BadSetting("identity", thing, "only numbers, words and dataclasses of them can be told apart later")


def differences(was: Any, now: Any, name: str = "") -> Iterator[str]:
    """`world.size is 9, not 11`: each field in which something that was stored differs from what is meant now."""
    if not isinstance(was, Mapping) or not isinstance(now, Mapping):
        if was != now:
            yield f"{name} is {_word(was)}, not {_word(now)}"
        return
    first = [field for field in FIRST if was.get(field) != now.get(field)]
    for field in first[:1] or dict.fromkeys([*now, *was]):
        both = was.get(field, MISSING), now.get(field, MISSING)
        yield from differences(*both, f"{name}.{field}" if name else field)


MISSING = object()  # a field that is not there, unlike one that is None


def _word(value: Any) -> str:
    return "missing" if value is MISSING else "nothing" if value is None else str(value)
