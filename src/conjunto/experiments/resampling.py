"""Areas under curves, of rows that are drawn again: a paired test over rows for measures that are no mean over rows.

The area under the ROC curve and average precision of one class depend on the order of the scores alone. Sorted once, a
resample is a vector of weights, and its area a few cumulative sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 300
MOST_NUMBERS = 4_000_000
"""Weights held at a time: rows x resamples."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows by falling score."""

    order: NDArray[np.intp]
    ends: NDArray[np.intp]
    """The last of each run of equal scores."""
    positive: NDArray[np.bool_]
    """Whether a row is of the class, in that order."""

    @staticmethod
    def of(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> Ranked:
        """Sort rows by their score."""
        order = np.argsort(-scores, kind="stable")
        falling = scores[order]
        ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
        return Ranked(order, ends, positive[order])

    def found(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(resamples, runs): the weight of the rows of the class, and of the others, down to the end of each run."""
        weights = weights[:, self.order]
        rows = np.cumsum(weights, axis=1)[:, self.ends]
        hits = np.cumsum(weights * self.positive, axis=1)[:, self.ends]
        return hits, rows - hits


def average_precisions(ranked: Ranked, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(resamples,): average precision; NaN where a resample has no row of the class."""
    hits, misses = ranked.found(weights)
    gained = np.diff(hits, axis=1, prepend=0.0)
    rows = hits + misses
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(rows > 0, gained * hits / rows, 0.0).sum(axis=1) / hits[:, -1])


def areas(ranked: Ranked, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(resamples,): the area under the ROC curve; NaN where a resample has one class only."""
    hits, misses = ranked.found(weights)
    steps = np.diff(misses, axis=1, prepend=0.0)
    before = np.concatenate([np.zeros((len(hits), 1)), hits[:, :-1]], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((steps * (hits + before) / 2).sum(axis=1) / (hits[:, -1] * misses[:, -1]))


CURVES = {"average-precision": average_precisions, "auc": areas}
"""Measures of two classes that are areas."""


def resampled_areas(
    measure: str, parts: Sequence[tuple[int, NDArray[np.bool_], NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """(resamples,): the mean area over partitions, of rows that are drawn again within each.

    Parameters
    ----------
    measure : {"average-precision", "auc"}
    parts : sequence of (number, positive, scores)
        For each partition: which rows are of the positive class, and its scores. The number seeds the resamples, so
        that two methods have the same.
    """
    total = np.zeros(RESAMPLES)
    for number, positive, scores in parts:
        random, ranked = np.random.default_rng(number), Ranked.of(scores, positive)
        step = max(1, MOST_NUMBERS // len(positive))
        for start in range(0, RESAMPLES, step):
            stop = min(start + step, RESAMPLES)
            weights = random.poisson(1.0, (stop - start, len(positive))).astype(np.float64)
            total[start:stop] += CURVES[measure](ranked, weights)
    return total / len(parts)


def paired_p_value(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Two-tailed, of a paired bootstrap: twice the smaller share of resamples on either side of no difference.

    One is added to each side, so that it is never 0; NaN where less than half of the resamples have a number.
    """
    differences = a - b
    known = differences[np.isfinite(differences)]
    if len(known) < len(differences) / 2:
        return float("nan")
    below, above = (known <= 0).sum(), (known >= 0).sum()
    return float(min(1.0, 2 * (min(below, above) + 1) / (len(known) + 1)))
