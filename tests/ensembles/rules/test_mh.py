"""The truth is Schapire and Singer (1999), section 6, in plain numpy: D(i, l), one Gini stump per class and round."""

import numpy as np
import pytest
from scipy.special import expit

from conjunto import AdaBoostClassifier

from .oracles import ClassTree, History, make_data

ROUNDS = 55


def mh(data, rate=1.0):
    X, y, weights, fresh, K = data
    Y = np.where(y[:, None] == np.arange(K), 1, -1)
    D = np.repeat(weights[:, None], K, axis=1) / (weights.sum() * K)
    history = History(data)
    for _ in range(ROUNDS):
        trees = [ClassTree(X, (Y[:, k] > 0).astype(int), D[:, k], 2) for k in range(K)]
        said, told = (np.stack([2 * tree.predict(rows) - 1 for tree in trees], axis=1) for rows in (X, fresh))
        error = D[said != Y].sum()
        if error >= 0.5:
            break
        alpha = rate * 0.5 * np.log((1 - error) / error)
        history.add(error, alpha, alpha * told)
        D = D * np.exp(-alpha * Y * said)
        D /= D.sum()
    return history


def fit(data, rate=1.0, algorithm="mh"):
    model = AdaBoostClassifier(n_estimators=ROUNDS, algorithm=algorithm, learning_rate=rate)
    return model.fit(data.X, data.y, data.weights)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_weights_on_pairs(seed, n_classes, rate):
    """With two classes the paper's two columns mirror each other: one tree says both."""
    data = make_data(seed, n_classes)
    model, truth = fit(data, rate), mh(data, rate)
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


def test_two_classes_are_m1_with_half_of_the_votes():
    data = make_data(2, 2)
    model, m1 = fit(data), fit(data, algorithm="m1")
    np.testing.assert_allclose(model.estimator_errors_, m1.estimator_errors_, atol=1e-10)
    np.testing.assert_allclose(2 * model.estimator_weights_, m1.estimator_weights_, atol=1e-10)
    np.testing.assert_allclose(model.bound_, m1.bound_, rtol=1e-8)
    np.testing.assert_array_equal(model.predict(data.fresh), m1.predict(data.fresh))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_bound_is_half_of_the_classes_times_the_normalisers(n_classes):
    """A wrong decision has at least 2 wrong pairs of its K or pairs that sum to as much: error <= K/2 prod Z."""
    model = fit(make_data(0, n_classes))
    e = model.estimator_errors_
    np.testing.assert_allclose(model.bound_, n_classes / 2 * np.cumprod(2 * np.sqrt(e * (1 - e))), rtol=1e-9)


def test_one_tree_per_class():
    data = make_data(0, 4)
    model = fit(data)
    assert model.estimators_.shape == (ROUNDS, 4)
    said = np.stack([member.predict(data.fresh) for member in model.estimators_[-1]], axis=1)
    np.testing.assert_array_equal(np.unique(said), [0, 1])
    np.testing.assert_array_equal(model.votes(data.fresh).scores[-1], 2 * said - 1)


def test_probabilities_are_odds_of_the_classes():
    data = make_data(0, 3)
    odds = expit(2 * mh(data).scores)
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit(data).predict_proba(data.fresh), expected, atol=1e-10)
