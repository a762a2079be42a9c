"""A C4.5 tree as an `TreeOutline`: every branch of a multiway test by its condition."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conjunto.learners.conditions import Condition, Interval, Subset
from conjunto.learners.outline import TreeOutline, TreeOutlineNode


def c45_outline(tree: Any) -> TreeOutline:
    """Describe a fitted C4.5 tree; a branch without training rows keeps its place."""
    check_is_fitted(tree, "forest_")
    arrays = tree.forest_.arrays()
    names = getattr(tree, "feature_names_in_", None)
    features = tuple(f"x{i}" for i in range(arrays["columns"])) if names is None else tuple(map(str, names))
    inner = len(arrays["threshold"])
    nodes = [_inner(arrays, i, inner, tree._columns.codes) for i in range(inner)]
    nodes += [_leaf(arrays, leaf) for leaf in range(len(arrays["leaf_label"]))]
    return TreeOutline(tuple(nodes), features, tuple(np.asarray(tree.classes_).tolist()), divides_missing=True)


def _inner(arrays: dict[str, Any], i: int, inner: int, codes: Any) -> TreeOutlineNode:
    column, first, count = (int(arrays[name][i]) for name in ("column", "first", "branches"))
    threshold = float(arrays["threshold"][i])
    branches: tuple[Condition, ...]
    if codes[column] is None:
        branches = (Interval(column, high=threshold), Interval(column, low=threshold))
    else:
        start = int(threshold)
        route = arrays["route"][start : start + int(arrays["categories"][column])]
        known = tuple(codes[column])
        branches = tuple(
            Subset(column, tuple(name for name in known if route[codes[column][name]] == branch), known)
            for branch in range(count)
        )
    children = (int(child) for child in arrays["child"][first : first + count])
    return TreeOutlineNode(branches, tuple(child if child >= 0 else inner + ~child for child in children))


def _leaf(arrays: dict[str, Any], leaf: int) -> TreeOutlineNode:
    label, k = int(arrays["leaf_label"][leaf]), int(arrays["classes"])
    if label >= 0:
        return TreeOutlineNode(label=label, shares=tuple(float(code == label) for code in range(k)))
    shares = arrays["shares"][~label * k : (~label + 1) * k]
    return TreeOutlineNode(label=int(arrays["share_label"][~label]), shares=tuple(map(float, shares)))
