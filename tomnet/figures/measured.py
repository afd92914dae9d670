"""Numbers of claims, in words."""

from collections.abc import Sequence

from .style import NOTHING, plain


def measured(value: float | str | None, interval: Sequence[float | str | None] | None) -> str:
    """`0.163 [0.123, 0.203]`: the value and, where there is one, its 95% interval."""
    if not interval or any(end is None or end != end for end in interval):
        return number_text(value)
    return f"{number_text(value)} [{number_text(interval[0])}, {number_text(interval[1])}]"


def number_text(value: float | str | None) -> str:
    """Counts and certainties without digits that say nothing: 6, not 6.000; small numbers with some that do."""
    if value is None or value != value:
        return NOTHING
    value = float(value)  # in JSON, infinity is a word
    return plain(value, 0 if float(value).is_integer() else 4 if abs(value) < 0.01 else 3)
