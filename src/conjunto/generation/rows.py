"""Rows: which examples a member sees, and how often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunto.streams import Key, Stream


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
