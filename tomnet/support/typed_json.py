"""Dataclasses as plain JSON, and back: how tables are stored, and read again as what they were.

    write_json(path, result)                          # to_json is part of it
    from_json(Result[Tables], read_json(path))        # or: `tables.curve[3].past should be a whole number, not 'two'`

JSON has neither tuples nor arrays nor numbers that are none: what could not be measured is written as null, infinity as
"inf". Reading goes by the types that a dataclass declares: null is NaN where there must be a number, None where there
may be none.
"""

import dataclasses
import math
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from jaxtyping import AbstractArray

from .errors import TomnetError

INFINITIES = ("inf", "-inf")
WORDS = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}


class Misfit(TomnetError):
    """What was read is not what its type says; the message begins with the field."""


def to_json(value: Any) -> Any:
    """Plain dictionaries, lists, words and numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    listed = getattr(value, "tolist", None)
    if listed is not None:  # numpy and JAX scalars and arrays
        value = listed()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(float(value))
    if isinstance(value, Mapping):
        return {_text(name): to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def _text(name: Any) -> str:
    """JSON would write any other name as text too, and it would not come back."""
    if not isinstance(name, str):
        raise TypeError(f"a table in JSON has text for its keys, not {name!r}")
    return name


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """What `to_json` was given, by its type. The first field that does not fit is a `Misfit`."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):  # of something and None, the only kind there is
        (some,) = (each for each in inner if each is not NoneType)
        return None if value is None else from_json(some, value, where)
    if dataclasses.is_dataclass(origin or kind):
        return _read_fields(kind, value, where)
    if origin is dict:
        at = {name: f"{where}.{name}" for name in _check(value, dict, where)}
        return {from_json(inner[0], name, at[name]): from_json(inner[1], value[name], at[name]) for name in at}
    if origin in (list, tuple):
        return origin(_read_items(inner, _check(value, list, where), where))
    if isinstance(kind, type) and issubclass(kind, AbstractArray):
        return _read_array(kind, value, where)
    return _read_one(kind, value, where)


def _read_fields(kind: Any, value: Any, where: str) -> Any:
    plain, origin = _check(value, dict, where), get_origin(kind) or kind
    hints, filled_in = get_type_hints(origin), dict(zip(getattr(origin, "__parameters__", ()), get_args(kind)))
    fields = {field.name: field for field in dataclasses.fields(origin)}
    at = f"{where}." if where else ""
    for name in sorted(plain.keys() - fields.keys()):
        raise Misfit(f"{at}{name} is unknown")
    for name, field in fields.items():
        if name not in plain and field.default is field.default_factory is dataclasses.MISSING:
            raise Misfit(f"{at}{name} is missing")
    kinds = {name: filled_in.get(hints[name], hints[name]) for name in plain}
    return origin(**{name: from_json(kinds[name], item, f"{at}{name}") for name, item in plain.items()})


def _read_items(inner: tuple[Any, ...], items: list[Any], where: str) -> list[Any]:
    kinds = inner if len(inner) > 1 and inner[1] is not ... else inner[:1] * len(items)
    if len(kinds) != len(items):
        raise _misfit(where, f"{len(kinds)} items", items)
    return [from_json(kind, item, f"{where}[{number}]") for number, (kind, item) in enumerate(zip(kinds, items))]


def _read_array(kind: type[AbstractArray], value: Any, where: str) -> np.ndarray:
    floats = "float64" in kind.dtypes
    if value == []:  # of an array of nothing, JSON forgets the kind, and all axes but the first
        return np.zeros((0,) * len(kind.dim_str.split()), float if floats else bool if "bool" in kind.dtypes else int)
    try:
        array = np.asarray(value, float if floats else None)
    except (TypeError, ValueError):  # a word, or rows of different lengths
        raise _misfit(where, f"an array [{kind.dim_str}]", value) from None
    if not isinstance(array, kind):
        raise _misfit(where, f"an array [{kind.dim_str}]", value)
    return array


def _read_one(kind: Any, value: Any, where: str) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise _misfit(where, f"one of {', '.join(map(str, get_args(kind)))}", value)
        return value
    if kind is float and value is None:
        return math.nan
    if kind is float and (value in INFINITIES or (isinstance(value, int) and not isinstance(value, bool))):
        return float(value)
    return _check(value, kind, where)


def _check(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _misfit(where, WORDS.get(kind, "a list" if kind is list else "a table"), value)
    return value


def _misfit(where: str, wanted: str, value: Any) -> Misfit:
    said = repr(value)
    return Misfit(f"{where or 'it'} should be {wanted}, not {said if len(said) <= 40 else said[:39] + '…'}")
