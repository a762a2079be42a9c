"""`C45Classifier` at the edge: what must hold is plain from each case."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from conjunto import C45Classifier
from conjunto.learners.c45 import grow_c45_trees
from conjunto.problem import read_problem
from conjunto.view import View


def test_members_with_columns_labels_and_weights_of_their_own():
    random = np.random.default_rng(4)
    X, y = load_iris(return_X_y=True)
    learner = C45Classifier(prune=False)
    problem = read_problem(learner, X, y, None, classification=True)
    weights = random.integers(0, 3, (5, 150)).astype(np.uint8)
    labels = random.permuted(np.tile(problem.y, (5, 1)), axis=1)
    columns = np.stack([random.permutation(4)[:2] for _ in range(5)]).astype(np.uint32)
    views = [View(*parts) for parts in zip(weights, labels, columns, strict=True)]
    forest = grow_c45_trees(learner, problem, (1, 2), np.arange(5, dtype=np.uint64), views)
    for t in range(5):
        alone = C45Classifier(prune=False).fit(X[:, np.sort(columns[t])], labels[t], weights[t])
        expected = alone.forest_.labels(np.ascontiguousarray(X[:, np.sort(columns[t])]))
        np.testing.assert_array_equal(forest.take(np.array([t])).labels(X), expected)


def test_trees_without_training_error():
    """What ensembles that alter labels need: no price of thresholds, one row per branch, no pruning."""
    random = np.random.default_rng(0)
    options = {"min_samples_branch": 1, "penalize_thresholds": False, "prune": False, "collapse": False}
    for classes in (2, 3, 5):
        X, y = random.normal(size=(300, 5)), random.integers(0, classes, 300)
        assert C45Classifier(**options).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("criterion", "gini"),
        ("min_samples_branch", 0),
        ("min_samples_branch", math.inf),
        ("min_samples_branch", "2"),
        ("confidence", 0),
        ("confidence", 1.01),
        ("prune", "yes"),
        ("collapse", None),
        ("subtree_raising", 2),
        ("group_values", "no"),
        ("penalize_thresholds", "no"),
        ("max_depth", 0),
        ("max_depth", 1.5),
    ],
)
def test_wrong_parameters_are_named(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        C45Classifier(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


def test_scikit_learn_contract():
    check_estimator(C45Classifier(), on_skip=None)
    check_estimator(C45Classifier(criterion="gain", prune=False, min_samples_branch=1), on_skip=None)


def test_edges():
    one = C45Classifier().fit([[3.0, np.nan]], ["a"])
    assert one.predict([[0.0, 1.0], [np.nan, np.nan]]).tolist() == ["a", "a"]
    assert (one.get_depth(), one.get_n_leaves(), one.feature_importances_.tolist()) == (0, 1, [0.0, 0.0])
    missing = C45Classifier().fit(np.full((9, 2), np.nan), np.arange(9) % 2)
    np.testing.assert_allclose(missing.predict_proba([[1.0, 2.0]]), [[5 / 9, 4 / 9]])
    np.testing.assert_allclose(missing.predict_log_proba([[1.0, 2.0]]), np.log([[5 / 9, 4 / 9]]))
    low = np.nextafter(1.0, 0)
    near = C45Classifier(min_samples_branch=1, penalize_thresholds=False).fit([[low], [1.0]] * 4, [0, 1] * 4)
    assert near.predict([[low], [1.0]]).tolist() == [0, 1]
    huge = C45Classifier().fit([[-1.7e308], [1.7e308]] * 4, [0, 1] * 4)
    assert huge.predict([[-1.7e308], [1.7e308]]).tolist() == [0, 1]
    assert C45Classifier(max_depth=2**40).fit([[0.0], [1.0]] * 8, [0, 1] * 8).get_depth() == 1


def test_deep_trees():
    """Blocks of 25 rows, the least side of a cut: the best cut takes off an end, and the tree is a chain."""
    X = np.arange(5000.0)[:, None]
    y = np.arange(5000) // 25 % 2
    for prune in (False, True):
        model = C45Classifier(penalize_thresholds=False, prune=prune).fit(X, y)
        assert (model.get_depth(), model.get_n_leaves(), model.score(X, y)) == (199, 200, 1.0)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_unseen_categories_count_as_missing():
    X = pd.DataFrame({"colour": ["red", "green", "blue"] * 8})
    y = np.array(["r", "g", "b"] * 8)
    model = C45Classifier().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"colour": ["black", None]})), 1 / 3)
    grouped = C45Classifier(group_values=True).fit(X, ["warm", "cold", "cold"] * 8)
    assert grouped.get_n_leaves() == 2
    assert grouped.predict(X[:3]).tolist() == ["warm", "cold", "cold"]
