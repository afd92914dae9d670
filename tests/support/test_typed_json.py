"""Dataclasses through JSON and back: the same on the other side, or one line that names the field."""

import json
import math
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Bool, Float, Int

from tomnet.support.typed_json import Misfit, from_json, to_json

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    name: str
    value: float
    count: int = 0


@dataclass(frozen=True)
class Wider(Row):
    side: Literal["left", "right"] = "left"


@dataclass(frozen=True)
class Table:
    rows: list[Row]
    by_name: dict[str, Wider | None]
    pair: tuple[float, float] | None
    names: tuple[str, ...]
    sure: bool
    detail: dict[str, Any]


@dataclass(frozen=True)
class Picture:
    walls: Int[np.ndarray, "row col"]
    shares: Float[np.ndarray, "row col"]
    free: Bool[np.ndarray, "row"]


@dataclass(frozen=True)
class Sides:
    by_side: dict[Literal["left", "right"], float]


@dataclass(frozen=True)
class Numbered:
    by_number: dict[int, float]


@dataclass(frozen=True)
class Holder(Generic[T]):
    held: T


TABLE = Table(
    rows=[Row("a", 0.5, 3), Row("b", 1.0)],
    by_name={"left": Wider("c", 2.0, 1, "right"), "right": None},
    pair=(0.1, 0.2),
    names=("a", "b"),
    sure=True,
    detail={"worst": "a", "each": [1, 2.5]},
)


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(to_json(value), allow_nan=False))


def test_a_table_survives():
    assert from_json(Table, through_json(TABLE)) == TABLE


def test_a_type_within_is_filled_in():
    assert from_json(Holder[Row], through_json(Holder(Row("a", 1.0)))) == Holder(Row("a", 1.0))


def test_what_is_not_a_number_is_null_and_comes_back():
    plain = through_json(Row("a", math.nan))
    assert plain["value"] is None
    assert math.isnan(from_json(Row, plain).value)
    assert from_json(float | None, None) is None


@pytest.mark.parametrize(("value", "said"), [(math.inf, "inf"), (-math.inf, "-inf"), (np.float32("inf"), "inf")])
def test_infinity_is_a_word_and_comes_back(value, said):
    plain = through_json(Row("a", value))
    assert plain["value"] == said
    assert from_json(Row, plain).value == value
    assert from_json(float | None, said) == value
    assert from_json(Float[np.ndarray, "number"], [said]).tolist() == [value]


def test_a_whole_number_may_stand_for_a_number():
    assert isinstance(from_json(Row, {"name": "a", "value": 1}).value, float)


def test_numpy_and_jax_are_plain_in_json():
    told = {"scalar": np.float32(0.5), "array": np.arange(3), "jax": jnp.ones(2), "none": math.nan}
    assert through_json(told) == {"scalar": 0.5, "array": [0, 1, 2], "jax": [1.0, 1.0], "none": None}


def test_arrays_survive_with_what_could_not_be_measured():
    picture = Picture(np.eye(2, dtype=int), np.array([[0.25, math.nan], [0.5, 1.0]]), np.array([True, False]))
    again = from_json(Picture, through_json(picture))
    assert np.array_equal(again.walls, picture.walls)
    assert again.free.tolist() == [True, False]
    assert np.array_equal(again.shares, picture.shares, equal_nan=True)


def test_an_array_of_nothing_keeps_its_kind_and_its_axes():
    again = from_json(Picture, through_json(Picture(np.zeros((0, 3), int), np.zeros((0, 3)), np.zeros(0, bool))))
    assert again.walls.ndim == again.shares.ndim == 2
    assert (again.walls.dtype, again.shares.dtype, again.free.dtype) == (int, float, bool)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"rows": 3}, "rows should be a list, not 3"),
        ({"rows": [{"name": "a", "value": "much"}]}, "rows[0].value should be a number, not 'much'"),
        ({"rows": [{"name": "a", "value": True}]}, "rows[0].value should be a number, not True"),
        ({"rows": [{"name": "a"}]}, "rows[0].value is missing"),
        ({"rows": [{"name": "a", "value": 1.0, "mood": "sunny"}]}, "rows[0].mood is unknown"),
        ({"rows": [{"name": "a", "value": 1.0, "count": 1.5}]}, "rows[0].count should be a whole number, not 1.5"),
        ({"rows": [{"name": "a", "value": 1.0, "count": True}]}, "rows[0].count should be a whole number, not True"),
        (
            {"by_name": {"left": {"name": "a", "value": 1.0, "side": "up"}}},
            "by_name.left.side should be one of left, right, not 'up'",
        ),
        ({"pair": [0.5]}, "pair should be 2 items, not [0.5]"),
        ({"names": ["a", None]}, "names[1] should be text, not None"),
        ({"sure": 1}, "sure should be true or false, not 1"),
        ({"detail": "x" * 99}, f"detail should be a table, not '{'x' * 38}…"),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(change, why):
    with pytest.raises(Misfit) as refused:
        from_json(Table, through_json(TABLE) | change)
    assert str(refused.value) == why


@pytest.mark.parametrize("value", [[1, 2], [[1.5, 2]], [[1, 2], [3]], [["a", "b"]], 7])
def test_an_array_of_another_shape_or_kind_is_refused(value):
    with pytest.raises(Misfit, match=r"^walls should be an array \[row col\], not"):
        from_json(Picture, {"walls": value, "shares": [[0.5]], "free": []})


def test_keys_are_text_of_the_kind_that_is_declared():
    assert from_json(Sides, through_json(Sides({"left": 0.5}))) == Sides({"left": 0.5})
    with pytest.raises(Misfit, match=r"^by_side.up should be one of left, right, not 'up'"):
        from_json(Sides, {"by_side": {"up": 0.5}})
    with pytest.raises(TypeError, match="has text for its keys, not 3"):
        to_json(Numbered({3: 0.5}))
    with pytest.raises(Misfit, match=r"^by_number.3 should be a whole number, not '3'"):
        from_json(Numbered, {"by_number": {"3": 0.5}})


def test_something_else_altogether():
    with pytest.raises(Misfit, match=r"^it should be a table, not \[\]"):
        from_json(Table, [])
