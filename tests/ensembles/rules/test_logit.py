"""The truth is Friedman, Hastie and Tibshirani (2000), algorithms 3 and 6, in plain numpy; responses within ±4."""

import numpy as np
import pytest
from scipy.special import softmax

from conjunto import AdaBoostClassifier

from .oracles import History, ValueTree, make_data

ROUNDS = 60
# Whole steps leave some rows next to no weight, so that cuts on either side of them are as good as tied; hence a floor.
STEPS = [(1.0, 1e-5), (0.3, 0.0)]


def respond(target, p):
    """Working response and weight."""
    variance = np.maximum(p * (1 - p), 2 * np.finfo(float).eps)
    return np.clip((target - p) / variance, -4, 4), variance


def two_classes(data, rate):
    """Algorithm 3, from (25)."""
    X, y, weights, fresh, _ = data
    F, history = np.zeros(len(y)), History(data)
    for _ in range(ROUNDS):
        p = np.exp(F) / (np.exp(F) + np.exp(-F))
        z, w = respond(y, p)
        w = w * weights / (w * weights).sum()
        tree = ValueTree(X, z, w)
        error = w[(2 * y - 1) * tree.predict(X) <= 0].sum()
        step = rate * 0.5 * tree.predict(fresh)
        history.add(error, rate, np.stack([-step, step], axis=1))
        F += rate * 0.5 * tree.predict(X)
    return history


def many_classes(data, rate, floor):
    """Algorithm 6."""
    X, y, weights, fresh, J = data
    target = (y[:, None] == np.arange(J)).astype(float)
    F, history = np.zeros((len(y), J)), History(data)
    for _ in range(ROUNDS):
        p = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
        z, w = respond(target, p)
        w = w * weights[:, None]
        w = np.maximum(w / w.sum(), floor)
        w /= w.sum()
        trees = [ValueTree(X, z[:, j], w[:, j]) for j in range(J)]
        f, told = (np.stack([tree.predict(rows) for tree in trees], axis=1) for rows in (X, fresh))
        error = w[(2 * target - 1) * f <= 0].sum()
        history.add(error, rate, rate * (J - 1) / J * (told - told.mean(axis=1, keepdims=True)))
        F += rate * (J - 1) / J * (f - f.mean(axis=1, keepdims=True))
    return history


def fit(data, rate, floor=0.0):
    model = AdaBoostClassifier(n_estimators=ROUNDS, algorithm="logit", learning_rate=rate, weight_floor=floor)
    return model.fit(data.X, data.y, data.weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_algorithm_3(seed, rate):
    data = make_data(seed, 2)
    model, truth = fit(data, rate), two_classes(data, rate)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, np.ones(ROUNDS))
    np.testing.assert_allclose(model.predict_proba(data.fresh), softmax(truth.scores, axis=1), atol=1e-10)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize(("rate", "floor"), STEPS)
def test_algorithm_6(seed, n_classes, rate, floor):
    """Only differences between classes have a meaning, so scores are compared less their mean."""
    data = make_data(seed, n_classes)
    model, truth = fit(data, rate, floor), many_classes(data, rate, floor)
    truth.matches(model, data.fresh)
    for decision, scores in zip(model.staged_decision_function(data.fresh), truth.staged, strict=True):
        np.testing.assert_allclose(decision - decision.mean(axis=1, keepdims=True), scores, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(data.fresh), softmax(truth.scores, axis=1), atol=1e-10)


def test_a_perfect_fit_goes_on():
    X, y = np.arange(10.0)[:, None], np.arange(10) // 5
    model = AdaBoostClassifier(n_estimators=300, algorithm="logit").fit(X, y)
    assert len(model) == 300
    np.testing.assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.decision_function(X)).all()
