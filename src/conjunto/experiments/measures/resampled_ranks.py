"""Measures of how probabilities order the rows, for many resamples at once.

Rows are sorted once; a resample takes each of them so many times, and what the sorted rows add up to is the measure.
The definitions are those of `MEASURES`, and a test holds them together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures.resampled_tables import share
from conjunto.experiments.measures.scored import Scored

Numbers = NDArray[np.float64]
OfCounts = Callable[[Numbers], Numbers]
"""From (R, n), how often each resample takes each row, to (R,), the measure in each."""


def auc(scored: Scored) -> OfCounts | None:
    """Area under the ROC curve; of several classes the mean over pairs that a resample has both of."""
    proba = scored.proba
    if proba is None:
        return None
    present = np.unique(scored.codes)
    pairs = [
        (_Sorted(proba[rows, one], scored.codes[rows] == one), rows)
        for place, a in enumerate(present)
        for b in present[place + 1 :]
        for rows in [np.flatnonzero((scored.codes == a) | (scored.codes == b))]
        # Of two columns that add up to 1 the second says the same as the first.
        for one in ((a,) if proba.shape[1] == 2 else (a, b))
    ]
    return lambda counts: _mean([pair.area(counts[:, rows]) for pair, rows in pairs], len(counts))


def average_precision(scored: Scored) -> OfCounts | None:
    """Average precision of the positive one of two classes; of more, the mean over those that a resample has."""
    proba = scored.proba
    if proba is None:
        return None
    present = np.unique(scored.codes).tolist()
    asked = [scored.positive] if proba.shape[1] == 2 else present
    known = [_Sorted(proba[:, one], scored.codes == one) for one in asked if one in present]
    return lambda counts: _mean([each.precision(counts) for each in known], len(counts))


def _mean(values: list[Numbers], resamples: int) -> Numbers:
    """The mean of the values that there are, of each resample; NaN where there are none."""
    table = np.array(values).reshape(-1, resamples)
    there = ~np.isnan(table)
    return share(np.where(there, table, 0).sum(axis=0), there.sum(axis=0).astype(float))


class _Sorted:
    """Rows by falling probability of a class; those that tie are one step."""

    def __init__(self, probability: NDArray[np.float64], inside: NDArray[np.bool_]) -> None:
        self._order = np.argsort(-probability, kind="stable")
        self._inside = inside[self._order]
        self._steps = np.flatnonzero(np.diff(probability[self._order], prepend=np.inf))

    def _by_step(self, counts: Numbers) -> tuple[Numbers, Numbers]:
        """(R, steps): rows of the class, and others."""
        taken = counts[:, self._order]
        inside = np.add.reduceat(taken * self._inside, self._steps, axis=1)
        return inside, np.add.reduceat(taken, self._steps, axis=1) - inside

    def area(self, counts: Numbers) -> Numbers:
        """How often a row of the class stands before another one; a tie is half of that."""
        inside, outside = self._by_step(counts)
        before = np.cumsum(inside, axis=1) - inside / 2
        return share((before * outside).sum(axis=1), inside.sum(axis=1) * outside.sum(axis=1))

    def precision(self, counts: Numbers) -> Numbers:
        """The precision at every step, weighted by the rows of the class that the step adds."""
        inside, outside = self._by_step(counts)
        found = np.cumsum(inside, axis=1)
        precise = share(found, found + np.cumsum(outside, axis=1), 0.0)
        return share((precise * inside).sum(axis=1), inside.sum(axis=1))


RANKS: dict[str, Callable[[Scored], OfCounts | None]] = {"auc": auc, "average-precision": average_precision}
"""The measures of an order, by name; None for a model without probabilities."""
