"""Level-1 models of stacking that are known by name: linear regressions, free, non-negative or ridge."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from conjunto.checks import check_choice
from conjunto.outputs import logarithm
from conjunto.ties import leaders

# Strengths of the ridge that its own cross-validation chooses from.
RIDGES = tuple(np.logspace(-3, 3, 13))


def linear_model(kind: str) -> Any:
    """A linear regression without intercept: the members are estimates of the target already (Breiman 1996)."""
    check_choice("final_estimator", kind, NAMES)
    if kind == "ridge":
        return RidgeCV(alphas=RIDGES, fit_intercept=False)
    return LinearRegression(positive=kind == "non-negative", fit_intercept=False)


NAMES = ("linear", "non-negative", "ridge")


class MultiResponseClassifier(ClassifierMixin, BaseEstimator):
    """Multi-response linear regression: one regression of 0/1 for every class, and the largest answer decides.

    Parameters
    ----------
    kind : {"linear", "non-negative", "ridge"}, default="linear"
        Least squares, with coefficients that are not negative, or with a ridge chosen by cross-validation.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    regressions_ : list
        The regression of each class.

    References
    ----------
    Ting, Witten (1999). Issues in stacked generalization. Journal of Artificial Intelligence Research 10, 271-289.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto.combiners.level_one import MultiResponseClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> MultiResponseClassifier().fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(self, kind: str = "linear") -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one regression for every class."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self.regressions_ = [
            linear_model(self.kind).fit(X, (y == label).astype(np.float64), sample_weight) for label in self.classes_
        ]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class whose regression says most."""
        said = self._said(X)
        return self.classes_[leaders(said)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return what the regressions say, cut at 0, in shares; where none is above 0, all for the largest."""
        said = self._said(X)
        shares = np.maximum(said, 0.0)
        none = ~shares.any(axis=1)
        shares[none, leaders(said[none])] = 1.0
        return shares / shares.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return logarithm(self.predict_proba(X))

    def _said(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.stack([regression.predict(X) for regression in self.regressions_], axis=1)


def level_one_model(given: Any, task: str) -> Any:
    """The level-1 model for a task: as given, by its name, or scikit-learn's default."""
    if given is None:
        return LogisticRegression() if task == "classification" else RidgeCV()
    if isinstance(given, str):
        check_choice("final_estimator", given, NAMES)
        return MultiResponseClassifier(given) if task == "classification" else linear_model(given)
    return given
