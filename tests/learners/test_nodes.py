"""`tree_` against counts made by walking the rows down the tree, and against the `tree_` of scikit-learn's trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import CARTClassifier, CARTRegressor, IGPTreeClassifier
from conjunto.datasets import make_waveform

ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "value",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
)
CASES = pytest.mark.parametrize(
    ("criterion", "K"), [("gini", 2), ("gini", 4), ("entropy", 3), ("log_loss", 2), ("squared_error", 0)]
)
WEIGHTINGS = pytest.mark.parametrize("weighting", ["none", "whole", "real"])


def problem(K, weighting, missing, n=400, m=4):
    """Values that single precision holds, in which scikit-learn compares; no value twice."""
    rng = np.random.default_rng([K, n])
    X = rng.normal(size=(n, m)).astype(np.float32).astype(float)
    signal = X @ np.arange(1, m + 1) + 2 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    # Missing is informative in one column.
    X[(signal > np.quantile(signal, 0.8)) & (rng.random(n) < 2 * missing), 0] = np.nan
    y = np.argsort(np.argsort(signal)) * K // n if K else signal
    w = {
        "none": None,
        "whole": rng.integers(0, 4, n).astype(float),
        "eighths": rng.integers(1, 25, n) / 8,
        "real": rng.uniform(0.1, 3, n),
    }[weighting]
    return X, y, w


def ours(criterion, **limits):
    kind = CARTRegressor if criterion == "squared_error" else CARTClassifier
    return kind(criterion=criterion, random_state=0, **limits)


def impurity(y, w, criterion):
    """The criterion, by its definition."""
    if criterion == "squared_error":
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    share = np.bincount(y, w) / w.sum()
    share = share[share > 0]
    return 1 - (share**2).sum() if criterion == "gini" else -(share * np.log2(share)).sum()


def paths(nodes, X):
    """The nodes that each row passes, from the arrays alone."""
    found = np.zeros((len(X), nodes.node_count), dtype=bool)
    for passed, row in zip(found, X, strict=True):
        at = 0
        while True:
            passed[at] = True
            if nodes.children_left[at] < 0:
                break
            value = row[nodes.feature[at]]
            left = nodes.missing_go_to_left[at] if np.isnan(value) else value <= nodes.threshold[at]
            at = (nodes.children_left if left else nodes.children_right)[at]
    return found


def check(nodes, passed, y, w, criterion, K):
    """Every number of every node, counted anew from the training rows that pass it."""
    rows = w > 0
    passed, y, w = passed[rows], y[rows], w[rows]
    assert passed.any(axis=0).all()
    np.testing.assert_array_equal(nodes.n_node_samples, passed.sum(axis=0))
    # Weights of leaves are kept in single precision, in which whole numbers are exact; the others move a mean by that
    # part of the spread of what it is a mean of.
    exact = (w == np.rint(w)).all()
    close = {"rtol": 1e-11 if exact else 1e-6, "atol": 1e-12 if exact else 1e-7 * np.ptp(y)}
    np.testing.assert_allclose(nodes.weighted_n_node_samples, w @ passed, **close)
    for node, inside in enumerate(passed.T):
        if K:
            expected = np.bincount(y[inside], w[inside], minlength=K) / w[inside].sum()
        else:
            expected = [np.average(y[inside], weights=w[inside])]
        np.testing.assert_allclose(nodes.value[node, 0], expected, **close)
        np.testing.assert_allclose(nodes.impurity[node], impurity(y[inside], w[inside], criterion), **close)


LIMITS = [
    {},
    {"max_depth": 4},
    {"min_samples_leaf": 12},
    {"max_leaf_nodes": 17},
    {"ccp_alpha": 0.01},
    {"max_features": 2},
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits) or "none")
@pytest.mark.parametrize("missing", [0.0, 0.2])
@WEIGHTINGS
@CASES
def test_every_node_is_what_its_rows_are(criterion, K, weighting, missing, limits):
    X, y, w = problem(K, weighting, missing)
    model = ours(criterion, **limits).fit(X, y, w)
    nodes = model.tree_
    assert model.tree_ is nodes
    assert (nodes.node_count, nodes.n_leaves) == (2 * model.get_n_leaves() - 1, model.get_n_leaves())
    assert nodes.node_count > 10
    assert nodes.max_depth == model.get_depth()
    assert (nodes.n_features, nodes.n_outputs, nodes.max_n_classes) == (4, 1, max(K, 1))
    passed = paths(nodes, X)
    check(nodes, passed, y, np.ones(len(X)) if w is None else w, criterion, K)
    # A row ends in the last node that it passes: a child has a higher number than its parent.
    leaf = passed.shape[1] - 1 - passed[:, ::-1].argmax(axis=1)
    assert (nodes.children_left[leaf] == -1).all()
    for told in (model.apply(X), nodes.apply(X)):
        assert told.dtype == np.int64
        np.testing.assert_array_equal(told, leaf)
    for told in (model.decision_path(X), nodes.decision_path(X)):
        np.testing.assert_array_equal(told.toarray(), passed)
    said = model.predict_proba(X) if K else model.predict(X)[:, None]
    np.testing.assert_array_equal(nodes.predict(X), said)


@CASES
def test_numbers_go_down_the_left_branch_first(criterion, K):
    X, y, _ = problem(K, "none", 0.0)
    nodes = ours(criterion).fit(X, y).tree_

    def walk(at):
        yield at
        if nodes.children_left[at] >= 0:
            yield from walk(nodes.children_left[at])
            yield from walk(nodes.children_right[at])

    assert list(walk(0)) == list(range(nodes.node_count))
    leaves = nodes.children_left < 0
    np.testing.assert_array_equal(leaves, nodes.children_right < 0)
    assert (nodes.feature[leaves] == -2).all()
    assert (nodes.threshold[leaves] == -2).all()
    assert (nodes.feature[~leaves] >= 0).all()


@CASES
@WEIGHTINGS
def test_importances_are_weighted_decreases(criterion, K, weighting):
    X, y, w = problem(K, weighting, 0.1)
    nodes = ours(criterion, max_depth=5).fit(X, y, w).tree_
    parts = nodes.weighted_n_node_samples * nodes.impurity
    expected = np.zeros(4)
    for at in np.flatnonzero(nodes.children_left >= 0):
        expected[nodes.feature[at]] += parts[at] - parts[nodes.children_left[at]] - parts[nodes.children_right[at]]
    expected /= nodes.weighted_n_node_samples[0]
    # The gain of a node is kept in single precision.
    np.testing.assert_allclose(nodes.compute_feature_importances(normalize=False), expected, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(nodes.compute_feature_importances(), expected / expected.sum(), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("limits", [{"min_samples_leaf": 20}, {"max_depth": 3}], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    ("criterion", "K", "weighting"),
    [
        ("gini", 2, "eighths"),
        ("gini", 4, "eighths"),
        ("entropy", 3, "eighths"),
        ("log_loss", 2, "eighths"),
        ("squared_error", 0, "none"),
        ("squared_error", 0, "eighths"),
        ("squared_error", 0, "real"),
    ],
)
def test_the_nodes_are_those_of_scikit_learn(criterion, K, weighting, missing, limits):
    """Counts of classes tie: these have weights, whose sums are exact, or scikit-learn would split pure nodes."""
    X, y, w = problem(K, weighting, missing)
    kind = DecisionTreeClassifier if K else DecisionTreeRegressor
    theirs = kind(criterion=criterion, random_state=0, **limits).fit(X, y, sample_weight=w)
    model = ours(criterion, **limits).fit(X, y, w)
    nodes, known = model.tree_, theirs.tree_
    assert (nodes.node_count, nodes.n_leaves, nodes.max_depth) == (known.node_count, known.n_leaves, known.max_depth)
    assert nodes.node_count > 10
    expected = {name: getattr(known, name) for name in ARRAYS}
    if w is not None:
        # Where training has nothing missing, a missing value goes to the heavier side; scikit-learn counts rows.
        inner = np.flatnonzero(nodes.children_left >= 0)
        passed = paths(nodes, X)
        side = expected["missing_go_to_left"].copy()
        for at in inner:
            if not np.isnan(X[passed[:, at], nodes.feature[at]]).any():
                left, right = (
                    w[passed[:, children[at]]].sum() for children in (nodes.children_left, nodes.children_right)
                )
                side[at] = left > right
        expected["missing_go_to_left"] = side
    for name, other in expected.items():
        mine = getattr(nodes, name)
        assert mine.shape == other.shape
        assert mine.dtype == other.dtype
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-7 * np.ptp(y), err_msg=name)
        else:
            np.testing.assert_array_equal(mine, other, err_msg=name)
    np.testing.assert_array_equal(model.apply(X), theirs.apply(X))
    np.testing.assert_array_equal(model.decision_path(X).toarray(), theirs.decision_path(X).toarray())
    for normalize in (True, False):
        np.testing.assert_allclose(
            nodes.compute_feature_importances(normalize), known.compute_feature_importances(normalize), rtol=1e-5
        )


@pytest.mark.parametrize("exponent", [-190, -100, 100, 190])
@CASES
def test_units_of_weights_and_targets_do_not_matter(criterion, K, exponent):
    """Single precision holds neither of such sizes. Powers of two: rounding is the same, also where cuts tie."""
    X, y, w = problem(K, "real", 0.1)
    scale = 2.0**exponent
    plain = ours(criterion, max_depth=4).fit(X, y, w).tree_
    heavy = ours(criterion, max_depth=4).fit(X, y, w * scale).tree_
    for name in ("children_left", "feature", "n_node_samples"):
        np.testing.assert_array_equal(getattr(heavy, name), getattr(plain, name), err_msg=name)
    np.testing.assert_allclose(heavy.weighted_n_node_samples, plain.weighted_n_node_samples * scale, rtol=1e-6)
    np.testing.assert_allclose(heavy.value, plain.value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(heavy.impurity, plain.impurity, rtol=1e-6, atol=1e-12)
    if not K:
        wide = ours(criterion, max_depth=4).fit(X, y * scale, w).tree_
        np.testing.assert_array_equal(wide.children_left, plain.children_left)
        np.testing.assert_allclose(wide.value, plain.value * scale, rtol=1e-9)
        np.testing.assert_allclose(wide.impurity, plain.impurity * scale * scale, rtol=1e-9)


@pytest.mark.parametrize("exponent", [-1000, -300, -230, 230, 300, 1000])
@CASES
def test_extreme_weights_grow_the_same_tree(criterion, K, exponent):
    """Only ratios of weights matter, whatever their products overflow to."""
    X, y, w = problem(K, "eighths", 0.1)
    plain = ours(criterion, min_samples_leaf=20).fit(X, y, w).tree_
    heavy = ours(criterion, min_samples_leaf=20).fit(X, y, w * 2.0**exponent).tree_
    for name in ("children_left", "feature", "threshold", "n_node_samples"):
        np.testing.assert_array_equal(getattr(heavy, name), getattr(plain, name), err_msg=name)
    ratios = plain.weighted_n_node_samples / plain.weighted_n_node_samples[0]
    np.testing.assert_allclose(heavy.weighted_n_node_samples / heavy.weighted_n_node_samples[0], ratios, rtol=1e-6)
    np.testing.assert_allclose(heavy.impurity, plain.impurity, rtol=1e-6, atol=1e-12)


def test_categories_and_combinations():
    """What one number cannot say is NaN or -3; rows are told by `apply` and counted all the same."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(list("uvwxyz"), 300), "b": rng.normal(size=300)})
    y = (X["a"].isin(["u", "w"]) ^ (X["b"] > 0) ^ (rng.random(300) < 0.1)).to_numpy().astype(int)
    for model in (
        CARTClassifier(max_depth=4).fit(X, y),
        CARTClassifier(combination_features=2, max_depth=4, random_state=0).fit(X, y),
        CARTClassifier(splits="oblique", max_depth=3).fit(make_waveform(300, random_state=0)[0], y),
    ):
        rows = X if model.n_features_in_ == 2 else make_waveform(300, random_state=0)[0]
        nodes, inner = model.tree_, model.tree_.children_left >= 0
        several, sets = nodes.feature == -3, np.isnan(nodes.threshold)
        assert (several | sets).any()
        assert not (several | sets)[~inner].any()
        assert (nodes.feature[sets] == 0).all()
        passed = model.decision_path(rows).toarray().astype(bool)
        check(nodes, passed, y, np.ones(300), "gini", 2)
        np.testing.assert_array_equal(passed[np.arange(300), model.apply(rows)], True)
        np.testing.assert_array_equal(
            passed[:, inner], passed[:, nodes.children_left[inner]] ^ passed[:, nodes.children_right[inner]]
        )


