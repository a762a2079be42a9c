"""Breiman's synthetic problems, seeded and of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from conjunto.checks import check_count


def make_twonorm(n: int = 300, *, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two normal classes in 20 dimensions with means (a, …, a) and (-a, …, -a), a = 2 / sqrt(20).

    The Bayes error is 2.3 %.

    Examples
    --------
    >>> X, y = make_twonorm(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 20), (5,))
    """
    check_count("n", n)
    random = check_random_state(random_state)
    y = random.randint(0, 2, size=n).astype(np.int64)
    a = 2 / np.sqrt(20)
    return random.normal(size=(n, 20)) + np.where(y == 0, a, -a)[:, None], y


def make_waveform(n: int = 300, *, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Three classes in 21 dimensions, each a random mixture of two of three triangular waves, plus unit noise.

    The Bayes error is about 14 %.

    Examples
    --------
    >>> X, y = make_waveform(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 21), (5,))
    """
    check_count("n", n)
    random = check_random_state(random_state)
    place = np.arange(1, 22)
    waves = np.stack([np.maximum(6 - np.abs(place - peak), 0) for peak in (11, 15, 7)]).astype(float)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    y = random.randint(0, 3, size=n).astype(np.int64)
    share = random.uniform(size=(n, 1))
    first, second = waves[pairs[y, 0]], waves[pairs[y, 1]]
    return share * first + (1 - share) * second + random.normal(size=(n, 21)), y
