"""Measures of predicted classes as functions of tables of true and predicted class, for many tables at once.

What `MEASURES` takes of rows is here taken of counts: a resample of the rows is another table, and a thousand tables
cost one pass of numpy in place of a thousand calls. The definitions are the same, and a test holds them together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes
from conjunto.experiments.measures.scored import Scored

Numbers = NDArray[np.float64]


def tables(scored: Scored) -> Callable[[Numbers], Numbers]:
    """From (R, n), how often each resample takes each row, to (R, K, K): rows by true class, then predicted class."""
    assert scored.classes is not None
    width = len(scored.classes)
    predicted = Classes(scored.classes).encode(scored.predicted, who="the model predicts")
    cells = scored.codes * width + predicted
    # The rows of one cell stand side by side, and are added up in one go.
    order = np.argsort(cells, kind="stable")
    there, starts = np.unique(cells[order], return_index=True)

    def of(counts: Numbers) -> Numbers:
        found = np.zeros((len(counts), width * width))
        found[:, there] = np.add.reduceat(counts[:, order], starts, axis=1)
        return found.reshape(-1, width, width)

    return of


def share(part: Numbers, whole: Numbers, nothing: float = np.nan) -> Numbers:
    """A part of a whole; `nothing` where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, nothing), where=whole != 0)


def _right(table: Numbers) -> Numbers:
    """(R, K): the rows of each class that are put in it."""
    return np.diagonal(table, axis1=1, axis2=2)


def _recalls(table: Numbers) -> Numbers:
    """(R, K): NaN for a class without rows."""
    return share(_right(table), table.sum(axis=2))


def _precisions(table: Numbers) -> Numbers:
    return share(_right(table), table.sum(axis=1), 0.0)


def _f1(table: Numbers) -> Numbers:
    return share(2 * _right(table), table.sum(axis=1) + table.sum(axis=2), 0.0)


def _jaccard(table: Numbers) -> Numbers:
    return share(_right(table), table.sum(axis=1) + table.sum(axis=2) - _right(table), 0.0)


def _macro(of: Callable[[Numbers], Numbers]) -> Callable[[Numbers, int], Numbers]:
    """The mean over the classes that have rows."""

    def mean(table: Numbers, positive: int) -> Numbers:
        there = table.sum(axis=2) > 0
        return share(np.where(there, of(table), 0).sum(axis=1), there.sum(axis=1).astype(float))

    return mean


def _weighted(of: Callable[[Numbers], Numbers]) -> Callable[[Numbers, int], Numbers]:
    """The mean over classes, weighted by their rows."""

    def mean(table: Numbers, positive: int) -> Numbers:
        rows = table.sum(axis=2)
        return share((of(table) * rows).sum(axis=1), rows.sum(axis=1))

    return mean


def _error(table: Numbers, positive: int) -> Numbers:
    return 1 - _right(table).sum(axis=1) / table.sum(axis=(1, 2))


def _geometric_mean(table: Numbers, positive: int) -> Numbers:
    there = table.sum(axis=2) > 0
    product = np.where(there, _recalls(table), 1).prod(axis=1)
    return np.asarray(product ** (1 / there.sum(axis=1)))


def _positive_f1(table: Numbers, positive: int) -> Numbers:
    return _f1(table)[:, positive] if table.shape[1] == 2 else np.full(len(table), np.nan)


def _mcc(table: Numbers, positive: int) -> Numbers:
    """The correlation of truth and prediction; 0 where one of them is the same everywhere."""
    n, right = table.sum(axis=(1, 2)), _right(table).sum(axis=1)
    true, predicted = table.sum(axis=2), table.sum(axis=1)
    spread = (n**2 - (true**2).sum(axis=1)) * (n**2 - (predicted**2).sum(axis=1))
    return share(right * n - (true * predicted).sum(axis=1), np.sqrt(spread), 0.0)


def _kappa(table: Numbers, positive: int) -> Numbers:
    n = table.sum(axis=(1, 2))
    chance = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1) / n**2
    return 1 - share(_error(table, positive), 1 - chance)


OF_TABLES: dict[str, Callable[[Numbers, int], Numbers]] = {
    "error": _error,
    "accuracy": lambda table, positive: 1 - _error(table, positive),
    "balanced-error": lambda table, positive: 1 - _macro(_recalls)(table, positive),
    "balanced-accuracy": _macro(_recalls),
    "geometric-mean": _geometric_mean,
    "f1": _macro(_f1),
    "weighted-f1": _weighted(_f1),
    "positive-f1": _positive_f1,
    "precision": _macro(_precisions),
    "weighted-precision": _weighted(_precisions),
    "recall": _macro(_recalls),
    "jaccard": _macro(_jaccard),
    "mcc": _mcc,
    "kappa": _kappa,
}
"""By the name in `MEASURES`: functions of tables (R, K, K) and the code of the positive class."""


def rate_counts(table: NDArray[np.float64], positive: int) -> dict[str, tuple[float, float]]:
    """By measure that is a share of rows: how many are meant, and out of how many; `table` is one of `tables`."""
    right, n = float(np.trace(table)), float(table.sum())
    found = {"error": (n - right, n), "accuracy": (right, n)}
    if len(table) == 2:
        other = 1 - positive
        found["sensitivity"] = float(table[positive, positive]), float(table[positive].sum())
        found["specificity"] = float(table[other, other]), float(table[other].sum())
        found["positive-predictive-value"] = float(table[positive, positive]), float(table[:, positive].sum())
        found["negative-predictive-value"] = float(table[other, other]), float(table[:, other].sum())
    return found
