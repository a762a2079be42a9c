"""A budget into the number of members that it pays for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from conjunto.pruning.keep import Budget
from conjunto.pruning.measuring import cpu_milliseconds, file_bytes, single_rows, thousand_rows

# Sizes whose time is measured; the others lie on a straight line.
SIZES = 5
# A measurement this much above the budget is no longer noise.
NOISE = 1.1


def fit_budget(budget: Budget, members: int, part: Callable[[int], Any], X: Any) -> int:
    """The largest number of members with which the model, `part(size)`, fits the budget.

    Bytes are counted; time is measured at several sizes, and read off a straight line.
    """
    size = members
    if budget.bytes is not None:
        size = _most_in_bytes(budget, size, part)
    if budget.milliseconds_per_1000_rows is not None:
        rows = thousand_rows(X)
        size = _most_in_time(budget, "milliseconds_per_1000_rows", size, lambda count: _predicting(part(count), [rows]))
    if budget.milliseconds_per_row is not None:
        singles = single_rows(X)
        size = _most_in_time(budget, "milliseconds_per_row", size, lambda count: _predicting(part(count), singles))
    if size == 1 < members:
        warnings.warn(
            f"keep={budget}: one member of {members} is left, which is no ensemble; raise the budget", stacklevel=5
        )
    return size


def _most_in_bytes(budget: Budget, members: int, part: Callable[[int], Any]) -> int:
    """By halving."""
    assert budget.bytes is not None
    one = file_bytes(part(1))
    if one > budget.bytes:
        raise ValueError(f"keep={budget}: one member alone costs more ({one:,} bytes); raise the budget")
    low, high = 1, members + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if file_bytes(part(middle)) <= budget.bytes else (low, middle)
    return low


def _most_in_time(budget: Budget, name: str, members: int, predicting: Callable[[int], _Predicting]) -> int:
    """By a straight line through the times of several sizes."""
    most = getattr(budget, name)
    sizes = np.unique(np.linspace(1, members, min(members, SIZES)).round().astype(np.intp))
    times = dict(zip(sizes.tolist(), _milliseconds([predicting(size) for size in sizes.tolist()]), strict=True))
    size = _on_line(times, most, members)
    if size < 1:
        if times[1] > most:
            raise ValueError(
                f"keep={budget}: one member alone costs more ({times[1]:.3g} {_in_words(name)}); raise the budget"
            )
        return 1
    taken = times[size] if size in times else _milliseconds([predicting(size)])[0]
    if taken > NOISE * most:
        warnings.warn(
            f"keep={budget}: {size} members fit by a straight line through the times of {len(times)} sizes only; "
            f"measured by themselves they took {taken:.3g} {_in_words(name)}",
            stacklevel=6,
        )
    return size


def _on_line(times: dict[int, float], most: float, members: int) -> int:
    """The size at which a straight line through (size, time) reaches the most."""
    if len(times) == 1:
        return members if min(times.values()) <= most else 0
    slope, start = np.polyfit(list(times), list(times.values()), 1)
    if slope <= 0:
        return members if max(times.values()) <= most else 0
    # Half a thousandth of a member is rounding.
    return min(members, max(0, math.floor((most - start) / slope + 5e-4)))


_Predicting = tuple[Callable[[], object], int]
"""What is timed, and how many times the unit it is."""


def _predicting(model: Any, batches: list[Any]) -> _Predicting:
    """Prediction of all batches, in one thread: time of the processor is that of all threads together."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(last, "n_jobs"):
        last.n_jobs = 1

    def predict() -> None:
        for rows in batches:
            model.predict(rows)

    return predict, len(batches)


def _milliseconds(timed: list[_Predicting]) -> list[float]:
    spent = cpu_milliseconds([predict for predict, _ in timed])
    return [time / count for time, (_, count) in zip(spent, timed, strict=True)]


def _in_words(name: str) -> str:
    return name.replace("milliseconds", "ms").replace("_", " ")
