import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from conjunto import RandomSubspaceClassifier, RandomSubspaceRegressor
from conjunto.datasets import make_twonorm


def columns_used(forest, t):
    test = forest.take(np.array([t])).arrays()["test"]
    return set((test & ((1 << 29) - 1)).tolist())


@pytest.mark.parametrize(("max_features", "width"), [(0.5, 10), (3, 3), (1, 1), (1.0, 20)])
def test_a_tree_uses_only_its_columns(max_features, width):
    X, y = make_twonorm(150, random_state=0)
    model = RandomSubspaceClassifier(n_estimators=20, max_features=max_features, random_state=0).fit(X, y)
    for t, columns in enumerate(model.estimators_features_):
        assert len(columns) == len(np.unique(columns)) == width
        assert columns_used(model._panel.members.forest, t) <= set(columns.tolist())
    drawn = {tuple(columns) for columns in model.estimators_features_}
    assert len(drawn) > 1 or width == 20


def test_one_column_each_is_a_tree_on_that_column():
    X, y = make_twonorm(100, random_state=0)
    model = RandomSubspaceClassifier(n_estimators=10, max_features=1, random_state=0).fit(X, y)
    new, _ = make_twonorm(500, random_state=1)
    for member, (column,) in zip(model.estimators_, model.estimators_features_, strict=True):
        same = DecisionTreeClassifier().fit(X[:, [column]], y)
        # scikit-learn rounds X to float32; a row whose value falls between two roundings may differ.
        assert (member.predict(new[:, [column]]) == same.predict(new[:, [column]])).mean() > 0.99


def test_all_rows_are_seen():
    X, y = make_twonorm(100, random_state=0)
    model = RandomSubspaceClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert all(rows.tolist() == list(range(100)) for rows in model.estimators_samples_)
    assert (model.votes(X).labels == y).all()


def test_foreign_members_get_their_columns():
    X, y = make_twonorm(100, random_state=0)
    model = RandomSubspaceClassifier(KNeighborsClassifier(), n_estimators=5, max_features=4, random_state=0).fit(X, y)
    for t, (member, columns) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True)):
        assert member.n_features_in_ == 4
        np.testing.assert_array_equal(model.votes(X).labels[t], member.predict(X[:, columns]))


def test_regression():
    X, y = load_diabetes(return_X_y=True)
    train = np.arange(len(y)) % 2 == 0
    model = RandomSubspaceRegressor(random_state=0).fit(X[train], y[train])
    # Chance is R^2 = 0; a single tree is below that here.
    assert model.score(X[~train], y[~train]) > 0.25
