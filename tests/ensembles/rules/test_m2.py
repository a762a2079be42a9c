"""The truth is Freund and Schapire (1997), figure 3, in plain numpy."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from conjunto import AdaBoostClassifier

from .oracles import ClassTree, History, leaf_sums, make_data

ROUNDS = 60


class SetTree:
    """A Gini stump whose leaves answer with the set of classes of least pseudo-loss, found by trying every set."""

    def __init__(self, X, y, W):
        K = W.shape[1]
        tree = ClassTree(X, y, W.sum(axis=1), K)
        self._leaves = tree.leaves
        rows = np.arange(len(y))
        # Of each leaf, the weight by true class and wrong class: what a set with one and not the other wins or loses.
        pairs = np.zeros((len(y), K, K))
        pairs[rows, y] = W
        sums = leaf_sums(tree.leaves(X), pairs.reshape(len(y), -1)).reshape(-1, K, K)
        sets = np.array([[bool(number >> k & 1) for k in range(K)] for number in range(2**K)], dtype=float)
        gaps = sets[:, :, None] - sets[:, None, :]
        losses = 0.5 * (sums[:, None] * (1 - gaps)).sum(axis=(2, 3))
        self._sets = sets[losses.argmin(axis=1)]

    def predict_proba(self, X):
        return self._sets[self._leaves(X)]


def m2(data, rate=1.0, grow=SetTree):
    X, y, weights, fresh, K = data
    n, rows = len(y), np.arange(len(y))
    W = np.repeat(weights[:, None] / weights.sum() / (K - 1), K, axis=1)
    W[rows, y] = 0
    history = History(data)
    for _ in range(ROUNDS):
        h = grow(X, y, W)
        said = h.predict_proba(X)
        loss = 0.0
        for i in range(n):
            for k in range(K):
                loss += 0.5 * W[i, k] * (1 - said[i, y[i]] + said[i, k])
        if loss >= 0.5:
            break
        beta = (loss / (1 - loss)) ** rate
        history.add(loss, np.log(1 / beta), np.log(1 / beta) * h.predict_proba(fresh))
        W = W * beta ** (0.5 * (1 + said[rows, y][:, None] - said))
        W /= W.sum()
    return history


def fit(data, estimator=None, algorithm="m2", **options):
    model = AdaBoostClassifier(estimator, n_estimators=ROUNDS, algorithm=algorithm, **options)
    return model.fit(data.X, data.y, data.weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_figure_3_with_sets_of_classes(seed, n_classes, rate):
    data = make_data(seed, n_classes)
    model, truth = fit(data, learning_rate=rate), m2(data, rate)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_figure_3_with_the_probabilities_of_another_learner(n_classes):
    data = make_data(0, n_classes)
    truth = m2(data, grow=lambda X, y, W: GaussianNB().fit(X, y, W.sum(axis=1)))
    model = fit(data, GaussianNB())
    assert len(truth.errors) > 5
    truth.matches(model, data.fresh, rounds=5)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


def test_two_classes_are_m1():
    data = make_data(2, 2)
    model, m1 = fit(data), fit(data, algorithm="m1")
    np.testing.assert_allclose(model.estimator_errors_, m1.estimator_errors_, atol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, m1.estimator_weights_, atol=1e-10)
    np.testing.assert_allclose(model.bound_, m1.bound_, rtol=1e-8)
    np.testing.assert_array_equal(model.predict(data.fresh), m1.predict(data.fresh))


@pytest.mark.parametrize("seed", range(3))
def test_bound_is_at_most_that_of_theorem_11(seed):
    """(K - 1) prod 2 sqrt(e (1 - e)); ours keeps the normalisers themselves, which are never larger."""
    data = make_data(seed, 4)
    model = fit(data)
    e = model.estimator_errors_
    theorem = 3 * np.cumprod(2 * np.sqrt(e * (1 - e)))
    assert (model.bound_ <= theorem * (1 + 1e-9)).all()
    assert model.bound_[-1] < model.bound_[0] < 3


def test_probabilities_are_mean_plausibilities():
    data = make_data(0, 3)
    scores = m2(data).scores
    expected = scores / scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit(data).predict_proba(data.fresh), expected, atol=1e-10)
