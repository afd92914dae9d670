"""Answers as the page reads them: plain lists of numbers, None where there is nothing to say."""

from typing import Any

import numpy as np

from ..episodes.predictions import Probabilities

DIGITS = 6


def plain(array: Any) -> list | None:
    return None if array is None else np.round(np.asarray(array, float), DIGITS).tolist()


def plain_answer(said: Probabilities, field: Any = None) -> dict[str, list | None]:
    """Of one agent: `action [action]`, `consumption [object]`, `successor [gamma, row, col]`, `belief [object, place]`,
    and `field [cell, action]`, the next action from every cell."""
    heads = {name: plain(getattr(said, name)) for name in ("action", "consumption", "successor", "belief")}
    return heads | {"field": plain(field)}
