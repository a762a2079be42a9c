"""Weakest links against scikit-learn (impurity as the risk) and against the enumeration of all prunings (errors)."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import CARTClassifier, CARTRegressor
from conjunto.datasets import load, make_waveform

from .tree_oracle import critical_alphas, read_tree, risks, smallest_best


def single(X):
    """Numbers that single precision holds: scikit-learn's trees see no others."""
    return np.asarray(X, dtype=np.float32).astype(float)


def normal_data(classes, n=150, m=1, seed=0):
    random = np.random.default_rng([seed, classes])
    X = single(random.normal(size=(n, m)))
    noisy = np.sin(2 * X[:, 0]) + X.sum(axis=1) + random.normal(size=n)
    if not classes:
        return X, noisy
    return X, np.searchsorted(np.quantile(noisy, np.arange(1, classes) / classes), noisy)


# Small nodes stay whole, small parts are not cut off: two columns often part few rows alike, and either may be taken.
SKLEARN = {
    "waveform": lambda: (*make_waveform(600, random_state=0), {"min_samples_leaf": 15}),
    "sonar": lambda: (load("sonar").X.to_numpy(), load("sonar").y.to_numpy(), {"min_samples_leaf": 12}),
    "one column, 2 classes": lambda: (*normal_data(2), {}),
    "one column, 4 classes": lambda: (*normal_data(4), {}),
    "five columns": lambda: (*normal_data(3, 300, 5), {"min_samples_split": 40}),
    "one column, regression": lambda: (*normal_data(0), {}),
    "five columns, regression": lambda: (*normal_data(0, 300, 5), {"min_samples_split": 30}),
}


def models(data, criterion, weighting):
    X, y, limits = SKLEARN[data]()
    X = single(X)
    # Eighths add up exactly; with other weights scikit-learn's rounding makes it split pure nodes.
    weights = None if weighting == "none" else np.random.default_rng(1).integers(4, 17, len(y)) / 8
    regression = "regression" in data
    ours = CARTRegressor if regression else CARTClassifier
    theirs = DecisionTreeRegressor if regression else DecisionTreeClassifier
    criterion = "squared_error" if regression else criterion

    def mine(**more):
        return ours(criterion=criterion, pruning_risk="impurity", random_state=0, **limits, **more)

    return X, y, weights, mine, lambda **more: theirs(criterion=criterion, random_state=0, **limits, **more)


CASES = [(d, c, w) for d in SKLEARN for c in ("gini", "entropy") for w in ("none", "eighths")]
CASES = [case for case in CASES if not ("regression" in case[0] and case[1] == "entropy")]
# Equal rows of several columns tie too often in counts of classes.
CASES = [case for case in CASES if case[2] == "eighths" or "one column" in case[0] or "regression" in case[0]]


@pytest.mark.parametrize(("data", "criterion", "weighting"), CASES)
def test_the_path_is_that_of_scikit_learn(data, criterion, weighting):
    X, y, weights, ours, theirs = models(data, criterion, weighting)
    random = np.random.default_rng(0)
    fresh = single(X[random.integers(0, len(X), 500)] * random.uniform(0.5, 1.5, (500, X.shape[1])))
    whole, other = ours().fit(X, y, weights), theirs().fit(X, y, weights)
    assert whole.get_n_leaves() == other.get_n_leaves()
    # Shares, for classes: on a tie a leaf has its parent's class here, the first one there.
    answer = "predict" if isinstance(whole, CARTRegressor) else "predict_proba"
    same(getattr(whole, answer)(fresh), getattr(other, answer)(fresh), "grown trees differ before pruning")
    path = ours().cost_complexity_pruning_path(X, y, weights)
    known = theirs().cost_complexity_pruning_path(X, y, weights)
    # scikit-learn has an entry for every cut: the last of equal alphas is the tree of that alpha.
    last = np.append(np.diff(known.ccp_alphas) > 1e-10, True)
    np.testing.assert_allclose(path.ccp_alphas, known.ccp_alphas[last], rtol=0, atol=1e-10)
    np.testing.assert_allclose(path.impurities, known.impurities[last], rtol=1e-9, atol=1e-10)
    assert len(path.ccp_alphas) > 3
    alphas = path.ccp_alphas
    for alpha in [*(alphas * (1 + 1e-9) + 1e-13), *(alphas[1:] * (1 - 1e-9)), *(alphas[1:] + alphas[:-1]) / 2]:
        pruned, expected = ours(prune=alpha).fit(X, y, weights), theirs(ccp_alpha=alpha).fit(X, y, weights)
        assert pruned.get_n_leaves() == expected.get_n_leaves()
        same(getattr(pruned, answer)(fresh), getattr(expected, answer)(fresh), f"alpha {alpha}")


