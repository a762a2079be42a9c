"""Criteria of one and of several targets: against all cuts by hand, and node for node against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import mean_poisson_deviance
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import CARTClassifier, CARTRegressor, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from .criterion_oracle import check_tree, weighted_median

CLASSES = ("gini", "entropy", "misclassification")
VALUES = ("squared_error", "absolute_error", "poisson")
BAD = "criterion must be one of"


def _small_problem(seed, criterion, targets):
    """Few values, ties, missing values, weights that are 0, whole or real."""
    rng = np.random.default_rng([seed, targets])
    n, m = int(rng.integers(2, 26)), int(rng.integers(1, 4))
    X = rng.integers(0, 5, (n, m)) / 2 if seed % 2 else rng.normal(size=(n, m))
    if seed % 3 == 0:
        X[rng.random((n, m)) < 0.2] = np.nan
    if criterion in CLASSES:
        Y = np.stack([rng.integers(0, k, n) for k in (2, 3, 4)[:targets]], axis=1)
        # Every class is there, so that codes are labels.
        Y = np.stack([np.unique(y, return_inverse=True)[1] for y in Y.T], axis=1)
    else:
        Y = rng.integers(0, 4, (n, targets)) * 1.0 if seed % 5 == 0 else rng.exponential(size=(n, targets))
        Y[0] += 1
    w = (np.ones(n), rng.integers(0, 4, n) * 1.0, rng.uniform(0.1, 2, n))[seed % 3]
    w[0] = 1
    return X, Y, w


@pytest.mark.parametrize("targets", [1, 2, 3])
@pytest.mark.parametrize("criterion", [*CLASSES, *VALUES])
def test_every_node_takes_a_best_cut(criterion, targets):
    for seed in range(30):
        X, Y, w = _small_problem(seed, criterion, targets)
        learner = (CARTClassifier if criterion in CLASSES else CARTRegressor)(criterion=criterion)
        tree = learner.fit(X, Y[:, 0] if targets == 1 else Y, sample_weight=w)
        check_tree(tree, X, Y, w, criterion)


def _tie_free(criterion, targets, n=300):
    rng = np.random.default_rng(7)
    X = np.stack([rng.permutation(n) for _ in range(5)], axis=1) / 8.0
    signal = X @ rng.normal(size=(5, targets)) / 60 + rng.normal(size=(n, targets))
    if criterion in VALUES:
        return X, np.exp(signal / 3) if criterion == "poisson" else signal
    cuts = [np.quantile(signal[:, o], np.arange(1, k) / k) for o, k in enumerate((2, 3, 4)[:targets])]
    return X, np.stack([np.searchsorted(cut, signal[:, o]) for o, cut in enumerate(cuts)], axis=1)


@pytest.mark.parametrize(
    ("criterion", "weighted"),
    [("squared_error", False), ("poisson", False), *((c, True) for c in ("gini", "entropy", *VALUES))],
)
@pytest.mark.parametrize("targets", [1, 3])
def test_nodes_are_those_of_scikit_learn(criterion, targets, weighted):
    """Counts and medians tie, with real weights not; no node is pure, which scikit-learn may split by rounding."""
    X, Y = _tie_free(criterion, targets)
    Y = Y[:, 0] if targets == 1 else Y
    w = np.random.default_rng(0).uniform(0.5, 1.5, len(X)) if weighted else None
    ours, theirs = (
        (CARTRegressor, DecisionTreeRegressor) if criterion in VALUES else (CARTClassifier, DecisionTreeClassifier)
    )
    # Nodes of few rows have cuts that are equally good; scikit-learn draws among them.
    limits = {"criterion": criterion, "min_samples_leaf": 16, "random_state": 0}
    mine, there = ours(**limits).fit(X, Y, sample_weight=w), theirs(**limits).fit(X, Y, sample_weight=w)
    for name in ("children_left", "children_right", "feature", "threshold", "n_node_samples"):
        np.testing.assert_array_equal(getattr(mine.tree_, name), getattr(there.tree_, name), err_msg=name)
    np.testing.assert_allclose(mine.tree_.value, there.tree_.value, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(mine.tree_.impurity, there.tree_.impurity, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(mine.predict(X), there.predict(X), rtol=1e-12)
    np.testing.assert_allclose(mine.feature_importances_, there.feature_importances_, rtol=1e-5)
    assert mine.n_outputs_ == there.n_outputs_ == targets
    if criterion not in VALUES:
        np.testing.assert_array_equal(mine.n_classes_, there.n_classes_)
        for p, q in zip(_listed(mine.predict_proba(X)), _listed(there.predict_proba(X)), strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-9)


def _listed(probabilities):
    return probabilities if isinstance(probabilities, list) else [probabilities]


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", "squared_error"])
@pytest.mark.parametrize("targets", [1, 2])
def test_sparse_and_dense_rows_make_the_same_tree(criterion, targets):
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, (200, 8)) * (rng.random((200, 8)) < 0.3) * 1.0
    X[rng.random(X.shape) < 0.02] = np.nan
    Y = rng.integers(0, 6, (200, targets)) * 1.0
    Y = Y[:, 0] if targets == 1 else Y
    dense, sparse = (CARTRegressor(criterion=criterion, random_state=0).fit(rows, Y) for rows in (X, csr_matrix(X)))
    for name, values in dense.forest_.arrays().items():
        np.testing.assert_array_equal(values, sparse.forest_.arrays()[name], err_msg=name)


def test_the_weighted_median_of_a_leaf():
    """Of weights that halve exactly the middle; of others the target at which half is passed."""
    y = np.array([1.0, 2.0, 4.0, 9.0])
    X = np.zeros((4, 1))
    for w in ([1, 1, 1, 1], [1, 2, 1, 0], [3, 1, 1, 1], [0.5, 0.25, 0.1, 0.15], [1, 0, 0, 1]):
        said = CARTRegressor(criterion="absolute_error").fit(X, y, sample_weight=w).predict(X[:1])
        assert said == weighted_median(y[np.array(w) > 0], np.array(w, dtype=float)[np.array(w) > 0])


def test_outliers_move_means_and_not_medians():
    """The reason for the criterion: a tenth of the targets is spoilt, and forests of medians hardly mind."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 3))
    y = np.sin(6 * X[:, 0])
    spoilt = y.copy()
    spoilt[rng.random(600) < 0.1] += 1000
    error = {}
    for criterion in ("squared_error", "absolute_error"):
        forest = RandomForestRegressor(30, criterion=criterion, min_samples_leaf=30, random_state=0).fit(X, spoilt)
        error[criterion] = np.abs(forest.predict(X) - y).mean()
    assert error["absolute_error"] < 0.5
    assert error["squared_error"] > 50


