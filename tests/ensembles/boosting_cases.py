"""What tests of boosting share: problems, and learners that remember or contradict."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from conjunto import CARTClassifier

BOUNDED = ("m1", "samme", "m2", "mh")
ALGORITHMS = ("m1", "samme", "samme.r", "m2", "mh", "gentle", "logit")


def problem(n_classes, n=150, seed=0):
    """Classes by slices of a direction, a tenth of them wrong; weights that rule out ties between cuts."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    direction = X.sum(axis=1)
    y = np.searchsorted(np.quantile(direction, np.arange(1, n_classes) / n_classes), direction)
    y = np.where(random.random(n) < 0.1, random.integers(0, n_classes, n), y)
    return X, y, random.uniform(0.5, 1.5, n)


def for_all(algorithm, n_classes=3, depth=1):
    """A base learner that is good enough."""
    return CARTClassifier(max_depth=3 if algorithm == "m1" and n_classes > 2 else depth)


class Contrary(ClassifierMixin, BaseEstimator):
    """A stump that says the opposite: always, or where its random state is odd."""

    def __init__(self, always=True, random_state=None):
        self.always = always
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.stump_ = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y, sample_weight)
        self.classes_ = self.stump_.classes_
        self.contrary_ = self.always or self.random_state % 2 == 1
        return self

    def predict(self, X):
        said = self.stump_.predict(X)
        return self.classes_[1 - np.searchsorted(self.classes_, said)] if self.contrary_ else said


class WitnessTree(DecisionTreeClassifier):
    """Remembers the rows that have a weight, by their first value."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X[:, 0] if sample_weight is None else X[sample_weight > 0, 0]
        return super().fit(X, y, sample_weight)


class WitnessNeighbours(KNeighborsClassifier):
    """Takes no weights; remembers its rows."""

    def fit(self, X, y):
        self.seen_ = X[:, 0].copy()
        return super().fit(X, y)


def same_model(a, b, X):
    for name in ("estimator_weights_", "estimator_errors_", "bound_"):
        assert hasattr(a, name) == hasattr(b, name)
        if hasattr(a, name):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
