"""A regression forest as weighted neighbours, and the quantiles of the targets that it weighs (Meinshausen 2006).

In a tree, the training rows of the leaf that x falls into share its answer, each in proportion to its weight there; a
forest gives row i the mean of these shares, w_i(x). The mean of the targets under w is what the forest predicts; their
quantiles tell how far an answer may be off. Leaves need no list of their targets: who shares a leaf with whom follows
from the training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from conjunto.checks import check_number
from conjunto.ties import ROUNDING

# Weights of so many pairs of rows are held at a time.
PAIR_CELLS = 1 << 24


def predict_quantiles(
    fitted: Any,
    X_train: Any,
    y_train: ArrayLike,
    X: Any,
    quantiles: float | Sequence[float] = (0.05, 0.5, 0.95),
    *,
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return quantiles of the target for each row, from a fitted forest, without fitting anything again.

    Parameters
    ----------
    fitted : fitted regression forest
        `RandomForestRegressor`, `ExtraTreesRegressor` or bagging of our trees; also scikit-learn's forests.
    X_train, y_train : array-like
        The rows that it was fitted on, in their order, and their targets.
    X : array-like or DataFrame
        Rows to predict.
    quantiles : float or sequence of floats in [0, 1], default=(0.05, 0.5, 0.95)
        The share of the weight at or below the answer.
    sample_weight : array-like of shape (n,), default=None
        The weights of the fit.

    Returns
    -------
    ndarray of shape (n,), or (n, quantiles)
        Each is the least target up to which that share of the weight lies.

    References
    ----------
    Meinshausen (2006). Quantile regression forests. Journal of Machine Learning Research 7, 983-999.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import RandomForestRegressor
    >>> from conjunto.evaluation import predict_quantiles
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1000, 1))
    >>> y = X[:, 0] + 0.3 * rng.uniform(-1, 1, size=1000)
    >>> forest = RandomForestRegressor(min_samples_leaf=20, random_state=0).fit(X, y)
    >>> predict_quantiles(forest, X, y, [[0.5]], (0.1, 0.9)).round(1)
    array([[0.3, 0.7]])
    """
    levels = np.array([check_number("quantiles", each, 0.0, 1.0) for each in np.atleast_1d(quantiles)])
    targets = np.asarray(y_train, dtype=np.float64)
    if targets.ndim != 1 or hasattr(fitted, "classes_"):
        raise ValueError("quantiles are those of one target that is a number: fit a regression forest on it")
    order = np.argsort(targets, kind="stable")
    forest = _Leaves(fitted, X_train, len(targets), sample_weight, order)
    wanted = _applied(fitted, X)
    step = max(1, PAIR_CELLS // max(1, round(forest.pairs_per_row)))
    parts = [_quantiles(forest.weights(wanted[i : i + step]), levels) for i in range(0, len(wanted), step)]
    found = targets[order][np.concatenate(parts)]
    return found[:, 0] if np.ndim(quantiles) == 0 else found


class _Leaves:
    """Which training rows, in a given order, share a leaf of a tree, and by what weight."""

    def __init__(self, fitted: Any, X_train: Any, n: int, sample_weight: ArrayLike | None, order: NDArray[Any]) -> None:
        leaves = _applied(fitted, X_train)
        if len(leaves) != n:
            raise ValueError(f"X_train has {len(leaves)} rows and y_train {n}: they must be those of the fit")
        self.width = int(leaves.max()) + 1
        trees = leaves.shape[1]
        weight = _weights_in_trees(fitted, n, trees, sample_weight)
        place = (leaves + self.width * np.arange(trees)).ravel()
        rows = np.repeat(np.arange(n), trees)
        inside = csr_matrix((weight.ravel(), (place, rows)), shape=(self.width * trees, n))[:, order]
        inside.eliminate_zeros()
        total = np.asarray(inside.sum(axis=1)).ravel()
        share = np.repeat(1 / np.where(total > 0, total, 1), np.diff(inside.indptr)) / trees
        inside.data *= share
        self.inside = inside
        self.trees = trees
        self.pairs_per_row = inside.nnz / max(1, np.count_nonzero(total)) * trees

    def weights(self, leaves: NDArray[Any]) -> csr_matrix:
        """(rows, training rows): how much each counts."""
        places = np.minimum(leaves, self.width - 1) + self.width * np.arange(self.trees)
        ends = np.arange(0, places.size + 1, self.trees)
        falls = csr_matrix((np.ones(places.size), places.ravel(), ends), shape=(len(leaves), self.inside.shape[0]))
        found = (falls @ self.inside).tocsr()
        found.sort_indices()
        return found


def _applied(fitted: Any, X: Any) -> NDArray[np.int64]:
    if not hasattr(fitted, "apply"):
        raise TypeError(f"quantiles need a forest whose trees tell the leaf of a row, got {type(fitted).__name__}")
    return np.asarray(fitted.apply(X), dtype=np.int64)


def _weights_in_trees(fitted: Any, n: int, trees: int, sample_weight: ArrayLike | None) -> NDArray[np.float64]:
    """(n, trees): what each row weighs in each tree; all rows where a tree's sample is not known."""
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    samples = getattr(fitted, "estimators_samples_", None)
    if samples is None or len(samples) != trees:
        return np.repeat(weight[:, None], trees, axis=1)
    if max(int(rows.max(initial=-1)) for rows in samples) >= n:
        raise ValueError(f"the forest was fitted on more than {n} rows: give X_train as it was")
    return np.stack([np.bincount(rows, minlength=n) for rows in samples], axis=1) * weight[:, None]


def _quantiles(weights: csr_matrix, levels: NDArray[np.float64]) -> NDArray[np.intp]:
    """(rows, levels): the first place up to which each share of a row's weight lies."""
    total = np.cumsum(np.append(0.0, weights.data))
    begin, end = total[weights.indptr[:-1]], total[weights.indptr[1:]]
    wanted = begin[:, None] + levels * (end - begin)[:, None] - ROUNDING * end.max(initial=1.0)
    at = np.searchsorted(total[1:], wanted)
    return weights.indices[np.clip(at, weights.indptr[:-1, None], weights.indptr[1:, None] - 1)]
