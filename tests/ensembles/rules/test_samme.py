"""The truth is Zhu et al. (2009), algorithm 2, in plain numpy, and scikit-learn."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.ensemble import AdaBoostClassifier as Reference
from sklearn.tree import DecisionTreeClassifier

from conjunto import AdaBoostClassifier

from .oracles import ClassTree, History, indicators, make_data

ROUNDS = 60


def samme(data, rate=1.0):
    X, y, weights, fresh, K = data
    w = weights / weights.sum()
    history = History(data)
    for _ in range(ROUNDS):
        T = ClassTree(X, y, w, K)
        wrong = T.predict(X) != y
        error = w[wrong].sum() / w.sum()
        if error >= 1 - 1 / K:
            break
        alpha = rate * (np.log((1 - error) / error) + np.log(K - 1))
        history.add(error, alpha, alpha * indicators(T.predict(fresh), K))
        w = w * np.exp(alpha * wrong)
        w /= w.sum()
    return history


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_algorithm_2(seed, n_classes, rate):
    data = make_data(seed, n_classes)
    model = AdaBoostClassifier(n_estimators=ROUNDS, algorithm="samme", learning_rate=rate)
    truth = samme(data, rate)
    truth.matches(model.fit(data.X, data.y, data.weights), data.fresh)


def test_probabilities_are_the_softmax_of_the_coded_votes():
    data = make_data(0, 3)
    truth = samme(data)
    model = AdaBoostClassifier(n_estimators=ROUNDS).fit(data.X, data.y, data.weights)
    # Zhu et al., (2): a vote is coded as 1 for its class and -1 / (K - 1) for the others.
    share = truth.scores / sum(truth.votes)
    decision = share - (1 - share) / 2
    np.testing.assert_allclose(model.decision_function(data.fresh), decision, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(data.fresh), softmax(decision / 2, axis=1), atol=1e-10)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"rate": 0.3}])
def test_scikit_learn(seed, n_classes, options):
    """Multiples of 1/1024 are exact in single precision, which is what scikit-learn's trees see."""
    data = make_data(seed, n_classes, n=400)
    X, fresh = np.round(data.X * 1024) / 1024, np.round(data.fresh * 1024) / 1024
    # Continuous weights rule out ties; without them a tie of the first rounds is unlikely among 400 rows.
    weights = data.weights if options.get("weighted") else None
    common = {"n_estimators": 200, "learning_rate": options.get("rate", 1.0)}
    reference = Reference(DecisionTreeClassifier(max_depth=1), random_state=0, **common).fit(X, data.y, weights)
    model = AdaBoostClassifier(algorithm="samme", **common).fit(X, data.y, weights)
    assert len(model) == 200
    np.testing.assert_allclose(model.estimator_errors_, reference.estimator_errors_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, reference.estimator_weights_, rtol=0, atol=1e-10)
    for said, truth in zip(model.staged_predict(fresh), reference.staged_predict(fresh), strict=True):
        np.testing.assert_array_equal(said, truth)
    for name in ("staged_decision_function", "staged_predict_proba"):
        for said, truth in zip(getattr(model, name)(fresh), getattr(reference, name)(fresh), strict=True):
            np.testing.assert_allclose(said, truth, rtol=0, atol=1e-10)
    for name in ("decision_function", "predict_proba", "predict_log_proba"):
        np.testing.assert_allclose(getattr(model, name)(fresh), getattr(reference, name)(fresh), rtol=0, atol=1e-10)