def test_counts_are_predicted_better_by_their_own_deviance():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 3))
    rate = np.exp(4 * X[:, 0] - 4) * (1 + (X[:, 1] > 0.5))
    y, fresh = rng.poisson(rate), rng.poisson(rate)
    deviance = {}
    for criterion in ("squared_error", "poisson"):
        tree = CARTRegressor(criterion=criterion, max_leaf_nodes=24).fit(X, y)
        deviance[criterion] = mean_poisson_deviance(fresh, np.maximum(tree.predict(X), 1e-6))
        assert criterion == "squared_error" or tree.predict(X).min() > 0
    assert deviance["poisson"] < deviance["squared_error"]


def test_misclassification_falls_back_on_gini():
    """No cut lowers the error rate here, and Gini still finds the one that parts the classes best."""
    X = np.arange(12.0)[:, None]
    y = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1])
    tree = CARTClassifier(criterion="misclassification", max_depth=1).fit(X, y)
    assert tree.tree_.threshold[0] == 8.5
    assert tree.tree_.impurity[0] == pytest.approx(2 / 12)


@pytest.mark.parametrize("criterion", [*CLASSES, *VALUES])
@pytest.mark.parametrize("targets", [1, 2])
def test_categories_and_missing_values_are_learned(criterion, targets):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"c": rng.choice([*"abcdef"], 120), "x": rng.integers(0, 4, 120) * 1.0})
    frame.loc[::7, "c"] = None
    frame.loc[::11, "x"] = np.nan
    # An answer for every combination of what rows hold.
    key = frame["c"].map({c: i for i, c in enumerate("abcdef")}).fillna(6) * 5 + frame["x"].fillna(4)
    answers = np.random.default_rng(1).integers(1, 4, (35, 2))[key.astype(int)]
    y = answers[:, 0] if targets == 1 else answers
    tree = (CARTClassifier if criterion in CLASSES else CARTRegressor)(criterion=criterion).fit(frame, y)
    np.testing.assert_array_equal(tree.predict(frame), y)
    unseen = pd.DataFrame({"c": ["z"], "x": [1.0]})
    assert np.isin(tree.predict(unseen), [1, 2, 3]).all()


