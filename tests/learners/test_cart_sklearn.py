"""The truth is scikit-learn's tree: node for node the same, wherever one split alone is the best."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import CARTClassifier, CARTRegressor

from ..forests import assert_same_trees

COLUMN = (1 << 29) - 1


def _distinct_columns(rng, n, m):
    """Every column is a permutation of n well separated numbers, exact in single precision."""
    return np.stack([rng.permutation(n) for _ in range(m)], axis=1) / 8.0


def _problem(task, weighting, n=400, m=6, seed=0):
    rng = np.random.default_rng([seed, n, task])
    X = _distinct_columns(rng, n, m)
    signal = X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] / X.max()
    if task == 0:
        y = signal + 0.2 * signal.std() * rng.normal(size=n)
    else:
        noisy = signal + 0.3 * signal.std() * rng.normal(size=n)
        y = np.searchsorted(np.quantile(noisy, np.arange(1, task) / task), noisy)
    w = {"none": None, "integer": rng.integers(0, 5, n).astype(float), "float": rng.uniform(0.1, 3, n)}[weighting]
    return X, y, w


def _impurity(y, w, criterion):
    if criterion == "squared_error":
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    share = np.bincount(y, w) / w.sum()
    share = share[share > 0]
    return 1 - (share**2).sum() if criterion == "gini" else -(share * np.log2(share)).sum()


def _decrease(y, w, left, criterion):
    parts = sum(w[side].sum() / w.sum() * _impurity(y[side], w[side], criterion) for side in (left, ~left))
    return _impurity(y, w, criterion) - parts


def _compare(ours, theirs, X, y, w, criterion):
    """Walk both trees together; returns the row-weighted share of nodes compared and whether a tie was met."""
    names = ("threshold", "left", "right", "test", "gain", "leaf_label", "leaf_value", "shares")
    threshold, left, right, test, gain, leaf_label, leaf_value, shares = map(ours.forest_.arrays().get, names)
    tree = theirs.tree_
    w = np.ones(len(X)) if w is None else w
    compared = ties = 0
    unit = None
    stack = [(0 if len(left) else ~0, 0, np.flatnonzero(w > 0))]
    while stack:
        here, there, rows = stack.pop()
        compared += len(rows)
        assert tree.n_node_samples[there] == len(rows)
        if here < 0 and (y[rows] == y[rows[0]]).all():
            # Rounding makes scikit-learn split some nodes of one class whose weights are not whole numbers.
            ties += tree.children_left[there] >= 0
            assert ours.predict(X[rows[:1]])[0] == pytest.approx(y[rows[0]], rel=1e-12)
            continue
        assert (here < 0) == (tree.children_left[there] < 0)
        if here < 0:
            if criterion == "squared_error":
                assert leaf_value[~here] == pytest.approx(tree.value[there, 0, 0], rel=1e-12, abs=1e-12)
                continue
            label = leaf_label[~here]
            mine = np.eye(tree.max_n_classes)[label] if label >= 0 else shares.reshape(-1, tree.max_n_classes)[~label]
            np.testing.assert_allclose(mine, tree.value[there, 0], rtol=1e-12, atol=1e-12)
            continue
        goes = X[rows, test[here] & COLUMN] <= threshold[here]
        goes_there = X[rows, tree.feature[there]] <= tree.threshold[there]
        mine = _decrease(y[rows], w[rows], goes, criterion)
        # Gains are in a unit of the tree's own: the root's gain tells which.
        unit = unit or mine * w[rows].sum() / gain[here]
        assert gain[here] * unit == pytest.approx(mine * w[rows].sum(), rel=1e-4, abs=1e-7 * unit)
        if test[here] & COLUMN != tree.feature[there] or threshold[here] != tree.threshold[there]:
            other = _decrease(y[rows], w[rows], goes_there, criterion)
            assert mine == pytest.approx(other, rel=1e-11, abs=1e-13), "not a tie: one of the two splits is better"
            ties += 1
            if not np.array_equal(goes, goes_there):
                if np.array_equal(goes, ~goes_there):
                    stack += [
                        (left[here], tree.children_right[there], rows[goes]),
                        (right[here], tree.children_left[there], rows[~goes]),
                    ]
                continue
        stack += [
            (left[here], tree.children_left[there], rows[goes]),
            (right[here], tree.children_right[there], rows[~goes]),
        ]
    return compared / tree.n_node_samples.sum(), ties


def _fit_both(X, y, w, task, criterion, **limits):
    ours = (CARTClassifier if task else CARTRegressor)(criterion=criterion, random_state=0, **limits).fit(X, y, w)
    make = DecisionTreeClassifier if task else DecisionTreeRegressor
    return ours, make(criterion=criterion, random_state=0, **limits).fit(X, y, sample_weight=w)


LIMITS = [
    {},
    {"max_depth": 4},
    {"min_samples_leaf": 7},
    {"min_samples_split": 30},
    {"max_leaf_nodes": 15},
    {"min_impurity_decrease": 0.004},
    {"min_weight_fraction_leaf": 0.03},
    {"max_depth": 9, "min_samples_leaf": 3, "min_samples_split": 10},
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits) or "none")
@pytest.mark.parametrize("weighting", ["none", "integer", "float"])
@pytest.mark.parametrize(
    ("task", "criterion"),
    [(2, "gini"), (2, "entropy"), (3, "gini"), (3, "entropy"), (7, "gini"), (7, "entropy"), (0, "squared_error")],
)
def test_same_tree(task, criterion, weighting, limits):
    X, y, w = _problem(task, weighting)
    ours, theirs = _fit_both(X, y, w, task, criterion, **limits)
    share, ties = _compare(ours, theirs, X, y, w, criterion)
    assert share > 0.9
    if ties:
        return
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    fresh = np.random.default_rng(1).integers(0, 400, (500, 6)) / 8.0 + 1 / 32
    predict = "predict_proba" if task else "predict"
    np.testing.assert_allclose(getattr(ours, predict)(fresh), getattr(theirs, predict)(fresh), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("weighting", ["none", "integer", "float"])
@pytest.mark.parametrize(
    ("task", "criterion"), [(2, "gini"), (3, "gini"), (7, "entropy"), (7, "gini"), (0, "squared_error")]
)
def test_same_tree_where_nodes_are_large(task, criterion, weighting):
    """Above 512 rows the histogram search works; its answer must be the exact one."""
    X, y, w = _problem(task, weighting, n=6000)
    for limits in ({"max_depth": 6}, {"min_samples_leaf": 60}, {"min_weight_fraction_leaf": 0.02}):
        ours, theirs = _fit_both(X, y, w, task, criterion, **limits)
        share, ties = _compare(ours, theirs, X, y, w, criterion)
        assert share > 0.97
        if not ties:
            assert ours.get_n_leaves() == theirs.get_n_leaves()
            assert ours.get_depth() == theirs.get_depth()


@pytest.mark.parametrize("seed", range(4))
def test_some_trees_meet_no_tie(seed):
    """The comparisons behind `if not ties` above must happen: regression trees of large leaves have no ties."""
    X, y, w = _problem(0, "float", seed=seed)
    ours, theirs = _fit_both(X, y, w, 0, "squared_error", min_samples_leaf=5)
    assert _compare(ours, theirs, X, y, w, "squared_error") == (1.0, 0)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def test_integer_weights_count_as_copies():
    X, y, w = _problem(3, "integer")
    copies = np.repeat(np.arange(len(X)), w.astype(int))
    weighted = CARTClassifier(random_state=0).fit(X, y, w)
    repeated = CARTClassifier(random_state=0).fit(X[copies], y[copies])
    # What counts rows tells a row of weight 2 from two rows.
    assert_same_trees(weighted.forest_, repeated.forest_, except_for={"leaf_rows"})
    for model, rows in ((weighted, X[w > 0]), (repeated, X[copies])):
        np.testing.assert_array_equal(
            model.forest_.arrays()["leaf_rows"], np.bincount(model.forest_.leaves(rows)[:, 0])
        )


@pytest.mark.parametrize("task", [0, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_missing_values_root_split_and_predictions(task, seed):
    """scikit-learn too tries missing values on both sides: the root decrease and its parts are the same."""
    rng = np.random.default_rng(seed)
    X, y, _ = _problem(task, "none", n=200, m=4, seed=seed)
    X[rng.random(X.shape) < 0.25] = np.nan
    # Missing is informative in one column, so both sides get chosen over the seeds.
    informative = y > np.quantile(y, 0.7) if task == 0 else y == seed % task
    X[informative & (rng.random(len(X)) < 0.7), 0] = np.nan
    criterion = "gini" if task else "squared_error"
    ours, theirs = _fit_both(X, y, None, task, criterion, max_depth=1)
    mine, other = ours.apply(X) == 1, theirs.apply(X) == 1
    ones = np.ones(len(X))
    ours_decrease, their_decrease = (_decrease(y, ones, side, criterion) for side in (mine, other))
    assert ours_decrease == pytest.approx(their_decrease, rel=1e-11)
    assert np.array_equal(mine, other) or np.array_equal(mine, ~other)
    predict = "predict_proba" if task else "predict"
    np.testing.assert_allclose(getattr(ours, predict)(X), getattr(theirs, predict)(X), rtol=1e-11)


def test_missing_only_in_prediction_follows_the_larger_side():
    """As in scikit-learn: a value missing where training had none goes with the most rows, on a tie to the right."""
    X = np.arange(10.0)[:, None]
    for cut, label in ((3, 1), (7, 0), (5, 1)):
        y = (X[:, 0] >= cut).astype(int)
        for model in (CARTClassifier(), DecisionTreeClassifier()):
            assert model.fit(X, y).predict([[np.nan]]) == [label]
