"""One rule of warm starts for both loops: more members, and nothing else changes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from conjunto import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    RandomForestClassifier,
)
from conjunto.datasets import make_twonorm

X, Y = make_twonorm(80, random_state=0)
MODELS = [
    RandomForestClassifier(5, warm_start=True, random_state=0),
    BaggingClassifier(CARTClassifier(max_depth=2), 5, warm_start=True, random_state=0),
    AdaBoostClassifier(CARTClassifier(max_depth=2), 5, warm_start=True, random_state=0),
]
both = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@both
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"max_depth": 3}, "max_depth"),
        ({"class_weight": "balanced"}, "class_weight"),
        ({"estimator__max_depth": 3}, "estimator__max_depth"),
        ({"estimator": GaussianNB()}, "estimator"),
        ({"learning_rate": 0.5}, "learning_rate"),
        ({"max_samples": 0.5}, "max_samples"),
    ],
    ids=str,
)
def test_parameters_that_decide_what_members_are_cannot_change(model, change, named):
    if not set(change) <= set(model.get_params()):
        pytest.skip("the method has no such parameter")
    fitted = clone(model).fit(X, Y)
    votes = fitted.votes(X).answers
    fitted.set_params(n_estimators=7, **change)
    with pytest.raises(ValueError, match=rf"warm_start goes on as the first fit began, and .*\b{named}\b.* changed"):
        fitted.fit(X, Y)
    np.testing.assert_array_equal(fitted.votes(X).answers, votes)


@both
def test_what_decides_nothing_about_members_may_change(model):
    fitted = clone(model).set_params(n_estimators=4).fit(X, Y)
    free = {"n_jobs": 2, "verbose": 0, "random_state": 99}
    fitted.set_params(n_estimators=9, **free).fit(X, Y)
    whole = clone(model).set_params(n_estimators=9, warm_start=False)
    np.testing.assert_array_equal(fitted.votes(X).answers, whole.fit(X, Y).votes(X).answers)


@both
@pytest.mark.parametrize("what", ["rows", "values", "labels", "weights", "categories"])
def test_other_data_are_refused(model, what):
    def data(changed):
        rows, labels, weights = X.copy(), Y.copy(), np.ones(80)
        if changed == "rows":
            rows, labels, weights = rows[:70], labels[:70], weights[:70]
        if changed == "values":
            rows[3, 1] += 1e-9
        if changed == "labels":
            labels[5] = 1 - labels[5]
        if changed == "weights":
            weights[5] = 2
        frame = pd.DataFrame(rows[:, :3], columns=list("abc"))
        frame["kind"] = np.where(np.arange(len(rows)) % 3 == 0, "x", "z" if changed == "categories" else "y")
        return frame, labels, weights

    fitted = clone(model).set_params(n_estimators=3).fit(*data("nothing"))
    fitted.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="X, y and sample_weight must be those of the first fit"):
        fitted.fit(*data(what))
    assert len(fitted) == 3
    assert len(fitted.fit(*data("nothing"))) == 5


@both
def test_fewer_members_than_there_are(model):
    fitted = clone(model).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_estimators=4 is less than the 5 members that exist \(warm_start\)"):
        fitted.set_params(n_estimators=4).fit(X, Y)


def test_a_fit_that_fails_after_growing_leaves_the_members_as_they_were():
    def fails(truth, said):
        raise RuntimeError("no measure")

    fitted = BaggingClassifier(n_estimators=20, warm_start=True, random_state=0).fit(X, Y)
    before = fitted.votes(X).answers
    with pytest.raises(RuntimeError, match="no measure"):
        fitted.set_params(n_estimators=30, oob_score=fails).fit(X, Y)
    assert len(fitted) == 20
    np.testing.assert_array_equal(fitted.votes(X).answers, before)


def test_a_run_that_is_over_adds_nothing_and_breaks_nothing():
    """C4.5 trees are fitted and asked; a perfect first one ends the run before the second fit has a round."""
    fitted = AdaBoostClassifier(C45Classifier(prune=False), n_estimators=4, warm_start=True).fit(X, Y)
    members = len(fitted)
    before = fitted.predict_proba(X)
    fitted.set_params(n_estimators=members + (fitted.stop_reason_ != "enough members")).fit(X, Y)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_a_run_of_a_regression_goes_on_after_pickling(loss):
    fitted = AdaBoostRegressor(n_estimators=3, loss=loss, warm_start=True, random_state=0).fit(X, X[:, 0])
    again = pickle.loads(pickle.dumps(fitted)).set_params(n_estimators=6).fit(X, X[:, 0])
    whole = AdaBoostRegressor(n_estimators=6, loss=loss, random_state=0).fit(X, X[:, 0])
    np.testing.assert_array_equal(again.predict(X), whole.predict(X))


def test_numbers_of_another_kind_are_the_same_parameters():
    fitted = BaggingClassifier(n_estimators=3, max_samples=0.5, warm_start=True, random_state=0).fit(X, Y)
    assert len(fitted.set_params(max_samples=np.float64(0.5), n_estimators=5).fit(X, Y)) == 5


def test_a_first_fit_without_warm_start_is_held_to_its_data_too():
    fitted = BaggingClassifier(n_estimators=3, random_state=0).fit(X, Y).set_params(warm_start=True, n_estimators=5)
    with pytest.raises(ValueError, match="X, y and sample_weight must be those of the first fit"):
        fitted.fit(X, Y[::-1])
    assert len(fitted.fit(X, Y)) == 5
