"""The eight symmetries of a grid: what turning it over does to cells, headings and actions.

Symmetry number `s` transposes where `s & 4`, then flips the rows where `s & 2`, then the cols where `s & 1`.
"""

from functools import cache

import numpy as np
from jaxtyping import Int, Shaped

from ..recordings.moves import ALONG, HEADING_OFFSETS, IN_PLACE, OFFSETS, TURNS

SYMMETRIES = tuple(range(8))
TRANSPOSE, FLIP_ROWS, FLIP_COLS = 4, 2, 1


def turned(symmetry: int, grids: Shaped[np.ndarray, "*batch row col"]) -> Shaped[np.ndarray, "*batch new_row new_col"]:
    if symmetry & TRANSPOSE:
        grids = grids.swapaxes(-1, -2)
    if symmetry & FLIP_ROWS:
        grids = grids[..., ::-1, :]
    if symmetry & FLIP_COLS:
        grids = grids[..., ::-1]
    return grids


@cache
def turned_cells(symmetry: int, rows: int, cols: int) -> Int[np.ndarray, "cell"]:
    """The number that each cell has afterwards; one more entry keeps NOWHERE, which is -1, where it is."""
    was = turned(symmetry, np.arange(rows * cols).reshape(rows, cols)).reshape(-1)
    now = np.full(rows * cols + 1, -1, np.int16)
    now[was] = np.arange(rows * cols)
    return now


@cache
def turned_headings(symmetry: int) -> Int[np.ndarray, "heading"]:
    """The heading that each becomes; one more entry keeps "none", which is -1."""
    return np.array([*(HEADING_OFFSETS.index(_offset(symmetry, each)) for each in HEADING_OFFSETS), -1])


def _offset(symmetry: int, offset: tuple[int, int]) -> tuple[int, int]:
    down, right = offset[::-1] if symmetry & TRANSPOSE else offset
    return -down if symmetry & FLIP_ROWS else down, -right if symmetry & FLIP_COLS else right


def mirrors(symmetry: int) -> bool:
    """Whether left and right change places, as in a mirror and unlike in a rotation."""
    return symmetry.bit_count() % 2 == 1


def turned_actions(symmetry: int, names: tuple[str, ...], headed: bool) -> Int[np.ndarray, "action"] | None:
    """The action that each becomes, one more entry for UNKNOWN; None where a name does not tell what becomes of it."""
    if symmetry == 0:
        return np.append(np.arange(len(names)), -1)
    new = [_turned_action(symmetry, name, headed) for name in names]
    if any(name not in names for name in new):
        return None
    return np.array([*(names.index(name) for name in new if name is not None), -1])


def _turned_action(symmetry: int, name: str, headed: bool) -> str | None:
    if name in IN_PLACE or (headed and name in ALONG):
        return name
    if headed and name in TURNS:
        (other,) = TURNS.keys() - {name}
        return other if mirrors(symmetry) else name
    if not headed and name in OFFSETS:
        return {offset: name for name, offset in OFFSETS.items()}[_offset(symmetry, OFFSETS[name])]
    return None


def usable_symmetries(size: tuple[int, int], names: tuple[str, ...], headed: bool) -> tuple[int, ...]:
    """Those under which a grid keeps its size and every action a meaning; the first of them changes nothing."""
    return tuple(
        symmetry
        for symmetry in SYMMETRIES
        if (size[0] == size[1] or not symmetry & TRANSPOSE) and turned_actions(symmetry, names, headed) is not None
    )
