"""Measurements at the door: arrays of finite numbers, errors that name the argument."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_numbers(name: str, values: ArrayLike, ndim: int, *, finite: bool = True) -> NDArray[np.float64]:
    """Return `values` as doubles with `ndim` axes; without `finite`, NaN and infinities may stay."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must be an array of numbers: {problem}") from None
    if array.ndim != ndim:
        raise ValueError(f"{name} must be {ndim}-dimensional, got shape {array.shape}")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite values; leave those measurements out")
    return array


def as_pair(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the measurements of two methods in the same circumstances."""
    left, right = as_numbers("a", a, 1), as_numbers("b", b, 1)
    if len(left) != len(right):
        raise ValueError(f"a and b must have the same length, got {len(left)} and {len(right)}")
    return left, right


def rounding(*values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of a difference of these values may be nothing but rounding.

    0.763 - 0.768 and 0.931 - 0.936 are the same difference to a reader and not to a computer.
    """
    return np.asarray(4 * np.finfo(np.float64).eps * np.max(np.abs(values), axis=0), dtype=np.float64)
