"""The truth is Friedman, Hastie and Tibshirani (2000), algorithms 4 and 8, in plain numpy."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from conjunto import AdaBoostClassifier, CARTClassifier, CARTRegressor

from .oracles import History, ValueTree, make_data

ROUNDS = 60


def gentle(data, rate=1.0, grow=ValueTree):
    X, y, weights, fresh, K = data
    sides = np.where(y[:, None] == np.arange(K), 1, -1)
    w = np.repeat(weights[:, None], K, axis=1) / (weights.sum() * K)
    history = History(data)
    for _ in range(ROUNDS):
        members = [grow(X, sides[:, k].astype(float), w[:, k]) for k in range(K)]
        f, told = (np.stack([member.predict(rows) for member in members], axis=1) for rows in (X, fresh))
        history.add(w[sides * f <= 0].sum(), rate, rate * told)
        w = w * np.exp(-rate * sides * f)
        w /= w.sum()
    return history


def fit(data, estimator=None, rate=1.0):
    model = AdaBoostClassifier(estimator, n_estimators=ROUNDS, algorithm="gentle", learning_rate=rate)
    return model.fit(data.X, data.y, data.weights)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_least_squares_stumps(seed, n_classes, rate):
    """With two classes the two columns mirror each other: one tree says both."""
    data = make_data(seed, n_classes)
    model, truth = fit(data, rate=rate), gentle(data, rate)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, np.ones(ROUNDS))


def test_another_regressor():
    """Small steps: whole ones are at the optimum after five rounds, where the signs of what is left are noise."""
    data = make_data(0, 3)
    truth = gentle(data, 0.1, lambda X, z, w: LinearRegression().fit(X, z, w))
    model = fit(data, LinearRegression(), rate=0.1)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, np.ones(ROUNDS))


def test_probabilities_are_odds_of_the_classes():
    """F estimates half of the log-odds."""
    data = make_data(0, 3)
    odds = expit(2 * gentle(data).scores)
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit(data).predict_proba(data.fresh), expected, atol=1e-10)


def test_a_classification_tree_is_grown_as_a_regression_tree():
    data = make_data(0, 3)
    trees = (CARTClassifier(max_depth=2, min_samples_leaf=5), CARTRegressor(max_depth=2, min_samples_leaf=5))
    models = [fit(data, tree) for tree in trees]
    np.testing.assert_array_equal(*(model.decision_function(data.fresh) for model in models))


def test_needs_a_regressor():
    with pytest.raises(TypeError, match=r"regressor.*gentle"):
        fit(make_data(0, 2), GaussianNB())
