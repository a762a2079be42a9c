"""McNemar's exact test: two classifiers on the same rows, of which those count that only one of them gets right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from conjunto.experiments.statistics._arrays import as_pair
from conjunto.experiments.statistics.paired import PairedTest


def mcnemar(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """Two-tailed, by the binomial distribution: if neither is better, rows on which they differ are tosses of a coin.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        1 for every row that a method gets wrong, else 0; a[i] and b[i] are of the same row.

    Returns
    -------
    PairedTest
        `statistic` is the number of rows that a alone gets wrong; p is 1 where they differ on none.

    References
    ----------
    McNemar, Note on the sampling error of the difference between correlated proportions or percentages, Psychometrika
    12 (1947) 153-157.

    Examples
    --------
    >>> from conjunto.experiments.statistics import mcnemar
    >>> round(mcnemar([0, 0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 1]).p_value, 5)
    0.03125
    """
    a, b = as_pair(a, b)
    alone, other = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    apart = alone + other
    p = float(binomtest(alone, apart).pvalue) if apart else 1.0
    difference = float(np.mean(a - b)) if len(a) else float("nan")
    return PairedTest(float(alone), p, difference, len(a), degenerate=not apart)
