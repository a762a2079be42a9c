"""What all adapters check, and what cannot be taken apart."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import conjunto
from conjunto.voters import as_voters
from conjunto.voters.checking import check_examples

from .oracles import NAMES, as_frame, make_rows

X, LABELS, TARGETS = make_rows()
CODES = np.searchsorted(NAMES, LABELS)
FOREST = RandomForestClassifier(n_estimators=4, random_state=0).fit(X, LABELS)
OURS = conjunto.BaggingClassifier(n_estimators=4, random_state=0).fit(X, LABELS)


@pytest.mark.parametrize("fitted", [FOREST, OURS, [DecisionTreeClassifier().fit(X, LABELS)]], ids=repr)
def test_answers_become_codes(fitted):
    adapter = as_voters(fitted)
    for y in (LABELS, list(LABELS), LABELS.astype(object)):
        np.testing.assert_array_equal(check_examples(adapter, X, y), CODES)
    np.testing.assert_array_equal(check_examples(adapter, X.tolist(), LABELS), CODES)


@pytest.mark.parametrize("kind", [float, bool, np.int8])
def test_codes_of_labels_that_are_numbers(kind):
    y = (CODES > 0).astype(kind)
    forest = RandomForestClassifier(n_estimators=2).fit(X, y)
    np.testing.assert_array_equal(check_examples(as_voters(forest), X, y), CODES > 0)
    np.testing.assert_array_equal(check_examples(as_voters(forest), X, y.astype(int)), CODES > 0)


def test_targets():
    adapter = as_voters(RandomForestRegressor(n_estimators=2).fit(X, TARGETS))
    np.testing.assert_array_equal(check_examples(adapter, X, list(TARGETS)), TARGETS)
    with pytest.raises(ValueError, match="y must hold numbers: the ensemble is a regressor"):
        check_examples(adapter, X, LABELS)
    with pytest.raises(ValueError, match="y must be finite: it holds NaN or an infinite number; remove these rows"):
        check_examples(adapter, X, np.where(TARGETS > 1, np.nan, TARGETS))


@pytest.mark.parametrize("fitted", [FOREST, OURS, [DecisionTreeClassifier().fit(X, LABELS)]], ids=repr)
@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (X[:, :4], LABELS, "X has 4 columns, and the ensemble was fitted on 5"),
        (X[:, :4].tolist(), LABELS, "X has 4 columns, and the ensemble was fitted on 5"),
        (X[:, 0], LABELS, r"X must have two dimensions, rows and 5 columns, got shape \(150,\)"),
        (X, LABELS[:149], "X has 150 rows and y has 149: they must have as many"),
        (
            X,
            np.stack([LABELS, LABELS], axis=1),
            r"y must have one dimension, one answer per row of X, got shape \(150,",
        ),
        (X[:0], LABELS[:0], "X and y have no rows: give at least one"),
        (
            X,
            np.where(CODES == 2, "west", LABELS),
            "y has the label 'west', which the ensemble does not know; it knows 'east', 'north', 'south'",
        ),
        (X, CODES, "y has the label [012], which the ensemble does not know; it knows 'east'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_about_data(fitted, rows, y, message):
    with pytest.raises(ValueError, match=message):
        check_examples(as_voters(fitted), rows, y)


def test_other_names():
    frame = as_frame(X)
    for model in (RandomForestClassifier(n_estimators=2), conjunto.BaggingClassifier(n_estimators=2)):
        adapter = as_voters(model.fit(frame, LABELS))
        np.testing.assert_array_equal(check_examples(adapter, frame, LABELS), CODES)
        other = frame.rename(columns={"column 0": "x"})
        message = r"X lacks 'column 0' and has 'x', which the ensemble does not know; it was fitted on 'column 0'"
        with pytest.raises(ValueError, match=message):
            check_examples(adapter, other, LABELS)
        # Ours check rows as every estimator does, in scikit-learn's words.
        words = "The feature names should match" if adapter is model else message
        with pytest.raises(ValueError, match=words):
            adapter.votes(other)


def test_many_classes_are_not_all_listed():
    y = np.arange(150) % 30
    with pytest.raises(ValueError, match=r"it knows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …$"):
        check_examples(as_voters(RandomForestClassifier(n_estimators=2).fit(X, y)), X, y + 1)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "members must be a list of at least one number of a member"),
        ([[0, 1]], "members must be a list of at least one number"),
        ([0.5], "members must be a list of at least one number"),
        ([True, False, True, True], "members must be a list of at least one number"),
        ([0, 4], "members holds 4, and there are 4 members, numbered from 0"),
        ([-1], "members holds -1, and there are 4 members"),
        ([1, 1], "members holds a number twice: an ensemble has every member once"),
    ],
)
@pytest.mark.parametrize("fitted", [FOREST, OURS], ids=["scikit-learn", "conjunto"])
def test_messages_about_members(fitted, members, message):
    with pytest.raises(ValueError, match=message):
        as_voters(fitted).take(members)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=2).fit(X, LABELS),
        GradientBoostingRegressor(n_estimators=2).fit(X, TARGETS),
        # Refused for what they are, fitted or not.
        HistGradientBoostingClassifier(),
        HistGradientBoostingRegressor(),
    ],
    ids=repr,
)
def test_gradient_boosting(model):
    message = f"{type(model).__name__} cannot be taken apart: in gradient boosting every member corrects the residuals"
    with pytest.raises(TypeError, match=message):
        as_voters(model)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_other_libraries(library):
    # What they are is told by the name of their module: none of them need be installed.
    boosted = type("Boosted", (), {"__module__": f"{library}.sklearn", "boosting_type": "gbdt"})()
    before = library in sys.modules
    with pytest.raises(TypeError, match="Boosted cannot be taken apart: in gradient boosting every member corrects"):
        as_voters(boosted)
    assert (library in sys.modules) == before


def test_forests_of_xgboost():
    forest = type("XGBRFClassifier", (), {"__module__": "xgboost.sklearn"})()
    with pytest.raises(TypeError, match="XGBRFClassifier keeps its trees in one model of xgboost, which has no public"):
        as_voters(forest)


def test_anything_else():
    for model in (IsolationForest(n_estimators=2).fit(X), DecisionTreeClassifier().fit(X, LABELS), "forest", None):
        with pytest.raises(
            TypeError, match=f"{type(model).__name__} cannot be taken apart into voters.*RandomForest, Ex"
        ):
            as_voters(model)
    with pytest.raises(TypeError, match="got the class RandomForestClassifier, and a fitted ensemble is needed"):
        as_voters(RandomForestClassifier)
    search = GridSearchCV(RandomForestClassifier(2), {"max_depth": [1, 2]}, cv=2).fit(X, LABELS)
    with pytest.raises(TypeError, match="GridSearchCV is a search, not an ensemble: give its best_estimator_"):
        as_voters(search)
