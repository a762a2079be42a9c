"""Cuts between groups of values: the trees are those of the group numbers, with thresholds between the values."""

import numpy as np
import pytest

from conjunto import AdaBoostClassifier, BaggingRegressor, CARTClassifier, CARTRegressor, RandomForestClassifier
from conjunto.datasets import make_waveform


def grouped(column, bins):
    """Group numbers as the core makes them, by sorting: of about the same number of rows each, ties together."""
    out = np.full(len(column), np.nan)
    there = ~np.isnan(column)
    values, place, rows = np.unique(column[there], return_inverse=True, return_counts=True)
    before = np.cumsum(rows) - rows
    group = before * bins // there.sum() if len(values) > bins else np.arange(len(values))
    out[there] = np.unique(group, return_inverse=True)[1][place]
    return out


def table(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    X[:, 1] = random.integers(0, 1000, n) ** 2  # whole numbers, many values
    X[:, 2] = np.where(random.random(n) < 0.7, 0.0, X[:, 2])  # one value of most rows
    X[random.random(n) < 0.1, 3] = np.nan
    y = (X[:, 0] + np.sqrt(X[:, 1]) / 500 + np.nan_to_num(X[:, 3]) + random.normal(0, 0.5, n) > 0.5).astype(int)
    return X, y + (X[:, 2] > 0.5)


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("bins", [2, 16, 255])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_the_groups(n, bins, weighted):
    X, y = table(n, 0)
    weights = np.random.default_rng(1).integers(1, 4, n) if weighted else None
    groups = np.column_stack([grouped(column, bins) for column in X.T])
    binned = CARTClassifier(max_bins=bins, max_depth=6, random_state=0).fit(X, y, weights)
    exact = CARTClassifier(max_depth=6, random_state=0).fit(groups, y, weights)
    np.testing.assert_array_equal(binned.apply(X), exact.apply(groups))
    np.testing.assert_array_equal(binned.tree_.feature, exact.tree_.feature)
    values = CARTRegressor(max_bins=bins, max_depth=6, random_state=0).fit(X, X[:, 0] + y)
    of_groups = CARTRegressor(max_depth=6, random_state=0).fit(groups, X[:, 0] + y)
    np.testing.assert_allclose(values.predict(X), of_groups.predict(groups), rtol=1e-10)


def test_columns_of_few_values_are_cut_as_ever():
    X, y = table(500, 2)
    X = np.round(X[:, :3])
    X[:, 1] %= 40
    for parameters in ({}, {"max_features": 1}, {"max_leaf_nodes": 9}, {"prune": "cv"}):
        trees = [CARTClassifier(max_bins=bins, random_state=3, **parameters).fit(X, y) for bins in (None, 64)]
        np.testing.assert_array_equal(*(tree.tree_.threshold for tree in trees))
        np.testing.assert_array_equal(*(tree.tree_.children_left for tree in trees))


def test_ensembles_bin_as_their_trees_do():
    X, y = make_waveform(400, random_state=0)
    X_test, y_test = make_waveform(2000, random_state=1)
    tree = CARTClassifier(max_bins=32)
    for model, least in (
        (RandomForestClassifier(50, max_bins=32, random_state=0), 0.8),
        (AdaBoostClassifier(tree.set_params(max_depth=3), n_estimators=30, random_state=0), 0.8),
    ):
        assert model.fit(X, y).score(X_test, y_test) > least
    first, second = (RandomForestClassifier(10, max_bins=32, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    np.testing.assert_array_equal(first.predict_proba(X_test), second.predict_proba(X_test))
    forest = RandomForestClassifier(10, max_bins=4, random_state=0).fit(X, y)
    thresholds = {
        (f, t) for tree in forest.estimators_ for f, t in zip(tree.tree_.feature, tree.tree_.threshold, strict=True)
    }
    assert len({pair for pair in thresholds if pair[0] >= 0}) <= 6 * X.shape[1]
    BaggingRegressor(CARTRegressor(max_bins=16), n_estimators=3, random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_bins": 1}, "max_bins must be an integer of at least 2|max_bins"),
        ({"max_bins": 256}, "max_bins must be at most 255, got 256"),
        ({"max_bins": 2.5}, "max_bins"),
        ({"max_bins": 16, "splits": "oblique"}, "max_bins goes with splits='axis' only"),
        ({"max_bins": 16, "splitter": "random"}, "max_bins goes with splitter='best' only"),
        ({"max_bins": 16, "combination_features": 2}, "max_bins goes with combination_features=None only"),
    ],
)
def test_what_does_not_go_with_bins_is_refused(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        CARTClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])