def test_text_labels_of_several_targets():
    X, Y = _tie_free("gini", 3)
    names = [np.array(["no", "yes"]), np.array(["x", "y", "z"]), np.array([10, 20, 30, 40]).astype(str)]
    named = np.stack([names[o][Y[:, o]] for o in range(3)], axis=1)
    tree = CARTClassifier().fit(X, named)
    np.testing.assert_array_equal(tree.predict(X), named)
    assert [list(each) for each in tree.classes_] == [list(each) for each in names]
    # Rows of one column are one target, with scikit-learn's warning.
    with pytest.warns(Warning, match="column-vector"):
        alone = CARTClassifier().fit(X, named[:, :1])
    assert alone.predict(X).shape == (300,)


def test_multilabel_and_class_weight():
    X, Y = make_multilabel_classification(200, random_state=0)
    ours = CARTClassifier(class_weight="balanced", min_samples_leaf=10).fit(X, Y)
    theirs = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=10).fit(X, Y)
    np.testing.assert_allclose(
        ours.tree_.weighted_n_node_samples[0], theirs.tree_.weighted_n_node_samples[0], rtol=1e-6
    )
    np.testing.assert_allclose(ours.tree_.value[0], theirs.tree_.value[0], atol=1e-6)
    by_list = CARTClassifier(class_weight=[{0: 1, 1: 2}] * Y.shape[1], min_samples_leaf=10).fit(X, Y)
    assert by_list.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (CARTRegressor(criterion="poisson"), [-1.0, 2, 3, 4], "Some value.s. of y are negative"),
        (CARTRegressor(criterion="poisson"), [0.0, 0, 0, 0], "Sum of y is not positive"),
        (CARTRegressor(criterion="poisson"), [[1.0, 0]] * 4, "Sum of y is not positive"),
        (CARTRegressor(criterion="median"), [1.0, 2, 3, 4], BAD),
        (CARTRegressor(criterion="absolute_error", splits="oblique"), [1.0, 2, 3, 4], "does not go with criterion"),
        (CARTRegressor(criterion="absolute_error", prune="cv"), [1.0, 2, 3, 4], "prune by impurity, with ccp_alpha"),
        (CARTRegressor(prune=0.1), [[1.0, 2]] * 4, "does not go with several targets"),
        (CARTClassifier(), [["a", None]] * 4, "y contains a missing label"),
        (CARTClassifier(), [[0.5, 1.5]] * 4, "Unknown label type"),
    ],
)
def test_refusals(model, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(8.0).reshape(4, 2), np.array(y))


@pytest.mark.parametrize("criterion", VALUES)
def test_pruning_by_impurity_is_scikit_learns(criterion):
    X, Y = _tie_free(criterion, 2)
    w = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    given = {"criterion": criterion, "min_samples_leaf": 8, "random_state": 0}
    for y in (Y[:, 0], Y):
        alphas = DecisionTreeRegressor(**given).cost_complexity_pruning_path(X, y, sample_weight=w).ccp_alphas
        assert len(alphas) > 9
        for alpha in alphas[[3, len(alphas) // 2, -2]] * 1.0001:
            ours = CARTRegressor(**given, ccp_alpha=alpha).fit(X, y, sample_weight=w)
            theirs = DecisionTreeRegressor(**given, ccp_alpha=alpha).fit(X, y, sample_weight=w)
            assert ours.get_n_leaves() == theirs.get_n_leaves()
            np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_random_cuts_and_random_columns_take_every_criterion():
    X, Y = _tie_free("squared_error", 2)
    for criterion in VALUES:
        y = np.abs(Y)
        for forest in (RandomForestRegressor, ExtraTreesRegressor):
            model = forest(40, criterion=criterion, random_state=0).fit(X, y)
            assert model.predict(X).shape == y.shape
            assert model.score(X, y) > 0.5
    for criterion in CLASSES:
        labels = (Y > 0).astype(int)
        assert RandomForestClassifier(20, criterion=criterion, random_state=0).fit(X, labels).score(X, labels) > 0.9
