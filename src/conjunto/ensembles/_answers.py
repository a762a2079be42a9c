"""What a fitted ensemble answers: classes by the largest vote, or values. Mixins before `Ensemble`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from conjunto.combination import FINISHES, Count, prefixes
from conjunto.problem import Rows
from conjunto.ties import leaders

Array = NDArray[Any]


class ClassAnswers(ClassifierMixin):
    """An ensemble that decides between classes."""

    task = "classification"
    classes_: NDArray[Any]
    _voting: Any
    _threads: Any
    read: Any

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest vote; ties go to the lowest class."""
        codes = leaders(self._sums(X))
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities: what the method makes of the votes, by default the share of each class."""
        return self._finished(self._sums(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction of the first 1, 2, …, T members, in boosting rounds."""
        for count in self._stages(X):
            yield self.classes_[count.winners()]

    def _sums(self, X: Any) -> NDArray[np.float64]:
        """(n, K): summed votes or scores."""
        rows: Rows = self.read(X)
        sums: NDArray[np.float64] = self._voting().sums(rows, self._threads())
        return sums

    def _stages(self, X: Any) -> Iterator[Count]:
        """The count of every prefix; its arrays are updated in place."""
        rows: Rows = self.read(X)
        panel, threads = self._voting(), self._threads()
        adds = panel.how.kind == "scores"
        return prefixes(panel.contributions(rows, None, threads) if adds else panel.votes(rows, threads))

    def _finished(self, sums: Array, total: float | None = None) -> NDArray[np.float64]:
        panel = self._voting()
        return FINISHES[panel.how.finish].probabilities(sums, panel.total() if total is None else total)


class ValueAnswers(RegressorMixin):
    """An ensemble that answers with values."""

    task = "regression"
    _voting: Any
    _threads: Any
    read: Any
    votes: Any

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the members' predictions; in boosting their weighted median."""
        rows: Rows = self.read(X)
        values: NDArray[np.float64] = self._voting().sums(rows, self._threads())
        return values

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the prediction of the first 1, 2, …, T members."""
        for count in prefixes(self.votes(X)):
            yield count.answers()
