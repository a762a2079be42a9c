"""Criteria by their definitions, and the best split of a node by trying all of them.

Targets are (n, targets): what several targets lose is the mean over them.
"""

import numpy as np


def weighted_median(y, w):
    """The target below and above which at most half of the weight lies; between two of them, their middle."""
    order = np.argsort(y, kind="stable")
    y, share = y[order], np.cumsum(w[order])
    at = np.flatnonzero(2 * share >= share[-1])[0]
    if 2 * share[at] == share[-1]:
        heavier = np.flatnonzero(share > share[at])
        return y[at] if not len(heavier) else (y[at] + y[heavier[0]]) / 2
    return y[at]


def _of_one(y, w, criterion):
    if criterion in ("gini", "entropy", "misclassification"):
        share = np.bincount(np.unique(y, return_inverse=True)[1], w) / w.sum()
        share = share[share > 0]
        return {
            "gini": 1 - (share**2).sum(),
            "entropy": -(share * np.log2(share)).sum(),
            "misclassification": 1 - share.max(),
        }[criterion]
    if criterion == "absolute_error":
        return np.average(np.abs(y - weighted_median(y, w)), weights=w)
    mean = np.average(y, weights=w)
    if criterion == "squared_error":
        return np.average((y - mean) ** 2, weights=w)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.average(np.where(y > 0, y * np.log(y / mean), 0.0), weights=w)


def impurity(Y, w, criterion):
    return np.mean([_of_one(y, w, criterion) for y in Y.T])


def decrease(Y, w, left, criterion):
    """How much less impure the two sides are; None where the criterion does not allow the cut."""
    if criterion == "poisson" and any((Y[side] * w[side, None]).sum(axis=0).min() <= 0 for side in (left, ~left)):
        return None
    parts = sum(w[side].sum() / w.sum() * impurity(Y[side], w[side], criterion) for side in (left, ~left))
    return impurity(Y, w, criterion) - parts


def all_cuts(x):
    """The left side of every cut of a column, with missing values on either side, and of known against missing."""
    known = ~np.isnan(x)
    for value in np.unique(x[known])[:-1]:
        yield known & (x <= value)
        if not known.all():
            yield ~known | (x <= value)
    if known.any() and not known.all():
        yield known


def best_decrease(X, Y, w, criterion):
    """The largest decrease, or None where there is no cut."""
    found = [decrease(Y, w, left, criterion) for x in X.T for left in all_cuts(x)]
    return max((each for each in found if each is not None), default=None)


def leaf_values(Y, w, criterion):
    """What a leaf answers in regression."""
    middle = weighted_median if criterion == "absolute_error" else lambda y, w: np.average(y, weights=w)
    return np.array([middle(y, w) for y in Y.T])


def check_tree(tree, X, Y, w, criterion):
    """Every node of a fully grown tree takes a best cut, every leaf has none, and what `tree_` tells is so."""
    nodes = tree.tree_
    places = [(0, np.flatnonzero(w > 0))]
    scale = max(impurity(Y, w, criterion), 1e-300)
    while places:
        node, rows = places.pop()
        x, y, v = X[rows], Y[rows], w[rows]
        best = best_decrease(x, y, v, criterion)
        assert nodes.n_node_samples[node] == len(rows)
        np.testing.assert_allclose(nodes.weighted_n_node_samples[node], v.sum(), rtol=1e-6)
        np.testing.assert_allclose(nodes.impurity[node], impurity(y, v, criterion), rtol=1e-5, atol=1e-6 * scale)
        if tree.tree_.max_n_classes == 1:
            # Means of inner nodes are made of weights in single precision.
            near = 1e-12 if nodes.children_left[node] < 0 else 1e-6
            np.testing.assert_allclose(nodes.value[node, :, 0], leaf_values(y, v, criterion), rtol=near, atol=near)
        else:
            shares = [[v[y[:, o] == k].sum() / v.sum() for k in range(nodes.max_n_classes)] for o in range(y.shape[1])]
            np.testing.assert_allclose(nodes.value[node], shares, atol=1e-6)
        if nodes.children_left[node] < 0:
            assert best is None or (y == y[0]).all()
            continue
        column, threshold = x[:, nodes.feature[node]], nodes.threshold[node]
        left = np.where(np.isnan(column), nodes.missing_go_to_left[node] > 0, column <= threshold)
        np.testing.assert_allclose(decrease(y, v, left, criterion), best, rtol=1e-9, atol=1e-9 * scale)
        places += [(nodes.children_left[node], rows[left]), (nodes.children_right[node], rows[~left])]
