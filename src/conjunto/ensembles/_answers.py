"""What a fitted ensemble answers: classes by the largest vote, or values. Mixins before `Ensemble`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from conjunto.combination import FINISHES, Count, prefixes
from conjunto.outputs import by_output, decided, logarithm, several
from conjunto.problem import Rows
from conjunto.ties import leaders

Array = NDArray[Any]


class ClassAnswers(ClassifierMixin):
    """An ensemble that decides between classes."""

    task = "classification"
    classes_: Any
    _voting: Any
    _threads: Any
    read: Any

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest vote, of several targets (n, targets); ties go to the lowest class."""
        sums = self._sums(X)
        return decided(sums, self.classes_) if several(self.classes_) else self.classes_[leaders(sums)]

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities: what the method makes of the votes, by default the share of each class.

        (n, K); of several targets a list of such arrays.
        """
        sums = self._sums(X)
        if several(self.classes_):
            return [self._finished(part) for part in by_output(sums, self.classes_)]
        return self._finished(sums)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`."""
        return logarithm(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction of the first 1, 2, …, T members, in boosting rounds."""
        if not several(self.classes_):
            for count in self._stages(X):
                yield self.classes_[count.winners()]
            return
        rows: Rows = self.read(X)
        stages = [self._stages_of(panel, rows) for panel in self._voting().by_output()]
        for counts in zip(*stages, strict=True):
            answers = [of[count.winners()] for of, count in zip(self.classes_, counts, strict=True)]
            yield np.stack(answers, axis=1)

    def _sums(self, X: Any) -> NDArray[np.float64]:
        """(n, K): summed votes or scores."""
        rows: Rows = self.read(X)
        sums: NDArray[np.float64] = self._voting().sums(rows, self._threads())
        return sums

    def _stages(self, X: Any) -> Iterator[Count]:
        """The count of every prefix; its arrays are updated in place."""
        rows: Rows = self.read(X)
        return self._stages_of(self._voting(), rows)

    def _stages_of(self, panel: Any, rows: Rows) -> Iterator[Count]:
        threads = self._threads()
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
        """Return the mean of the members' predictions, of several targets (n, targets); in boosting their median."""
        rows: Rows = self.read(X)
        values: NDArray[np.float64] = self._voting().sums(rows, self._threads())
        return values

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the prediction of the first 1, 2, …, T members."""
        votes = self.votes(X)
        if not isinstance(votes, list):
            for count in prefixes(votes):
                yield count.answers()
            return
        for counts in zip(*map(prefixes, votes), strict=True):
            yield np.stack([count.answers() for count in counts], axis=1)
