"""Cases that once went wrong."""

import numpy as np
import pytest

from conjunto import CARTClassifier, CARTRegressor, RandomSubspaceClassifier


def test_members_without_a_plain_column():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), rng.integers(0, 2, 3000)
    X[0, 1] = np.nan
    model = RandomSubspaceClassifier(n_estimators=20, max_features=1, random_state=0).fit(X, y)
    assert {columns.tolist()[0] for columns in model.estimators_features_} == {0, 1}
    for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        # Of the one column that the tree takes; deep enough to learn noise by heart.
        assert tree.feature_importances_.tolist() == [1.0]
        np.testing.assert_array_equal(tree.predict(X[:, columns]), y)


def test_a_tree_with_more_thresholds_than_codes():
    rng = np.random.default_rng(0)
    X = np.arange(70_000.0)[:, None]
    model = CARTRegressor().fit(X, rng.normal(size=70_000))
    rows = rng.uniform(0, 70_000, (300_000, 1))
    few = np.concatenate([model.predict(part) for part in np.array_split(rows, 10)])
    np.testing.assert_array_equal(model.predict(rows), few)


def test_a_failed_fit_changes_nothing():
    X = np.arange(20.0)[:, None]
    model = CARTClassifier().fit(X, np.arange(20) > 9)
    before = model.predict(X)
    with pytest.raises(ValueError, match="max_depth"):
        model.set_params(max_depth=-1).fit(X, np.where(np.arange(20) > 9, "a", "b"))
    np.testing.assert_array_equal(model.predict(X), before)
