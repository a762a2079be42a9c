"""Bagging of scikit-learn: parts of it against its members, asked one by one about their columns."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from conjunto.voters import as_voters, rows_seen

from .oracles import NAMES, as_frame, check_adapter, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
SUBSET = [5, 0, 3]


def shares(fitted, t):
    """(n, K) by hand: members answer codes of the classes in their sample."""
    model, rows = fitted.estimators_[t], TEST[:, fitted.estimators_features_[t]]
    out = np.zeros((len(TEST), 3))
    if not hasattr(model, "predict_proba"):
        out[np.arange(len(TEST)), model.predict(rows)] = 1
        return out
    for column, code in enumerate(model.classes_):
        out[:, code] = model.predict_proba(rows)[:, column]
    return out


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize(
    ("model", "soft"),
    [
        (BaggingClassifier(DecisionTreeClassifier(max_depth=2), 8, random_state=0), True),
        (BaggingClassifier(n_estimators=8, max_features=2, bootstrap_features=True, random_state=0), True),
        (BaggingClassifier(KNeighborsClassifier(1, algorithm="kd_tree"), 8, max_samples=2, random_state=0), True),
        (BaggingClassifier(LinearSVC(), 8, max_features=3, random_state=0), False),
    ],
    ids=repr,
)
def test_classifiers(model, soft, frame):
    rows, test = (as_frame(X), as_frame(TEST)) if frame else (X, TEST)
    fitted = model.fit(rows, LABELS)
    each = [shares(fitted, t) for t in range(8)]
    part = check_adapter(fitted, test, lambda members: NAMES[sum(each[t] for t in members).argmax(axis=1)], SUBSET)
    adapter = as_voters(fitted)
    assert adapter.adds_scores is soft
    np.testing.assert_array_equal(adapter.votes(test).as_labels().labels, np.argmax(each, axis=2))
    np.testing.assert_allclose(part.predict_proba(test), np.mean([each[t] for t in SUBSET], axis=0))
    for t, number in enumerate(SUBSET):
        np.testing.assert_array_equal(part.estimators_samples_[t], fitted.estimators_samples_[number])


def test_members_that_miss_classes_are_among_these():
    # Learners that take sample weights are told of all classes; this one is not.
    fitted = BaggingClassifier(KNeighborsClassifier(1, algorithm="kd_tree"), 8, max_samples=2, random_state=0).fit(
        X, LABELS
    )
    assert {len(model.classes_) for model in fitted.estimators_} >= {1, 2}


@pytest.mark.parametrize("base", [None, LinearRegression()], ids=repr)
def test_regressors(base):
    fitted = BaggingRegressor(base, 8, max_features=3, random_state=0).fit(as_frame(X), TARGETS)
    each = [m.predict(TEST[:, c]) for m, c in zip(fitted.estimators_, fitted.estimators_features_, strict=True)]
    check_adapter(fitted, as_frame(TEST), lambda members: np.mean([each[t] for t in members], axis=0), SUBSET)


@pytest.mark.parametrize("parameters", [{}, {"bootstrap": False, "max_samples": 0.4}, {"max_samples": 10}], ids=repr)
def test_training_rows(parameters):
    fitted = BaggingClassifier(n_estimators=6, random_state=1, **parameters).fit(X, LABELS)
    seen = rows_seen(as_voters(fitted), 150)
    for t, rows in enumerate(fitted.estimators_samples_):
        np.testing.assert_array_equal(np.flatnonzero(seen[t]), np.unique(rows))
    np.testing.assert_array_equal(rows_seen(as_voters(as_voters(fitted).take([4, 1])), 150), seen[[4, 1]])


def test_out_of_bag_figures_of_the_whole_are_not_those_of_a_part():
    fitted = BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, LABELS)
    part = as_voters(fitted).take([1, 2])
    assert hasattr(fitted, "oob_score_")
    assert not hasattr(part, "oob_score_")
    assert not hasattr(part, "oob_decision_function_")


def test_messages():
    with pytest.raises(NotFittedError, match="BaggingClassifier"):
        as_voters(BaggingClassifier())
    whole = as_voters(BaggingClassifier(n_estimators=3, bootstrap=False).fit(X, LABELS))
    with pytest.raises(
        ValueError, match=r"BaggingClassifier showed all rows to every member \(bootstrap=False\): noth"
    ):
        rows_seen(whole, 150)
    grown = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, LABELS)
    grown.set_params(n_estimators=5).fit(X, LABELS)
    with pytest.raises(
        ValueError, match="BaggingClassifier does not know the samples of members from before a warm st"
    ):
        rows_seen(as_voters(grown), 150)
    assert len(as_voters(grown).take([4, 0])) == 2
    sampled = as_voters(BaggingClassifier(n_estimators=3, random_state=0).fit(X, LABELS))
    with pytest.raises(ValueError, match="BaggingClassifier was fitted on more than 90 rows"):
        rows_seen(sampled, 90)
    several = BaggingRegressor(KNeighborsRegressor(), n_estimators=2).fit(X, np.stack([TARGETS, TARGETS], axis=1))
    with pytest.raises(TypeError, match=r"member 0 of BaggingRegressor has several outputs, its answers are \(150"):
        as_voters(several).votes(X)
