"""Whether rows are those of a fit, in its order: by a sum over each column with a factor for every place.

A checksum would refuse the same rows in single precision, or read from a file anew. Sums of values that differ by
rounding are nearly equal; those of other rows, or of the same rows in another order, are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

# Cells looked at together: as many as stay in a cache.
BLOCK_CELLS = 1 << 16
# Of a column's spread: rounding to single precision stays far below it, a thousandth of a thousandth of all rows in
# other places is above it.
DIFFERENT = 1e-3
ROUNDING = 1e-12


def row_sketch(X: Any) -> NDArray[np.float64]:
    """(m,): the sum of each column, less its mean, by the factors of the places; NaN counts as 0."""
    n, m = X.shape
    factors = _factors(n)
    if issparse(X):
        filled = _filled(X)
        sketch: NDArray[np.float64] = filled.T @ factors - filled.T @ np.ones(n) / n * factors.sum()
        return sketch
    weighed, total, first = np.zeros(m), np.zeros(m), 0
    with np.errstate(invalid="ignore", over="ignore"):
        for part in _blocks(X):
            weighed += factors[first : first + len(part)] @ part
            total += part.sum(axis=0)
            first += len(part)
        return weighed - total / n * factors.sum()


def other_rows(sketch: NDArray[np.float64], X: Any) -> bool:
    """Whether a sketch is that of other rows, or of these in another order; numbers that overflow tell nothing."""
    n = X.shape[0]
    with np.errstate(invalid="ignore", over="ignore"):
        origin, total, squares = _moments(X)
        spread = np.sqrt(np.maximum(squares - total**2 / n, 0.0))
        size = math.sqrt(n) * np.abs(origin + total / n)
        return bool((np.abs(row_sketch(X) - sketch) > DIFFERENT * spread + ROUNDING * size).any())


def _moments(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(m,) each: an origin, and the sums and sums of squares of the columns from there."""
    n, m = X.shape
    if issparse(X):
        filled = _filled(X)
        return np.zeros(m), filled.T @ np.ones(n), filled.multiply(filled).T @ np.ones(n)
    # Near the values: of squares of numbers far from 0 nothing would be left.
    origin = np.nan_to_num(X[0])
    total, squares = np.zeros(m), np.zeros(m)
    for part in _blocks(X):
        total += (part - origin).sum(axis=0)
        squares += ((part - origin) ** 2).sum(axis=0)
    return origin, total, squares


def _filled(X: Any) -> Any:
    """Sparse rows with 0 for NaN."""
    if not np.isnan(X.data).any():
        return X
    filled = X.copy()
    filled.data = np.nan_to_num(filled.data)
    return filled


def _blocks(X: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Some rows at a time, with 0 for NaN."""
    step = max(1, BLOCK_CELLS // max(1, X.shape[1]))
    for first in range(0, len(X), step):
        part = X[first : first + step]
        # One number tells that there is none; looking cell by cell takes longer than adding.
        yield np.nan_to_num(part) if np.isnan(part.sum()) else part


def _factors(n: int) -> NDArray[np.float64]:
    """(n,): in [-1/2, 1/2), the same in every version of numpy: models are stored with sums of them."""
    words = np.random.Philox(key=0).random_raw(n) >> np.uint64(11)
    return words.astype(np.float64) * 2.0**-53 - 0.5