def same(ours, theirs, message):
    if ours.dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=message)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=message)


def small_problem(seed, classes, weighting):
    """Few rows, tied values, and weights (and targets) whose sums are exact."""
    random = np.random.default_rng([seed, classes])
    n = int(random.integers(2, 31))
    X = np.round(random.normal(size=(n, 3)), int(random.integers(0, 3)))
    y = random.integers(0, classes, n) if classes else random.integers(-4, 5, n).astype(float)
    weights = {
        "none": None,
        "whole": random.integers(1, 5, n).astype(float),
        "eighths": random.integers(1, 17, n) / 8,
    }[weighting]
    return X, y, weights


@pytest.mark.parametrize("weighting", ["none", "whole", "eighths"])
@pytest.mark.parametrize("classes", [0, 2, 3, 4])
def test_the_pruned_tree_is_the_smallest_of_the_best(classes, weighting):
    steps = 0
    for seed in range(40):
        X, y, weights = small_problem(seed, classes, weighting)
        make = CARTClassifier if classes else CARTRegressor
        limits = {"random_state": 0, "max_leaf_nodes": 8}
        codes = np.unique(y, return_inverse=True)[1] if classes else y
        labels = np.unique(y)
        tree = read_tree(make(**limits).fit(X, y, weights), X, codes, weights, len(labels) if classes else 0)
        prunings = risks(tree)
        alphas = critical_alphas(prunings)
        path = make(prune=0.0, **limits).cost_complexity_pruning_path(X, y, weights)
        np.testing.assert_allclose(path.ccp_alphas, [float(alpha) for alpha in alphas], rtol=1e-11, atol=1e-15)
        between = [(a + b) / 2 for a, b in pairwise([*alphas, 2 * alphas[-1] + 1])]
        fresh = np.random.default_rng(seed).normal(size=(60, 3))
        for alpha in [Fraction(0), *between, *map(Fraction, np.random.default_rng(seed).random(3) / len(y))]:
            (leaves,) = smallest_best(prunings, alpha)
            model = make(prune=float(alpha), **limits).fit(X, y, weights)
            assert model.get_n_leaves() == len(leaves)
            said = tree.say(fresh, leaves)
            same(model.predict(fresh), labels[said.astype(int)] if classes else said, f"seed {seed}, alpha {alpha}")
        for alpha, leaves, risk in zip(between, path.leaves, path.impurities, strict=True):
            (best,) = smallest_best(prunings, alpha)
            assert leaves == len(best)
            assert risk == pytest.approx(float(sum(leaf.loss for leaf in best) / sum(tree.w)), rel=1e-11, abs=1e-14)
        steps += len(alphas) - 1
    assert steps > 40


PATHS = {
    "classes": lambda: (CARTClassifier, make_waveform(400, random_state=3)),
    "many ties": lambda: (CARTClassifier, (np.round(make_waveform(400, random_state=3)[0]), np.arange(400) % 5)),
    "targets": lambda: (CARTRegressor, normal_data(0, 400, 3)),
    "few targets": lambda: (CARTRegressor, (normal_data(0, 400, 3)[0], np.arange(400.0) % 3)),
}