def test_trees_that_are_grown_and_pruned_in_turn():
    """Both halves of the rows count in the nodes of an IGP tree."""
    X, y = make_waveform(300, random_state=0)
    model = IGPTreeClassifier(random_state=0).fit(X, y)
    assert model.tree_.n_leaves > 3
    check(model.tree_, paths(model.tree_, X), y, np.ones(300), "gini", 3)


def test_reduced_errors_leave_the_nodes_of_the_training_rows():
    X, y = make_waveform(400, random_state=0)
    model = CARTClassifier(prune="reduced-error", random_state=0).fit(X[:250], y[:250], X_val=X[250:], y_val=y[250:])
    assert 3 < model.tree_.n_leaves < CARTClassifier(random_state=0).fit(X[:250], y[:250]).get_n_leaves()
    check(model.tree_, paths(model.tree_, X[:250]), y[:250], np.ones(250), "gini", 3)


def test_one_leaf():
    nodes = CARTRegressor().fit([[1.0], [1.0]], [3.0, 5.0], [1.0, 3.0]).tree_
    assert (nodes.node_count, nodes.n_leaves, nodes.max_depth) == (1, 1, 0)
    assert (nodes.value[0, 0, 0], nodes.impurity[0], nodes.n_node_samples[0]) == (4.5, 0.75, 2)
    assert nodes.apply([[0.0], [9.0]]).tolist() == [0, 0]
    assert nodes.decision_path([[0.0]]).toarray().tolist() == [[1]]
    assert nodes.compute_feature_importances(normalize=False).tolist() == [0.0]


def test_nodes_are_read_only_and_those_of_the_last_fit():
    X, y = make_waveform(100, random_state=0)
    model = CARTClassifier(random_state=0)
    assert not hasattr(model, "tree_")
    first = model.fit(X, y).tree_
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(first, name)[0] = 1
    with pytest.raises(AttributeError):
        model.tree_ = first
    second = model.set_params(max_depth=1).fit(X, y).tree_
    assert second.node_count == 3 < first.node_count
