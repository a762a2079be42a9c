"""What the rules are compared with: trees that try every column and every midpoint, and data for them.

First weights are continuous and random, and so are the columns, of which no two can part the rows in the same way: no
two cuts score alike and no two classes weigh alike in a leaf. Which of several equally good cuts is taken is nobody's
theorem, so ties have no place here.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from conjunto import CARTClassifier


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    fresh: np.ndarray
    n_classes: int


def make_data(seed, n_classes, n=90, m=4, noise=0.1):
    """Classes by slices of a direction, some of them wrong."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, m))
    while _share_a_cut(X):
        X = random.normal(size=(n, m))
    fresh = random.normal(size=(300, m))
    direction = X @ np.linspace(1.0, 0.4, m)
    y = np.searchsorted(np.quantile(direction, np.arange(1, n_classes) / n_classes), direction)
    y = np.where(random.random(n) < noise, random.integers(0, n_classes, n), y)
    return Data(X, y, random.uniform(0.5, 1.5, n), fresh, n_classes)


def _share_a_cut(X):
    """Whether two columns can part the rows in the same way, as where one row is the outermost of both."""
    parts = set()
    for order in X.argsort(axis=0).T:
        parts |= {frozenset(side) for k in range(1, len(X)) for side in (order[:k].tolist(), order[k:].tolist())}
    return len(parts) < 2 * (len(X) - 1) * X.shape[1]


class Tree:
    """A tree of least weighted squared error, grown by trying everything; of indicators of classes: of least Gini."""

    def __init__(self, X, Z, weights, depth=1, min_leaf=1):
        self.cut = self._best_cut(X, Z, weights, min_leaf) if depth else None
        if self.cut is not None:
            left = self._goes_left(X)
            self.sides = [Tree(X[side], Z[side], weights[side], depth - 1, min_leaf) for side in (left, ~left)]

    @staticmethod
    def _best_cut(X, Z, weights, min_leaf):
        best, chosen = _explained(Z, weights, np.ones((1, len(X)), dtype=bool))[0] * (1 + 1e-12), None
        for column, values in enumerate(X.T):
            midpoints = np.array([(a + b) / 2 for a, b in pairwise(np.unique(values))])
            left = values <= midpoints[:, None]
            allowed = np.minimum(left.sum(axis=1), (~left).sum(axis=1)) >= min_leaf
            if not allowed.any():
                continue
            midpoints, left = midpoints[allowed], left[allowed]
            scores = _explained(Z, weights, left) + _explained(Z, weights, ~left)
            if scores.max() > best:
                best, chosen = scores.max(), (column, midpoints[scores.argmax()])
        return chosen

    def _goes_left(self, X):
        column, midpoint = self.cut
        return X[:, column] <= midpoint

    def leaves(self, X):
        """The leaf of each row: leaves are numbered by their path."""
        if self.cut is None:
            return np.zeros(len(X), dtype=int)
        left, right = (2 * side.leaves(X) + bit for bit, side in enumerate(self.sides))
        return np.where(self._goes_left(X), left, right)


def _explained(Z, weights, groups):
    """For each group of rows, sum over targets of (sum w z)² / sum w: what its means explain."""
    return ((groups @ (weights[:, None] * Z)) ** 2).sum(axis=1) / (groups @ weights)


def indicators(y, n_classes):
    return (y[:, None] == np.arange(n_classes)).astype(float)


def leaf_sums(leaves, table):
    """(leaves, q): column sums of a table by leaf."""
    sums = np.zeros((leaves.max() + 1, table.shape[1]))
    np.add.at(sums, leaves, table)
    return sums


class ClassTree:
    """A Gini tree with the class weights of its leaves."""

    def __init__(self, X, y, weights, n_classes, depth=1, min_leaf=1):
        Z = indicators(y, n_classes)
        self._tree = Tree(X, Z, weights, depth, min_leaf)
        self.leaves = self._tree.leaves
        self._sums = leaf_sums(self.leaves(X), weights[:, None] * Z)

    def predict(self, X):
        return self._sums[self.leaves(X)].argmax(axis=1)

    def predict_proba(self, X):
        sums = self._sums[self.leaves(X)]
        return sums / sums.sum(axis=1, keepdims=True)


class ValueTree:
    """A least-squares tree with the weighted means of its leaves."""

    def __init__(self, X, z, weights):
        self._tree = Tree(X, z[:, None], weights)
        sums = leaf_sums(self._tree.leaves(X), np.stack([weights * z, weights], axis=1))
        self._values = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)

    def predict(self, X):
        return self._values[self._tree.leaves(X)]


# The largest tree that the oracles grow: leaves large enough that no two columns part the classes perfectly.
SMALL_TREE = {"max_depth": 3, "min_samples_leaf": 10}


def small_tree():
    return CARTClassifier(**SMALL_TREE)


class History:
    """What a run of boosting leaves behind."""

    def __init__(self, data):
        self.errors, self.votes, self.staged = [], [], []
        self.scores = np.zeros((len(data.fresh), data.n_classes))

    def add(self, error, vote, gain):
        self.errors.append(error)
        self.votes.append(vote)
        self.scores = self.scores + gain
        self.staged.append(self.scores)

    def matches(self, model, fresh, rounds=50):
        """Assert that a fitted model went the same way, over at least so many rounds."""
        assert len(self.errors) >= rounds
        assert len(model) == len(self.errors)
        np.testing.assert_allclose(model.estimator_errors_, self.errors, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.estimator_weights_, self.votes, rtol=0, atol=1e-10)
        for said, scores in zip(model.staged_predict(fresh), self.staged, strict=True):
            np.testing.assert_array_equal(said, scores.argmax(axis=1))
        np.testing.assert_array_equal(model.predict(fresh), self.scores.argmax(axis=1))

    def shows(self, model, fresh, scale):
        """Assert that the decision function is the scores times a factor per round; two classes: their difference."""
        shown = list(model.staged_decision_function(fresh))
        for decision, scores, factor in zip(shown, self.staged, scale, strict=True):
            expected = factor * (scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)
            np.testing.assert_allclose(decision, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.decision_function(fresh), shown[-1], rtol=0, atol=1e-10)