@pytest.mark.parametrize("risk", ["error", "impurity"])
@pytest.mark.parametrize("data", PATHS)
def test_the_trees_of_a_path_are_nested(data, risk):
    make, (X, y) = PATHS[data]()
    model = make(prune=0.0, pruning_risk=risk, random_state=0).fit(X, y)
    path = model.cost_complexity_path_
    alphas, leaves = path["ccp_alphas"], path["leaves"]
    assert alphas[0] == 0
    assert (np.diff(alphas) > 0).all()
    assert (np.diff(leaves) < 0).all()
    assert (np.diff(path["risks"]) > 0).all()
    assert leaves[-1] == 1
    # Each cut saves alpha per leaf.
    np.testing.assert_allclose(np.diff(path["risks"]), -alphas[1:] * np.diff(leaves), rtol=1e-7, atol=1e-12)
    assert make(random_state=0).fit(X, y).get_n_leaves() >= leaves[0]
    finer = None
    for place in np.unique(np.linspace(0, len(alphas) - 1, 25).astype(int)):
        tree = make(prune=alphas[place], pruning_risk=risk, random_state=0).fit(X, y)
        assert tree.cost_complexity_path_["chosen"] == place
        assert tree.get_n_leaves() == leaves[place]
        coarser = tree.apply(X)
        if finer is not None:
            # Nested: a leaf of the larger tree lies inside one leaf of the smaller.
            assert len(np.unique(np.stack([finer, coarser], axis=1), axis=0)) == len(np.unique(finer))
        finer = coarser


@pytest.mark.parametrize("risk", ["error", "impurity"])
def test_the_path_is_the_same_whatever_prune_is(risk):
    X, y = make_waveform(200, random_state=0)
    paths = [
        CARTClassifier(prune=prune, pruning_risk=risk, random_state=0).cost_complexity_pruning_path(X, y)
        for prune in (0.0, 0.01, "cv", "reduced-error")
    ]
    for path in paths[1:]:
        np.testing.assert_array_equal(path.ccp_alphas, paths[0].ccp_alphas)
        np.testing.assert_array_equal(path.leaves, paths[0].leaves)


@pytest.mark.parametrize("risk", ["error", "impurity"])
@pytest.mark.parametrize("ccp_alpha", [0.0, 0.02])
def test_without_prune_the_path_is_that_of_ccp_alpha(risk, ccp_alpha):
    """By impurity, whatever the risk of `prune` is: the alphas are those at which trees of `ccp_alpha` change."""
    X, y = make_waveform(200, random_state=0)
    tree = CARTClassifier(pruning_risk=risk, ccp_alpha=ccp_alpha, random_state=0)
    path = tree.cost_complexity_pruning_path(X, y)
    by_impurity = CARTClassifier(prune=0.0, pruning_risk="impurity", random_state=0).fit(X, y).cost_complexity_path_
    np.testing.assert_array_equal(path.ccp_alphas, by_impurity["ccp_alphas"])
    np.testing.assert_array_equal(path.impurities, by_impurity["risks"])
    for alpha, leaves, impurity in zip(path.ccp_alphas[1:], path.leaves[1:], path.impurities[1:], strict=True):
        pruned = CARTClassifier(ccp_alpha=alpha * (1 + 1e-9), pruning_risk=risk, random_state=0).fit(X, y)
        assert pruned.get_n_leaves() == leaves
        shares = pruned.predict_proba(X)
        assert (1 - (shares**2).sum(axis=1)).mean() == pytest.approx(impurity, rel=1e-9)


def test_a_scale_of_the_targets_is_a_scale_of_alpha():
    X, y = normal_data(0, 200, 2)
    base = CARTRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    for exponent in (-200, -30, 40, 300):
        scaled = CARTRegressor(random_state=0).cost_complexity_pruning_path(X, y * 2.0**exponent)
        np.testing.assert_array_equal(scaled.leaves, base.leaves)
        np.testing.assert_allclose(scaled.ccp_alphas, base.ccp_alphas * 4.0**exponent, rtol=1e-9)


def test_a_path_of_one_tree():
    for X, y in ((np.zeros((6, 2)), [0, 1] * 3), (np.arange(6.0)[:, None], [1] * 6)):
        model = CARTClassifier(prune="cv").fit(X, y)
        assert model.cost_complexity_path_["leaves"].tolist() == [1]
        assert model.get_n_leaves() == 1
