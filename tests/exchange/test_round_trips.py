"""Models change hands with scikit-learn: predictions are equal, which the other library says, not we."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.linear_model
import sklearn.tree
from sklearn.datasets import load_diabetes
from sklearn.tree import export_text, plot_tree

import conjunto
from conjunto import from_sklearn, prune, to_sklearn
from conjunto.learners.outline import outline

CLASSES = np.array(["north", "east", "south"])


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 6)).astype(np.float32).astype(np.float64)
    X[:, 4] = random.integers(0, 4, len(X))
    y = CLASSES[(X[:, 0] + X[:, 1] * X[:, 4] > 0).astype(int) + (random.random(len(X)) < 0.2)]
    X[random.random(X.shape) < 0.05] = np.nan
    fresh = random.normal(size=(100_000, 6)).astype(np.float32).astype(np.float64)
    fresh[:, 4] = random.integers(-1, 5, len(fresh))
    fresh[random.random(fresh.shape) < 0.05] = np.nan
    return X, y, fresh


def agree(ours, theirs, X):
    """Whether two models answer alike: labels equal, probabilities and values to 1e-12."""
    if not hasattr(ours, "predict_proba"):
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
        return
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


CLASSIFIERS = {
    "DecisionTreeClassifier": conjunto.CARTClassifier(min_samples_leaf=2, random_state=0),
    "RandomForestClassifier": conjunto.RandomForestClassifier(
        15, min_samples_leaf=2, class_weight="balanced", random_state=0
    ),
    "ExtraTreesClassifier": conjunto.ExtraTreesClassifier(15, vote="hard", min_samples_leaf=2, random_state=0),
    "BaggingClassifier": conjunto.BaggingClassifier(
        conjunto.CARTClassifier(min_samples_leaf=2), 15, max_features=0.5, random_state=0
    ),
    "AdaBoostClassifier": conjunto.AdaBoostClassifier(conjunto.CARTClassifier(max_depth=3), n_estimators=15),
}
REGRESSORS = {
    "DecisionTreeRegressor": conjunto.CARTRegressor(prune=1.0),
    "RandomForestRegressor": conjunto.RandomForestRegressor(15, max_features=2, random_state=0),
    "ExtraTreesRegressor": conjunto.ExtraTreesRegressor(15, random_state=0),
    "BaggingRegressor": conjunto.BaggingRegressor(n_estimators=15, max_features=0.5, random_state=0),
    "AdaBoostRegressor": conjunto.AdaBoostRegressor(n_estimators=15, random_state=0),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_there_and_back(name, table):
    X, y, fresh = table
    # scikit-learn's AdaBoost takes no missing values.
    fresh = np.nan_to_num(fresh) if name == "AdaBoostClassifier" else fresh
    ours = CLASSIFIERS[name].fit(X, y)
    theirs = to_sklearn(ours, X)
    assert type(theirs).__name__ == name
    assert type(theirs).__module__.startswith("sklearn.")
    agree(ours, theirs, fresh)
    agree(from_sklearn(theirs), theirs, fresh)
    if hasattr(theirs, "feature_importances_"):
        np.testing.assert_allclose(theirs.feature_importances_, ours.feature_importances_, atol=1e-6)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_there_and_back(name, table):
    X, _, fresh = table
    fresh = np.nan_to_num(fresh) if name == "AdaBoostRegressor" else fresh
    ours = REGRESSORS[name].fit(X, np.nan_to_num(X) @ np.arange(6.0) + 100)
    theirs = to_sklearn(ours, X)
    assert type(theirs).__name__ == name
    agree(ours, theirs, fresh)
    agree(from_sklearn(theirs), theirs, fresh)


@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSORS, "ExtraTreeClassifier", "ExtraTreeRegressor"])
def test_models_of_scikit_learn_predict_alike_on_doubles(name, table):
    X, y, fresh = table
    room = sklearn.tree if "Tree" in name and "Trees" not in name else sklearn.ensemble
    theirs = getattr(room, name)(random_state=0)
    if hasattr(theirs, "n_estimators"):
        theirs.set_params(n_estimators=12)
    X = np.nan_to_num(X)
    theirs.fit(X, y if hasattr(theirs, "predict_proba") else X[:, 4] + X[:, 1] ** 2)
    # Doubles that scikit-learn rounds, some of them to a threshold or to the float next to it.
    tree = (theirs if room is sklearn.tree else theirs.estimators_[0]).tree_
    near = np.nan_to_num(fresh[:20_000]) * (1 + 1e-8)
    tests = np.flatnonzero(tree.feature >= 0)
    near[np.arange(len(tests)), tree.feature[tests]] = tree.threshold[tests] * (1 + 2e-8)
    agree(from_sklearn(theirs), theirs, near)


def test_rows_of_doubles_stay_on_their_side():
    """Values that differ in the 12th digit: rounding thresholds alone would send some of them elsewhere."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3)) * 1e-3 + np.array([0.0, 1.0, -7.0])
    y = (X[:, 1] > np.median(X[:, 1])).astype(int) ^ (random.random(400) < 0.2)
    forest = conjunto.RandomForestClassifier(20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(to_sklearn(forest, X).predict(X), forest.predict(X))
    close = 1 + np.arange(40)[:, None] * 1e-12
    tree = conjunto.CARTClassifier().fit(close, np.arange(40) % 2)
    with pytest.raises(ValueError, match="equal in single precision"):
        to_sklearn(tree, close)


def test_a_clone_has_the_parameters_that_both_know(table):
    X, y, _ = table
    forest = conjunto.RandomForestClassifier(5, max_depth=3, min_samples_leaf=4, random_state=7).fit(X, y)
    theirs = to_sklearn(forest)
    known = {"n_estimators": 5, "max_depth": 3, "min_samples_leaf": 4, "random_state": 7}
    assert theirs.get_params().items() >= known.items()
    assert from_sklearn(theirs).get_params().items() >= known.items()
    assert not hasattr(from_sklearn(theirs), "estimators_samples_")
    assert not hasattr(theirs, "estimators_samples_")


def test_leaves_that_are_tied_answer_with_the_class_that_ours_does():
    X, y = np.array([[0.0]] * 4 + [[1.0]] * 3), np.array([0, 0, 1, 1, 1, 1, 0])
    tree = conjunto.CARTClassifier().fit(X, y)
    assert tree.predict([[0.0]]) == to_sklearn(tree, X).predict([[0.0]])


def test_categories_over_one_hot_columns(table):
    X, y, fresh = table
    random = np.random.default_rng(1)

    def frame(matrix):
        colours = np.array(["red", "green", "blue", "grey", None], dtype=object)
        return pd.DataFrame(
            {
                "colour": colours[random.integers(0, 5, len(matrix))],
                "size": matrix[:, 0],
                "flag": random.random(len(matrix)) < 0.3,
                "level": matrix[:, 4],
            }
        )

    train, test = frame(X), frame(fresh[:5000])
    y = np.where(train["colour"].isin(["red", "grey"]) ^ train["flag"], y, "east")
    test.loc[::7, "colour"] = "a new one"
    tree = conjunto.CARTClassifier(max_depth=7).fit(train, y)
    with pytest.raises(TypeError, match="one_hot=True"):
        to_sklearn(tree)
    for model in (tree, conjunto.RandomForestClassifier(8, max_depth=6, random_state=0).fit(train, y)):
        agree(model, to_sklearn(model, train, one_hot=True), test)
    # Every leaf's weight is shared by its copies.
    weights = to_sklearn(tree, one_hot=True)[-1].tree_
    assert weights.weighted_n_node_samples[weights.children_left < 0].sum() == pytest.approx(len(train))


def test_a_forest_of_scikit_learn_is_pruned_and_converted(table):
    X, y, fresh = table
    forest = sklearn.ensemble.RandomForestClassifier(30, random_state=0).fit(X, y)
    small = prune(forest, X, y)
    agree(from_sklearn(small), small, fresh[:2000])


def test_what_scikit_learn_shows(table):
    X, y, _ = table
    tree = conjunto.CARTClassifier(max_depth=2, random_state=0).fit(X, y)
    theirs = to_sklearn(tree, X)
    root = outline(tree).nodes[0].branches[0]
    assert export_text(theirs, decimals=4).startswith(f"|--- feature_{root.column} <= {root.high:.4f}")
    shown = plot_tree(theirs)
    assert f"samples = {len(X)}" in shown[0].get_text()


def test_refusals(table):
    X, y, _ = table
    oblique = conjunto.CARTClassifier(splits="oblique").fit(np.nan_to_num(X), y)
    with pytest.raises(TypeError, match="combinations of columns"):
        to_sklearn(oblique)
    with pytest.raises(TypeError, match="plausibilities"):
        to_sklearn(conjunto.AdaBoostClassifier(algorithm="m2", n_estimators=3).fit(X, y))
    with pytest.raises(TypeError, match="no binary trees"):
        to_sklearn(conjunto.BaggingClassifier(conjunto.C45Classifier(), 3).fit(X, y))
    with pytest.raises(TypeError, match="got LinearRegression"):
        from_sklearn(sklearn.linear_model.LinearRegression())
    with pytest.raises(TypeError, match="members of type"):
        from_sklearn(
            sklearn.ensemble.BaggingRegressor(sklearn.linear_model.LinearRegression()).fit(
                *load_diabetes(return_X_y=True)
            )
        )
