"""Checks of constructor parameters: one line per rule, errors that name the argument and what to give."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeGuard


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an int, or say that it must be a whole number of at least `least`."""
    if not _is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def check_optional_count(name: str, value: Any, least: int = 1) -> int | None:
    """Like `check_count`, with None for "no limit"."""
    return None if value is None else check_count(name, value, least)


def check_number(
    name: str, value: Any, low: float, high: float, *, open_low: bool = False, open_high: bool = False
) -> float:
    """Return `value` as a float within [low, high], without the ends that are open."""
    outside = not _is_number(value) or not low <= value <= high
    if outside or (open_low and value == low) or (open_high and value == high):
        interval = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be a number in {interval}, got {value!r}")
    return float(value)


def check_choice(name: str, value: Any, choices: Collection[Any]) -> Any:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def suggest(word: str, known: Iterable[str], most: int = 12) -> str:
    """A hint for a word that is not known: the nearest one, or all of them."""
    names = [str(name) for name in known]
    near = get_close_matches(word, names, 1, 0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are {', '.join(names[:most])}{f', … ({len(names)} in all)' if len(names) > most else ''}"


def check_share_or_count(name: str, value: Any, whole: int) -> int:
    """Resolve a share of `whole` (a float in (0, 1]) or a count (1 .. whole) to a count."""
    if _is_whole(value):
        if 1 <= value <= whole:
            return int(value)
    elif _is_number(value) and 0 < value <= 1:
        return max(1, int(value * whole))
    raise ValueError(f"{name} must be an int in [1, {whole}] or a float in (0, 1], got {value!r}")


def check_sample_size(name: str, value: Any, whole: int) -> int:
    """Resolve the size of a sample with replacement: a count, or a share of `whole`; both may exceed it."""
    if _is_whole(value):
        return min(check_count(name, value), NO_LIMIT)
    size = check_number(name, value, 0.0, math.inf, open_low=True, open_high=True) * whole
    return min(max(1, int(size)), NO_LIMIT)


def check_row_limit(name: str, value: Any, rows: int, least: int) -> int:
    """Resolve a least number of rows: an int, or a float share of `rows` rounded up."""
    if _is_whole(value) and value >= least:
        return int(value)
    if _is_number(value) and not _is_whole(value) and 0 < value <= 1:
        return max(least, math.ceil(value * rows))
    raise ValueError(
        f"the {name!r} parameter must be an int in the range [{least}, inf) or a float in the range (0.0, 1.0], got "
        f"{value!r}"
    )


# More rows, columns or splits than this exist nowhere; the core counts them in 32 bits.
NO_LIMIT = 2**32 - 1


def resolve_max_features(value: Any, columns: int, *, combinations: bool = False) -> int:
    """Resolve `max_features`: None, "sqrt", "log2", a share or a count of the columns; more than there are is all.

    The number of combinations to try may exceed the number of columns.
    """
    if value is None:
        return columns
    if combinations and _is_whole(value):
        return min(check_count("max_features", value), 2**20 - 1)
    if isinstance(value, str):
        check_choice("max_features", value, ("sqrt", "log2"))
        return max(1, int(math.sqrt(columns) if value == "sqrt" else math.log2(columns)))
    if _is_whole(value):
        return min(check_count("max_features", value), columns)
    return check_share_or_count("max_features", value, columns)
