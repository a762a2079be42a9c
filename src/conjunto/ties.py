"""Ties: what counts as equal, and who wins then. One rule for all of conjunto.

Sums of real weights in another order differ by rounding; without a tolerance that would be another result. The lowest
class code wins among equals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunto import _core

# Sums of real weights in another order differ by less than this share of them; `kTie` in the core.
ROUNDING = 1e-10


def leaders(counts: NDArray[np.float64]) -> NDArray[np.intp]:
    """(n,): the class with the largest count; ties, and differences by rounding alone, go to the lowest code."""
    return _core.leaders(counts)


def levels(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the distinct values of each row from below; values that differ by rounding alone share a number.

    `values` are finite, (n,) or (rows, n); what counts as rounding is a share of the largest of a row.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, axis=-1), axis=-1) > rounding_of(values)
    numbers = np.zeros(values.shape, dtype=np.intp)
    np.put_along_axis(numbers, order[..., 1:], np.cumsum(steps, axis=-1), axis=-1)
    return numbers


def rounding_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 1): up to what difference values of a row are equal; what is not finite has no part in it."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    return np.asarray(ROUNDING * sizes.max(axis=-1, keepdims=True, initial=0.0), dtype=np.float64)
