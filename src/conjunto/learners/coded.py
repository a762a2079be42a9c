"""`CodedClassifier`: a classifier of another library that knows class codes alone, with the user's labels around it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.multiclass import check_classification_targets


class CodedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that is told class codes 0 .. K - 1 and answers with labels.

    XGBoost takes no other classes, and CatBoost answers with a column of them. Where training has one class only, it is
    always predicted: both libraries refuse to learn that, or answer for two classes.

    Parameters
    ----------
    estimator : classifier
        Fitted, as a clone, on codes.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels in training, in sorted order.
    estimator_ : classifier
        The fitted clone.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier on the codes of y."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        learner = clone(self.estimator) if len(self.classes_) > 1 else DummyClassifier(strategy="prior")
        self.estimator_ = learner.fit(X, codes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,): the label of each row."""
        codes = np.asarray(self.estimator_.predict(X)).ravel().astype(np.intp)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, K): the probabilities of the classes."""
        shares: NDArray[np.float64] = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        return shares
