"""What boosting answers: classes by weighted votes, or the weighted median, at the end and after every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from conjunto.combination import FINISHES
from conjunto.ensembles._answers import ClassAnswers, ValueAnswers

Array = NDArray[Any]


class BoostedClasses(ClassAnswers):
    """Decision functions and stages."""

    n_classes_: int
    estimator_weights_: NDArray[np.float64]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes, (n, K); with two classes those of the second less the first, (n,)."""
        return self._decision(self._sums(X), self.estimator_weights_.sum())

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield `decision_function` after every round."""
        for count, total in zip(self._stages(X), self.estimator_weights_.cumsum(), strict=True):
            yield self._decision(count.counts.copy(), total)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield `predict_proba` after every round."""
        for count, total in zip(self._stages(X), self.estimator_weights_.cumsum(), strict=True):
            yield self._finished(count.counts.copy(), total)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after every round."""
        for answers in self.staged_predict(X):
            yield accuracy_score(y, answers, sample_weight=sample_weight)

    def _decision(self, sums: Array, total: float) -> Array:
        decision = FINISHES[self._voting().how.finish].decision(sums, total)
        return decision[:, 1] - decision[:, 0] if self.n_classes_ == 2 else decision


class BoostedValues(ValueAnswers):
    """Stages of a weighted median."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield R² after every round."""
        for answers in self.staged_predict(X):
            yield r2_score(y, answers, sample_weight=sample_weight)
