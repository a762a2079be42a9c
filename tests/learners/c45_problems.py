"""Small problems for C4.5, and the comparison of a native tree with that of the oracle."""

from fractions import Fraction

import numpy as np

from conjunto import _core

from .c45_oracle import Settings

SWITCHES = ("gain_ratio", "mdl", "group_values", "prune", "raising", "collapse")


def draw_problem(random):
    """A small problem of numbers and categories, some missing; labels that depend on some columns and on chance."""
    n, m, classes = int(random.integers(4, 60)), int(random.integers(1, 5)), int(random.integers(2, 5))
    categories = np.where(random.random(m) < 0.5, random.integers(2, 7, m), 0).astype(np.uint32)
    X = np.empty((n, m))
    for c in range(m):
        numbers = random.integers(0, random.integers(2, 40), n) / 4
        X[:, c] = random.integers(0, categories[c], n) if categories[c] else numbers
    signal = X[:, 0] + (X[:, -1] > np.median(X[:, -1])) + random.normal(0, random.choice([0.1, 0.7]), n)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes)).astype(np.int32)
    if random.random() < 0.6:
        X[random.random((n, m)) < random.choice([0.05, 0.3])] = np.nan
    weights = {
        0: np.ones(n),
        1: random.integers(0, 4, n).astype(float),
        2: random.uniform(0.1, 3, n),
    }[int(random.integers(3))]
    weights[int(random.integers(n))] = 1
    return X, y, weights, categories, classes


def draw_settings(random, classes):
    chosen = {name: bool(random.random() < 0.6) for name in SWITCHES}
    least = Fraction(float(random.choice([0.5, 1, 2, 3.25])))
    depth = int(random.integers(1, 4)) if random.random() < 0.15 else None
    return Settings(classes, **chosen, least=least, confidence=float(random.choice([0.05, 0.25, 0.6])), max_depth=depth)


def grow(X, y, weights, categories, settings, *, small=False, threads=1):
    options = _core.C45Options()
    options.classes = settings.classes
    options.gain_ratio, options.mdl, options.group_values = settings.gain_ratio, settings.mdl, settings.group_values
    options.prune, options.raise_branches, options.collapse = settings.prune, settings.raising, settings.collapse
    options.min_objects, options.confidence = float(settings.least), settings.confidence
    if settings.max_depth is not None:
        options.max_depth = settings.max_depth
    options.threads = threads
    weights = np.atleast_2d(weights)
    members = np.arange(len(weights), dtype=np.uint64)
    chosen = {"small_weights": weights.astype(np.uint8)} if small else {"weights": weights.astype(float)}
    return _core.grow_c45(_core.Table(X, categories), options, _core.Views(members, labels=np.atleast_2d(y), **chosen))


FIELDS = (
    *("format", "columns", "classes", "categories", "threshold", "column", "first", "branches", "gain"),
    *("child", "share", "route", "leaf_label", "share_label", "shares"),
    *("node_start", "child_start", "route_start", "leaf_start", "share_start"),
)


def same_tree(forest, tree, at=None):
    """Whether the only tree of a forest is the oracle's."""
    f = forest.arrays()
    if at is None:
        at = 0 if len(f["column"]) else ~0
    if at < 0 or not tree.branches:
        if at >= 0 or tree.branches:
            return False
        label = f["leaf_label"][~at]
        if label >= 0:
            return label == tree.label and sum(count > 0 for count in tree.counts) < 2
        shares = f["shares"].reshape(-1, f["classes"])[~label]
        expected = [float(count / sum(tree.counts)) for count in tree.counts]
        return f["share_label"][~label] == tree.label and np.allclose(shares, expected, rtol=1e-9, atol=1e-12)
    if f["column"][at] != tree.column or f["branches"][at] != len(tree.branches):
        return False
    if tree.groups is None and f["threshold"][at] != tree.threshold:
        return False
    if tree.groups is not None:
        first = int(f["threshold"][at])
        route = f["route"][first : first + f["categories"][tree.column]]
        if [np.flatnonzero(route == b).tolist() for b in range(len(tree.groups))] != tree.groups:
            return False
    places = range(f["first"][at], f["first"][at] + f["branches"][at])
    if not np.allclose(f["share"][places], [float(share) for share in tree.shares], rtol=1e-9, atol=1e-12):
        return False
    return all(same_tree(forest, b, f["child"][place]) for b, place in zip(tree.branches, places, strict=True))
