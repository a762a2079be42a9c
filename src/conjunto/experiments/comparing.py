"""Two methods on one data set: is one of them better, by the partitions and, where these are few, by the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from conjunto.experiments.statistics import corrected_resampled_t, paired_t

LEVEL = 0.05
"""A smaller p-value is a difference."""
FEW = 10
"""Up to so many partitions the test over them has little power, and one over the test rows decides.

In few partitions, the same difference every time is more likely chance than certainty, too.
"""


@dataclass(frozen=True)
class Verdict:
    """What tests say of a method against the best one."""

    word: str
    p_value: float = math.nan
    """Of the test over partitions."""
    p_rows: float = math.nan
    """Of the test over rows; NaN where partitions are many, or there is no such test of the measure."""


def compare(scores: ArrayLike, best: ArrayLike, test_to_train: float | None, p_rows: float = math.nan) -> Verdict:
    """A method and the best one, by their scores in the same partitions.

    Parameters
    ----------
    scores, best : array-like of shape (partitions,)
    test_to_train : float or None
        Test rows for every training row, which the corrected test needs; None where training rows are not shared.
    p_rows : float, default=NaN
        Of a test over rows, which decides where there is one.
    """
    pair = np.asarray(scores, dtype=float), np.asarray(best, dtype=float)
    p = math.nan
    if len(pair[0]) >= 2:
        test = paired_t(*pair) if test_to_train is None else corrected_resampled_t(*pair, test_to_train=test_to_train)
        certain = test.degenerate and test.mean_difference != 0 and test.n < FEW
        p = math.nan if certain else test.p_value
    decisive = p if math.isnan(p_rows) else p_rows
    if math.isnan(decisive):
        return Verdict("too few runs to tell", p, p_rows)
    return Verdict("tied" if decisive >= LEVEL else "worse", p, p_rows)
