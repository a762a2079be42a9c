"""Pipelines that end in an ensemble: the same as the ensemble on transformed rows."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import AdaBoostRegressor, BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import conjunto
from conjunto.voters import as_voters, rows_seen
from conjunto.voters.checking import check_examples

from .oracles import NAMES, as_frame, check_adapter, decision, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
SUBSET = [5, 0, 3]


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=8, max_depth=3, random_state=0),
        BaggingClassifier(LogisticRegression(), 8, max_features=3, random_state=0),
        conjunto.AdaBoostClassifier(n_estimators=8, random_state=0),
        AdaBoostRegressor(n_estimators=8, random_state=0),
    ],
    ids=repr,
)
def test_as_the_ensemble_on_transformed_rows(model, steps):
    y = TARGETS if isinstance(model, AdaBoostRegressor) else LABELS
    fitted = make_pipeline(*[PolynomialFeatures(2), StandardScaler()][:steps], model).fit(as_frame(X), y)
    transformed = fitted[:-1].transform(as_frame(TEST)) if steps else as_frame(TEST)
    inner = as_voters(fitted[-1])
    part = check_adapter(fitted, as_frame(TEST), lambda members: inner.take(members).predict(transformed), SUBSET)
    assert [name for name, _ in part.steps] == [name for name, _ in fitted.steps]
    assert all(one is other for (_, one), (_, other) in zip(part.steps[:-1], fitted.steps[:-1], strict=True))
    assert part[-1].n_estimators == 3
    codes = check_examples(as_voters(fitted), as_frame(TEST), y[:80])
    np.testing.assert_array_equal(codes, y[:80] if y is TARGETS else np.searchsorted(NAMES, y[:80]))


def test_training_rows():
    fitted = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=4, random_state=0)).fit(X, LABELS)
    np.testing.assert_array_equal(rows_seen(as_voters(fitted), 150), rows_seen(as_voters(fitted[-1]), 150))


def test_a_pipeline_in_a_pipeline():
    inner = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=4, random_state=0))
    fitted = make_pipeline(PolynomialFeatures(2), inner).fit(X, LABELS)
    part = as_voters(fitted).take([2, 1])
    transformed = inner[0].transform(fitted[0].transform(TEST))
    sums = sum(inner[-1].estimators_[t].predict_proba(transformed) for t in (2, 1))
    np.testing.assert_array_equal(part.predict(TEST), NAMES[sums.argmax(axis=1)])


def test_columns_that_are_picked_by_name():
    pick = ColumnTransformer([("scaled", StandardScaler(), ["column 0", "column 3"])])
    fitted = make_pipeline(pick, RandomForestClassifier(n_estimators=4, random_state=0)).fit(as_frame(X), LABELS)
    frame = as_frame(X)[["column 3", "column 0", "column 1"]]
    np.testing.assert_array_equal(decision(as_voters(fitted), frame), fitted.predict(as_frame(X)))
    np.testing.assert_array_equal(check_examples(as_voters(fitted), frame, LABELS), np.searchsorted(NAMES, LABELS))
    listed = as_voters([fitted, DecisionTreeClassifier().fit(X, LABELS)])
    np.testing.assert_array_equal(check_examples(listed, frame, LABELS), np.searchsorted(NAMES, LABELS))
    with pytest.raises(ValueError, match=r"columns are missing: \{'column 3'\}"):
        as_voters(fitted).votes(as_frame(X)[["column 0"]])


def test_messages():
    with pytest.raises(NotFittedError, match="RandomForestClassifier"):
        as_voters(make_pipeline(StandardScaler(), RandomForestClassifier()))
    with pytest.raises(TypeError, match="LogisticRegression cannot be taken apart into voters"):
        as_voters(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, LABELS))
    with pytest.raises(TypeError, match="cannot be taken apart into voters"):
        as_voters(make_pipeline(StandardScaler(), "passthrough").fit(X, LABELS))
    adapter = as_voters(make_pipeline(PolynomialFeatures(2), RandomForestClassifier(2)).fit(as_frame(X), LABELS))
    with pytest.raises(ValueError, match="X has 4 columns, and the ensemble was fitted on 5"):
        check_examples(adapter, X[:, :4], LABELS)
    with pytest.raises(
        ValueError, match="X has the columns of the ensemble in another order: put them as 'column 0', 'column 1'"
    ):
        adapter.votes(as_frame(X)[["column 1", "column 0", "column 2", "column 3", "column 4"]])
