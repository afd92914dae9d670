"""Settings as words, such as "queries=4 read_out=cell", put where they belong."""

import ast
import dataclasses
from typing import Any, TypeVar

from tomnet.support.errors import BadSetting, nearest

T = TypeVar("T")


def changed(whole: T, setting: str, *parts: str) -> T:
    """A dataclass with fields of its `parts`, dataclasses themselves, changed: of each part all at once, because some
    fields only make sense together."""
    names = {field.name: part for part in parts for field in dataclasses.fields(getattr(whole, part))}
    fields: dict[str, dict[str, Any]] = {part: {} for part in parts}
    for pair in setting.split():
        name, equals, value = pair.partition("=")
        if name not in names:
            raise nearest(name, names, "setting")
        if not equals or not value:
            raise BadSetting(name, repr(value), "a value is missing, as in name=value")
        fields[names[name]][name] = parsed(value)
    new = {part: dataclasses.replace(getattr(whole, part), **changes) for part, changes in fields.items()}
    return dataclasses.replace(whole, **new)


def parsed(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):  # a word
        return value
