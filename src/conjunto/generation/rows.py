"""Rows: which examples a member sees, and how often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.streams import SAMPLE, Key, Stream


def bootstrap(stream: Stream, n: int, size: int) -> NDArray[np.int32]:
    """Multiplicities of a sample of `size` rows with replacement (bagging)."""
    return stream.bootstrap(n, size)


def subsample(stream: Stream, n: int, size: int) -> NDArray[np.int32]:
    """1 for the rows of a sample without replacement (pasting), 0 for the others."""
    return stream.subset(n, size)


def balanced_bootstrap(key: Key, n: int, n_members: int) -> NDArray[np.int32]:
    """(T, n) multiplicities in which every row appears exactly T times in total (Christensen et al. 2003).

    T copies of the rows are permuted together and cut into T samples, so the members depend on each other:
    there is no stream per member here.
    """
    random = Stream(key, n_members).generator()
    drawn = random.permutation(np.repeat(np.arange(n), n_members)).reshape(n_members, n)
    return np.stack([np.bincount(sample, minlength=n) for sample in drawn]).astype(np.int32)


def weighted_bootstrap(stream: Stream, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Multiplicities of a sample drawn in proportion to weights, as large as there are rows of positive weight."""
    return stream.generator(SAMPLE).multinomial(np.count_nonzero(weights), weights / weights.sum())


def held_out_rows(stream: Stream, y: NDArray[Any], n_classes: int, share: float) -> NDArray[np.bool_]:
    """True for about a share of the rows, the same share of each class; every class keeps a row to learn from."""
    random = stream.generator()
    held_out = np.zeros(len(y), dtype=bool)
    strata = [np.flatnonzero(y == code) for code in range(n_classes)] if n_classes else [np.arange(len(y))]
    for rows in strata:
        count = max(0, min(round(share * len(rows)), len(rows) - 1))
        held_out[random.permutation(rows)[:count]] = True
    if not held_out.any():
        raise ValueError(f"validation_fraction={share:g} of {len(y)} rows leaves none to validate on: raise it")
    return held_out


def half_wrong_sample(stream: Stream, wrong: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """1 for the rows of a sample without replacement of as many wrong as right ones, as large as there can be one."""
    random = stream.generator()
    count = min(np.count_nonzero(wrong), np.count_nonzero(right))
    sample = np.zeros(len(wrong))
    for side in (wrong, right):
        sample[random.choice(np.flatnonzero(side), size=count, replace=False)] = 1
    return sample
