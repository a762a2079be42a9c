"""Monotone constraints: of rows that differ in one column, 100,000 random pairs, none is predicted the wrong way."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import conjunto
from conjunto import CARTClassifier, CARTRegressor, from_sklearn, prune, to_sklearn

CONSTRAINTS = [1, -1, 0, 0]
TREE = {"monotonic_cst": CONSTRAINTS, "random_state": 0}
DEPTH_3 = {"max_depth": 3, **TREE}
CLASSIFIERS = [
    *(CARTClassifier(criterion=criterion, **TREE) for criterion in ("gini", "entropy", "misclassification")),
    CARTClassifier(max_leaf_nodes=20, class_weight="balanced", **TREE),
    CARTClassifier(k_best=3, ccp_alpha=0.002, **TREE),
    conjunto.RandomForestClassifier(40, **TREE),
    conjunto.ExtraTreesClassifier(40, max_depth=8, **TREE),
    conjunto.BaggingClassifier(CARTClassifier(**TREE), 20, random_state=0),
    conjunto.RandomSubspaceClassifier(CARTClassifier(**TREE), 20, random_state=0),
    conjunto.MultiBoostClassifier(CARTClassifier(**DEPTH_3), 20, random_state=0),
    *(
        conjunto.AdaBoostClassifier(CARTClassifier(**DEPTH_3), 30, algorithm=algorithm, random_state=0)
        for algorithm in ("m1", "samme", "samme.r", "mh", "gentle", "logit")
    ),
    conjunto.AdaBoostClassifier(CARTClassifier(max_depth=1, monotonic_cst=CONSTRAINTS), 60, random_state=0),
]
REGRESSORS = [
    *(CARTRegressor(criterion=criterion, **TREE) for criterion in ("squared_error", "absolute_error", "poisson")),
    CARTRegressor(criterion="absolute_error", max_leaf_nodes=30, **TREE),
    CARTRegressor(ccp_alpha=0.01, **TREE),
    conjunto.RandomForestRegressor(40, criterion="absolute_error", min_samples_leaf=3, **TREE),
    conjunto.ExtraTreesRegressor(40, **TREE),
    *(
        conjunto.AdaBoostRegressor(CARTRegressor(**DEPTH_3), 30, algorithm=algorithm, random_state=0)
        for algorithm in ("r2", "r")
    ),
]


def make_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.integers(0, 3, n)
    signal = X[:, 0] + np.sin(4 * X[:, 0]) - X[:, 1] - np.sin(4 * X[:, 1]) + 0.5 * X[:, 2] ** 2 + rng.normal(size=n)
    # What is not constrained may be missing.
    X[rng.random(n) < 0.1, 2] = np.nan
    return X, signal


X, SIGNAL = make_rows()
WEIGHT = np.random.default_rng(1).integers(0, 3, len(X)) * 1.0


def violations(model, seed=5, pairs=100_000):
    """How often, in so many pairs of rows for each of the two columns, the prediction goes the wrong way."""
    low, _ = make_rows(pairs, seed)
    count = 0
    for column, sign in ((0, 1), (1, -1)):
        high = low.copy()
        high[:, column] += np.random.default_rng(seed).exponential(size=pairs)
        before, after = (_level(model, rows) for rows in (low, high))
        count += (sign * (after - before) < -1e-12).sum()
        if hasattr(model, "classes_"):
            count += (sign * (model.predict(high).astype(int) - model.predict(low).astype(int)) < 0).sum()
    return count


def _level(model, rows):
    return model.predict_proba(rows)[:, 1] if hasattr(model, "classes_") else model.predict(rows)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_probabilities_of_the_second_class(model):
    labels = (SIGNAL > 0).astype(int)
    assert violations(model.fit(X, labels, sample_weight=WEIGHT)) == 0
    assert model.score(X, labels) > 0.75


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_values(model):
    target = np.exp(SIGNAL / 3)
    assert violations(model.fit(X, target, sample_weight=WEIGHT)) == 0
    assert model.score(X, target) > 0.3


def test_without_constraints_the_signal_is_not_monotone():
    assert violations(CARTRegressor().fit(X, SIGNAL)) > 1000
    assert violations(conjunto.RandomForestClassifier(40, random_state=0).fit(X, (SIGNAL > 0).astype(int))) > 1000


def test_sparse_rows_and_files_keep_them():
    rows = np.nan_to_num(X) * (np.abs(np.nan_to_num(X)) > 0.7)
    dense, sparse = (CARTRegressor(**TREE).fit(form, SIGNAL) for form in (rows, csr_matrix(rows)))
    np.testing.assert_array_equal(dense.predict(rows), sparse.predict(rows))
    assert violations(sparse) == 0
    theirs = to_sklearn(dense)
    np.testing.assert_allclose(theirs.tree_.value, dense.tree_.value)
    np.testing.assert_array_equal(from_sklearn(theirs).predict(rows), dense.predict(rows))
    forest = conjunto.RandomForestRegressor(20, **TREE).fit(X, SIGNAL)
    assert violations(prune(forest, X, SIGNAL, keep=5)) == 0


@pytest.mark.parametrize("classifier", [True, False])
def test_the_root_cuts_as_scikit_learns_does(classifier):
    rows = np.nan_to_num(X)
    y = (SIGNAL > 0).astype(int) if classifier else SIGNAL
    ours = (CARTClassifier if classifier else CARTRegressor)(max_depth=2, monotonic_cst=[1, -1, -1, 1])
    theirs = (DecisionTreeClassifier if classifier else DecisionTreeRegressor)(
        max_depth=2, monotonic_cst=[1, -1, -1, 1]
    )
    ours, theirs = ours.fit(rows, y), theirs.fit(rows.astype(np.float32), y)
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "rows", "y", "message"),
    [
        (CARTRegressor(monotonic_cst=[1, 0]), X, SIGNAL, r"monotonic_cst has shape \(2,\) but the input data X has 4"),
        (CARTRegressor(monotonic_cst=[1, 2, 0, 0]), X, SIGNAL, "array-like of -1, 0 or 1"),
        (CARTRegressor(monotonic_cst=CONSTRAINTS), X, np.stack([SIGNAL, SIGNAL], 1), "not supported with multiple out"),
        (CARTClassifier(monotonic_cst=CONSTRAINTS), X, np.arange(len(X)) % 3, "not supported with multiclass"),
        (CARTClassifier(splits="oblique", monotonic_cst=CONSTRAINTS), X, np.arange(len(X)) % 2, "one column"),
        (CARTRegressor(prune="cv", monotonic_cst=CONSTRAINTS), X, SIGNAL, "does not go with monotonic_cst"),
        (
            conjunto.AdaBoostClassifier(CARTClassifier(max_depth=2, monotonic_cst=CONSTRAINTS), algorithm="m2"),
            X,
            np.arange(len(X)) % 2,
            "does not go with 'm2'",
        ),
        (
            conjunto.AdaBoostClassifier(CARTClassifier(max_depth=2, monotonic_cst=CONSTRAINTS), algorithm="logit"),
            X,
            np.arange(len(X)) % 3,
            "not supported with multiclass",
        ),
        (conjunto.ECOCClassifier(CARTClassifier(monotonic_cst=CONSTRAINTS)), X, np.arange(len(X)) % 3, "multiclass"),
        (
            CARTRegressor(monotonic_cst=[1, 0]),
            pd.DataFrame({"c": ["a", "b"] * 200, "x": X[:, 0]}),
            SIGNAL,
            "categorical column, which has no order",
        ),
    ],
)
def test_refusals(model, rows, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(rows, y)
