"""`Region`: the rows whose answers are known, and which of them lie nearest to others, whatever their columns are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, issparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from conjunto.problem import Columns, is_frame, read_columns, read_rows

# Above this number of columns all distances are cheaper than a tree of them.
MANY_COLUMNS = 15
# So many differences of numbers are computed without a search: for one row that starts no threads.
FEW_CELLS = 1 << 22
# Distances of a search by products of matrices are rounded: so many more rows are looked at again, for ties.
SPARE = 16


class Region(BaseEstimator):
    """Rows, as points: numbers in units of their standard deviation, and 1 between different categories.

    A number that is missing is the mean of its column; a missing category is as far from every other.
    """

    def __init__(self, n_neighbors: int, metric: str, n_jobs: int | None) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the rows in."""
        self._columns = read_columns(X) if is_frame(X) else Columns((None,) * X.shape[1])
        self.n_features_in_ = X.shape[1]
        if is_frame(X) and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        encoded = self._encoded(X)
        self._numbers = np.array([codes is None for codes in self._columns.codes])
        self._mean, self._scale = _moments(encoded[:, self._numbers])
        self._known = self._points(encoded)
        self._index()
        return self

    def _index(self) -> NearestNeighbors:
        """What finds neighbours; made again where it was not stored: trees of distances are no data."""
        if "_made" not in self.__dict__:
            index = NearestNeighbors(
                algorithm="brute" if self._by_distances() else "auto",
                metric=self.metric,
                n_jobs=self.n_jobs,
            )
            self._made = index.fit(self._known)
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_made", None)
        return state

    def nearest(self, X: Any) -> NDArray[np.intp]:
        """(n, neighbours): the numbers of the nearest rows, the nearest first."""
        points = self._points(self._encoded(X))
        k, n = min(self.n_neighbors, self._known.shape[0]), self._known.shape[0]
        exact = self._by_distances() and self.metric == "euclidean" and not issparse(points)
        if not exact:
            found: NDArray[np.intp] = self._index().kneighbors(points, k, return_distance=False)
            return found
        if len(points) * self._known.size <= FEW_CELLS:
            candidates = np.broadcast_to(np.arange(n), (len(points), n))
        else:
            candidates = np.sort(self._index().kneighbors(points, min(n, k + SPARE), return_distance=False), axis=1)
        return _nearest_of(points, self._known, candidates, k)

    def _by_distances(self) -> bool:
        """Whether all distances are computed, in place of a tree of them."""
        return bool(issparse(self._known) or self._known.shape[1] > MANY_COLUMNS)

    def _encoded(self, X: Any) -> Any:
        if issparse(X):
            return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        return read_rows(self, X, self._columns)

    def _points(self, encoded: Any) -> Any:
        if issparse(encoded):
            # A sparse matrix stays one: 0 stays where it is.
            return encoded @ diags_array(1 / self._scale)
        parts = [np.nan_to_num((encoded[:, self._numbers] - self._mean) / self._scale)]
        for j in np.flatnonzero(~self._numbers):
            levels = np.arange(self._columns.counts[j])
            # Two categories differ in two columns: together a distance of 1.
            parts.append((encoded[:, [j]] == levels) / np.sqrt(2))
        return np.hstack(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def _moments(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column, 1 where all values are one."""
    if issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        spread = np.sqrt(np.maximum(variance, 0.0))
    else:
        known = ~np.isnan(X)
        count = np.maximum(1, known.sum(axis=0))
        mean = np.where(known, X, 0.0).sum(axis=0) / count
        spread = np.sqrt(np.where(known, (X - mean) ** 2, 0.0).sum(axis=0) / count)
    return mean, np.where(spread > 0, spread, 1.0)


def _nearest_of(
    points: NDArray[np.float64], known: NDArray[np.float64], candidates: NDArray[np.intp], k: int
) -> NDArray[np.intp]:
    """(n, k): the nearest of some candidates for each point; of equally near ones the first."""
    found = np.empty((len(points), k), dtype=np.intp)
    step = max(1, FEW_CELLS // max(1, candidates.shape[1] * known.shape[1]))
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        squares = ((points[part, None] - known[candidates[part]]) ** 2).sum(axis=2)
        order = np.argsort(squares, axis=1, kind="stable")[:, :k]
        found[part] = np.take_along_axis(candidates[part], order, axis=1)
    return found
