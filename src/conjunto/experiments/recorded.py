"""What models said, in the place of the models: so that whatever combines fitted models works on a store.

A row of X is the number of a record: one test row of one partition, with the answers of every method about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from conjunto.experiments.answers import Answers, HeldOut
from conjunto.experiments.splits.protocols import Protocol


class _Recorded(BaseEstimator):
    """Answers by the number of the record."""

    def __init__(self, predicted: Any = None) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> Self:
        """There is nothing to fit: the answers are known."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[Any]:
        """What the model said in these records."""
        return np.asarray(self.predicted[_numbers(X)])


class RecordedRegressor(RegressorMixin, _Recorded):
    """A regressor that says what it once said."""


class RecordedClassifier(ClassifierMixin, _Recorded):
    """A classifier that says what it once said; one without probabilities was sure of it."""

    def __init__(self, predicted: Any = None, proba: Any = None) -> None:
        super().__init__(predicted)
        self.proba = proba

    @property
    def classes_(self) -> NDArray[np.intp]:
        """The class codes."""
        return np.arange(self.proba.shape[1])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How sure the model was in these records."""
        return np.asarray(self.proba[_numbers(X)], dtype=np.float64)


def _numbers(X: Any) -> NDArray[np.intp]:
    return np.asarray(X)[:, 0].astype(np.intp)


@dataclass(frozen=True, eq=False)
class Records:
    """The records of one data set: every test row of every partition."""

    models: list[tuple[str, Any]]
    """The methods and what they said."""
    partition: NDArray[np.intp]
    rows: NDArray[np.intp]
    """The row of the table that each record is about; all different where rows were drawn afresh."""
    y: NDArray[Any]
    tested: dict[int, HeldOut]

    @staticmethod
    def of(tested: dict[int, HeldOut], answers: dict[str, dict[int, Answers]]) -> Records:
        """Put together what methods said, each about all partitions."""
        partitions = sorted(tested)
        sizes = [len(tested[number].truth) for number in partitions]
        rows = [tested[number].rows for number in partitions]
        places = np.concatenate(rows) if all(len(part) for part in rows) else np.arange(sum(sizes))
        n_classes = tested[partitions[0]].n_classes
        models: list[tuple[str, Any]] = []
        for method, said in answers.items():
            predicted = np.concatenate([said[number].predicted for number in partitions])
            if not n_classes:
                models.append((method, RecordedRegressor(predicted)))
                continue
            shares = [_shares(said[number], n_classes) for number in partitions]
            models.append((method, RecordedClassifier(predicted, np.concatenate(shares))))
        truth = np.concatenate([tested[number].truth for number in partitions])
        return Records(models, np.repeat(partitions, sizes), places, truth, tested)

    def of_partition(self, number: int) -> NDArray[np.intp]:
        """The records of a partition, in the order of its test rows."""
        return np.flatnonzero(self.partition == number)

    def to_learn_for(self, number: int, protocol: Protocol, most: int) -> NDArray[np.intp]:
        """The records to learn from for a partition: of other partitions, and none about its own test rows.

        In k-fold cross-validation those of the same repetition, so that every row counts once; in forward chaining
        those of earlier blocks. Of more than `most` an even selection.
        """
        others = self.partition != number
        if protocol.kind == "k-fold":
            others &= self.partition // protocol.folds == number // protocol.folds
        elif protocol.kind == "forward":
            others &= self.partition < number
        else:
            others &= ~np.isin(self.rows, self.rows[self.partition == number])
        found = np.flatnonzero(others)
        return found if len(found) <= most else found[np.linspace(0, len(found) - 1, most).astype(np.intp)]


def _shares(answers: Answers, n_classes: int) -> NDArray[np.float32]:
    return np.eye(n_classes, dtype=np.float32)[answers.predicted] if answers.proba is None else answers.proba
