"""Decisions by costs against the definition, and what weights in the fit do."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from conjunto import CostSensitiveClassifier, RandomForestClassifier
from conjunto.datasets import make_threenorm, make_waveform


class Saying(ClassifierMixin, BaseEstimator):
    classes_ = np.array(["a", "b", "c"])

    def __init__(self, shares):
        self.shares = shares

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        return self.shares


@given(st.integers(0, 10**6))
def test_the_least_expected_cost(seed):
    random = np.random.default_rng(seed)
    shares, costs = random.dirichlet(np.ones(3), 4), random.integers(-3, 10, (3, 3)).astype(float)
    model = CostSensitiveClassifier(Saying(shares), costs, prefit=True).fit()
    expected = [[sum(row[k] * costs[k, g] for k in range(3)) for g in range(3)] for row in shares]
    np.testing.assert_allclose(model.costs_of_decisions(None), expected)
    chosen = ["abc"[min(range(3), key=lambda g, row=row: (round(row[g], 9), g))] for row in expected]
    assert model.predict(None).tolist() == chosen


def test_costs_pay_and_plain_costs_change_nothing():
    X, y = make_waveform(400, random_state=0)
    X_test, y_test = make_waveform(2000, random_state=1)
    forest = RandomForestClassifier(100, random_state=0)
    costs = np.array([[0, 1, 1], [10, 0, 10], [1, 1, 0]])
    plain = CostSensitiveClassifier(forest).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X_test), plain.estimator_.predict(X_test))
    by_plain = costs[y_test, plain.predict(X_test)].mean()
    for weigh_rows in (False, True):
        model = CostSensitiveClassifier(forest, costs, weigh_rows=weigh_rows).fit(X, y)
        assert model.expected_cost(X_test, y_test) < 0.8 * by_plain
        assert model.expected_cost(X_test, y_test) == pytest.approx(costs[y_test, model.predict(X_test)].mean())


def test_weights_of_rows_are_undone_in_the_probabilities():
    X, y = make_threenorm(2000, random_state=0)
    costs = [[0, 1], [4, 0]]
    weighed = CostSensitiveClassifier(LogisticRegression(C=1e6), costs, weigh_rows=True).fit(X, y)
    np.testing.assert_allclose(weighed.class_weight_, [0.4, 1.6])
    rows = weighed.class_weight_[y]
    np.testing.assert_allclose(
        weighed.estimator_.coef_, LogisticRegression(C=1e6).fit(X, y, rows / rows.mean()).coef_, rtol=1e-4
    )
    plain = CostSensitiveClassifier(LogisticRegression(C=1e6), costs).fit(X, y)
    # Not shifted back they would be off by far more.
    assert abs(weighed.predict_proba(X) - plain.predict_proba(X)).mean() < 0.03
    assert abs(weighed.estimator_.predict_proba(X) - plain.predict_proba(X)).mean() > 0.12


def test_a_table_with_the_names_of_the_classes_is_put_in_their_order():
    shares = np.array([[0.2, 0.3, 0.5]])
    costs = np.array([[0.0, 1, 2], [5, 0, 1], [1, 1, 0]])
    order = [2, 0, 1]
    named = pd.DataFrame(costs[np.ix_(order, order)], index=list("cab"), columns=list("cab"))
    model = CostSensitiveClassifier(Saying(shares), named, prefit=True).fit()
    np.testing.assert_allclose(model.costs_of_decisions(None), shares @ costs)
    with pytest.raises(ValueError, match="costs must be a table of numbers"):
        CostSensitiveClassifier(Saying(shares), {"a": 1}, prefit=True).fit()


def test_messages():
    X, y = make_waveform(60, random_state=0)
    with pytest.raises(ValueError, match=r"costs must have a row and a column for each of the 3 classes 0, 1, 2, \(3"):
        CostSensitiveClassifier(LogisticRegression(), [[0, 1], [1, 0]]).fit(X, y)
    with pytest.raises(ValueError, match="costs must be finite"):
        CostSensitiveClassifier(LogisticRegression(), np.full((3, 3), np.inf)).fit(X, y)
    with pytest.raises(ValueError, match="estimator must give probabilities"):
        CostSensitiveClassifier(LinearSVC()).fit(X, y)
    with pytest.raises(NotFittedError, match="prefit=True, and the estimator is not fitted"):
        CostSensitiveClassifier(LogisticRegression(), prefit=True).fit(X, y)
    with pytest.raises(ValueError, match="with weigh_rows mistakes must cost more than the right decision"):
        CostSensitiveClassifier(LogisticRegression(), -np.ones((3, 3)), weigh_rows=True).fit(X, y)
