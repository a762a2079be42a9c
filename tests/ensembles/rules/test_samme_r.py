"""The truth is Zhu et al. (2009), algorithm 4, in plain numpy; shares below 0.01 count as 0.01."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from conjunto import AdaBoostClassifier

from .oracles import ClassTree, History, make_data

ROUNDS = 60
# Whole steps leave some rows next to no weight, so that cuts on either side of them are as good as tied; hence a floor.
STEPS = [(1.0, 1e-5), (0.3, 0.0)]


def samme_r(data, rate=1.0, floor=0.0, grow=None):
    X, y, weights, fresh, K = data
    w = weights / weights.sum()
    coded = np.where(y[:, None] == np.arange(K), 1.0, -1 / (K - 1))
    history = History(data)
    for _ in range(ROUNDS):
        T = ClassTree(X, y, w, K) if grow is None else grow(X, y, w)
        p, p_fresh = (np.maximum(T.predict_proba(rows), 0.01) for rows in (X, fresh))
        error = w[T.predict_proba(X).argmax(axis=1) != y].sum()
        logs = np.log(p_fresh)
        history.add(error, rate, rate * (K - 1) * (logs - logs.sum(axis=1, keepdims=True) / K))
        w = w * np.exp(-rate * (K - 1) / K * (coded * np.log(p)).sum(axis=1))
        w = np.maximum(w / w.sum(), floor)
        w /= w.sum()
    return history


def fit(data, estimator=None, **options):
    model = AdaBoostClassifier(estimator, n_estimators=ROUNDS, algorithm="samme.r", **options)
    return model.fit(data.X, data.y, data.weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("rate", "floor"), STEPS)
def test_algorithm_4(seed, n_classes, rate, floor):
    data = make_data(seed, n_classes)
    model, truth = fit(data, learning_rate=rate, weight_floor=floor), samme_r(data, rate, floor)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


def test_another_learner_gives_its_own_probabilities():
    """Small steps: with whole ones this smooth learner makes much of rounding errors."""
    data = make_data(0, 3)
    truth = samme_r(data, 0.1, grow=lambda X, y, w: GaussianNB().fit(X, y, w))
    model = fit(data, GaussianNB(), learning_rate=0.1)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


def test_two_classes_are_real_adaboost():
    """Friedman, Hastie and Tibshirani (2000), algorithm 2: f = 1/2 log(p / (1 - p)), w *= exp(-y f)."""
    data = make_data(1, 2)
    side, w, F = 2 * data.y - 1, data.weights / data.weights.sum(), np.zeros(len(data.fresh))
    for _ in range(ROUNDS):
        T = ClassTree(data.X, data.y, w, 2)

        def f(rows, T=T):
            p = np.maximum(T.predict_proba(rows), 0.01)
            return 0.5 * np.log(p[:, 1] / p[:, 0])

        w, F = w * np.exp(-side * f(data.X)), F + f(data.fresh)
        w /= w.sum()
    model = fit(data)
    np.testing.assert_array_equal(model.predict(data.fresh), F > 0)
    np.testing.assert_allclose(model.decision_function(data.fresh), 2 * F / ROUNDS, atol=1e-10)


def test_probabilities_are_the_softmax_of_the_mean_score():
    data = make_data(0, 3)
    mean = samme_r(data, 0.3).scores / (0.3 * ROUNDS)
    probabilities = fit(data, learning_rate=0.3).predict_proba(data.fresh)
    np.testing.assert_allclose(probabilities, softmax(mean / 2, axis=1), atol=1e-10)


def test_a_share_of_zero_is_no_proof():
    """Leaves of 9 : 1 and 0 : 10: the log-odds of the pure one are log(1 / 0.01), not infinite."""
    X, y = np.r_[np.zeros(10), np.ones(10)][:, None], np.r_[np.zeros(9, dtype=int), np.ones(11, dtype=int)]
    model = AdaBoostClassifier(n_estimators=1, algorithm="samme.r").fit(X, y)
    np.testing.assert_allclose(model.decision_function([[0], [1]]), [-np.log(9), np.log(100)])


def test_needs_probabilities():
    data = make_data(0, 2)
    with pytest.raises(TypeError, match="predict_proba"):
        fit(data, Perceptron())
