"""Forests of scikit-learn: parts of them against the sums of their trees' class shares."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError

from conjunto.combination import decide
from conjunto.voters import as_voters, rows_seen

from .oracles import NAMES, as_frame, check_adapter, decision, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
SUBSET = [5, 0, 3]
WEIGHTS = np.random.default_rng(2).uniform(size=150)
CLASSIFIERS = [
    RandomForestClassifier(n_estimators=8, max_depth=3, random_state=0),
    RandomForestClassifier(n_estimators=8, max_samples=0.3, class_weight="balanced_subsample", random_state=0),
    RandomForestClassifier(n_estimators=9, bootstrap=False, max_features=1, random_state=0),
    ExtraTreesClassifier(n_estimators=8, bootstrap=True, max_depth=3, random_state=0),
]
REGRESSORS = [
    RandomForestRegressor(n_estimators=8, random_state=0),
    ExtraTreesRegressor(n_estimators=8, max_depth=3, random_state=0),
]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_classifiers(model, frame, weights):
    rows, test = (as_frame(X), as_frame(TEST)) if frame else (X, TEST)
    fitted = model.fit(rows, LABELS, sample_weight=weights)
    each = [tree.predict_proba(TEST.astype(np.float32)) for tree in fitted.estimators_]
    part = check_adapter(fitted, test, lambda members: NAMES[sum(each[t] for t in members).argmax(axis=1)], SUBSET)
    np.testing.assert_allclose(part.predict_proba(test), np.mean([each[t] for t in SUBSET], axis=0))
    np.testing.assert_array_equal(as_voters(fitted).votes(test).scores, each)
    assert part.n_estimators == 3


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_regressors(model):
    fitted = model.fit(as_frame(X), TARGETS)
    each = [tree.predict(TEST.astype(np.float32)) for tree in fitted.estimators_]
    check_adapter(fitted, as_frame(TEST), lambda members: np.mean([each[t] for t in members], axis=0), SUBSET)
    assert as_voters(fitted).classes_ is None
    np.testing.assert_array_equal(as_voters(fitted).votes(TEST).values, each)


def test_missing_values_and_sparse_rows():
    holes = np.where(np.random.default_rng(3).uniform(size=X.shape) < 0.2, np.nan, X)
    fitted = RandomForestClassifier(n_estimators=5, random_state=0).fit(holes, LABELS)
    np.testing.assert_array_equal(decision(as_voters(fitted), holes), fitted.predict(holes))
    sparse = csr_matrix(np.where(np.abs(X) < 1, 0.0, X))
    fitted = RandomForestClassifier(n_estimators=5, random_state=0).fit(sparse, LABELS)
    np.testing.assert_array_equal(decision(as_voters(fitted), sparse), fitted.predict(sparse))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=6, random_state=1),
        RandomForestClassifier(n_estimators=6, max_samples=20, random_state=1),
        ExtraTreesClassifier(n_estimators=6, bootstrap=True, random_state=1),
    ],
    ids=repr,
)
def test_training_rows(model):
    fitted = model.fit(X, LABELS)
    seen = rows_seen(as_voters(fitted), 150)
    for t, rows in enumerate(fitted.estimators_samples_):
        np.testing.assert_array_equal(np.flatnonzero(seen[t]), np.unique(rows))
    np.testing.assert_array_equal(rows_seen(as_voters(as_voters(fitted).take([4, 1])), 150), seen[[4, 1]])


def test_out_of_bag_figures_of_the_whole_are_not_those_of_a_part():
    fitted = RandomForestClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, LABELS)
    part = as_voters(fitted).take([1, 2])
    for name in ("oob_score_", "oob_decision_function_"):
        assert hasattr(fitted, name)
        assert not hasattr(part, name)
    trees = fitted.estimators_
    mean = (trees[1].feature_importances_ + trees[2].feature_importances_) / 2
    np.testing.assert_allclose(part.feature_importances_, mean)


def test_messages():
    with pytest.raises(NotFittedError, match="RandomForestClassifier"):
        as_voters(RandomForestClassifier())
    several = as_voters(ExtraTreesClassifier(n_estimators=2).fit(X, np.stack([LABELS, LABELS[::-1]], axis=1)))
    np.testing.assert_array_equal(
        np.stack([decide(votes) for votes in several.votes(X)], axis=1), several.fitted.predict(X)
    )
    with pytest.raises(ValueError, match="was fitted with bootstrap=False: every tree saw all rows, and nothing is"):
        rows_seen(as_voters(ExtraTreesClassifier(n_estimators=2).fit(X, LABELS)), 150)
    adapter = as_voters(RandomForestClassifier(n_estimators=4).fit(X, LABELS))
    with pytest.raises(ValueError, match="RandomForestClassifier was fitted on 150 rows: out-of-bag rows need them"):
        rows_seen(adapter, 160)
    fewer = as_voters(RandomForestClassifier(n_estimators=4, max_samples=100, random_state=0).fit(X, LABELS))
    with pytest.raises(ValueError, match="was fitted on more than 90 rows: out-of-bag rows need the training data"):
        rows_seen(fewer, 90)
    with pytest.raises(ValueError, match="X contains infinity"):
        adapter.votes(np.full((2, 5), np.inf))
