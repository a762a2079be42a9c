"""Members that see columns of their own, computed by a fitted map, beside those of X or in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from conjunto.learners.members import ForeignMembers, TreeMembers, take_over
from conjunto.problem import Rows, append_columns, is_frame, read_rows


class ExtendedMembers:
    """Members, each with its map of rows to further columns."""

    def __init__(self, inner: TreeMembers | ForeignMembers, features: list[Any], only: bool = False) -> None:
        self.inner = inner
        self.features = features
        self.only = only
        """Whether the members see the computed columns alone."""

    @property
    def native(self) -> bool:
        """Whether the members are our own trees."""
        return self.inner.native

    @property
    def forest(self) -> Any:
        """The packed trees, which take the columns of X and those of their own."""
        assert isinstance(self.inner, TreeMembers)
        return self.inner.forest

    def __len__(self) -> int:
        return len(self.features)

    def _each(self, X: Rows, threads: int, ask: Callable[[Any, Rows], NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """What each member answers, in their order."""

        def answer(t: int) -> NDArray[Any]:
            return ask(self.inner.take(np.array([t])), self._widened(X, self.features[t]))

        work = Parallel(n_jobs=threads, require="sharedmem", return_as="generator")
        yield from work(delayed(answer)(t) for t in range(len(self)))

    def _widened(self, X: Rows, features: Any) -> Rows:
        # By rows, as at the fit: a sum in another order may round otherwise.
        rows = np.ascontiguousarray(X.encoded)
        computed = features(rows)
        encoded = np.ascontiguousarray(computed if self.only else np.hstack([rows, computed]))
        foreign_frame = is_frame(X.source) and not self.native and not self.only
        return Rows(encoded, append_columns(X.source, computed) if foreign_frame else encoded)

    def labels(self, X: Rows, threads: int) -> NDArray[np.int32]:
        """(T, n) class codes."""
        return np.concatenate(list(self._each(X, threads, lambda member, rows: member.labels(rows, 1))))

    def values(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(T, n) predicted values."""
        return np.concatenate(list(self._each(X, threads, lambda member, rows: member.values(rows, 1))))

    def shares(self, t: int, X: Rows) -> NDArray[np.float64]:
        """(n, K) class shares of one member."""
        return self.inner.shares(t, self._widened(X, self.features[t]))

    def of_output(self, output: int) -> ExtendedMembers:
        """The same members, which answer for one of several targets."""
        return ExtendedMembers(self.inner.of_output(output), self.features, self.only)

    def reserve(self, factor: float) -> None:
        """Make room for so many times as many members."""
        self.inner.reserve(factor)

    def join(self, other: Any) -> None:
        """Take in the members of another object."""
        self.inner.join(other.inner)
        self.features += other.features

    def take(self, members: NDArray[Any]) -> ExtendedMembers:
        """Some of the members."""
        return ExtendedMembers(self.inner.take(members), [self.features[t] for t in members], self.only)

    def estimators(self, like: Any) -> list[Any]:
        """The members as estimators that take the user's X."""
        models = [ExtendedEstimator(self.take(np.array([t]))) for t in range(len(self))]
        for model in models:
            take_over(model, like)
        return models


class ExtendedEstimator(BaseEstimator):
    """One fitted member with its map, made on demand; `predict` and `predict_proba` take X as the ensemble does."""

    classes_: NDArray[Any]

    def __init__(self, member: ExtendedMembers) -> None:
        self.member = member

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the member's labels or values."""
        rows = self._read(X)
        if not hasattr(self, "classes_"):
            return self.member.values(rows, 1)[0]
        return self.classes_[self.member.labels(rows, 1)[0]]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the member's class shares."""
        return self.member.shares(0, self._read(X))

    def _read(self, X: Any) -> Rows:
        encoded = read_rows(self, X, self._columns)
        return Rows(encoded, X if is_frame(X) else encoded)


__all__ = ["ExtendedEstimator", "ExtendedMembers"]
