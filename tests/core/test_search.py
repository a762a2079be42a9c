"""All searches find the same tree: the sort of every column, the lanes, the lists and the histograms."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conjunto import _core

from ..forests import assert_same_trees

COLUMN = (1 << 29) - 1
SEARCHES = {"auto": _core.Search.automatic, "plain": _core.Search.no_vectors, "sorted": _core.Search.sorted}
STRUCTURE = ("threshold", "left", "right", "test")


def _grow(X, y, K, search="auto", weights=None, members=1, seed=0, **options):
    table = _core.Table(np.asarray(X, dtype=float), np.zeros(X.shape[1], dtype=np.uint32))
    grow = _core.GrowOptions()
    grow.classes = K
    grow.search = SEARCHES[search]
    grow.criterion = _core.Criterion.gini if K else _core.Criterion.variance
    # Far above any depth needed: a search that splits off nothing fails the test instead of filling the memory.
    grow.max_depth = 300
    for name, value in options.items():
        setattr(grow, name, _core.Criterion[value] if name == "criterion" else value)
    views = {"labels": np.asarray(y, np.int32)[None]} if K else {"targets": np.asarray(y, float)[None]}
    if weights is not None:
        views["small_weights" if weights.dtype == np.uint8 else "weights"] = np.ascontiguousarray(weights)
    return _core.grow(table, grow, 17, seed, _core.Views(np.arange(members, dtype=np.uint64), **views))


def _columns(rng, n, kind):
    if kind == "continuous":
        return rng.normal(size=(n, 9))
    if kind == "tied":
        return rng.integers(0, [2, 3, 5, 8, 20, 300], (n, 6)).astype(float)
    X = np.ones((n, 7))
    X[:, 1] = rng.random(n) < 3 / n
    X[:, 2] = rng.normal(size=n)
    X[:, 3] = np.where(rng.random(n) < 0.95, 0.0, rng.normal(size=n))
    X[0, 4] = 2.0
    X[:, 5] = X[:, 2] > 1
    return X


def _labels(rng, X, K, noise=0.2):
    score = X @ rng.normal(size=X.shape[1])
    y = np.argsort(np.argsort(score)) * K // len(X)
    return np.where(rng.random(len(X)) < noise, rng.integers(0, K, len(X)), y)


OPTIONS = [
    {},
    {"max_features": 2},
    {"min_rows_leaf": 5},
    {"min_weight_share_leaf": 0.01},
    {"criterion": "entropy"},
    {"max_features": 1, "min_rows_leaf": 3},
    {"max_leaves": 12},
    {"max_depth": 3, "max_features": 3},
]
_ids = {"ids": lambda options: "+".join(options) or "none"}


@pytest.mark.parametrize("options", OPTIONS, **_ids)
@pytest.mark.parametrize("kind", ["continuous", "tied", "nearly constant"])
@pytest.mark.parametrize("K", [2, 3, 5, 9, 30])
@pytest.mark.parametrize("n", [40, 300, 513, 3000])
def test_searches_agree_bit_for_bit(n, K, kind, options):
    rng = np.random.default_rng([n, K, len(kind)])
    X = _columns(rng, n, kind)
    y = _labels(rng, X, K)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=2).astype(np.uint8)
    weights[0] = 1
    reference = _grow(X, y, K, "sorted", weights, 2, **options)
    for search in ("auto", "plain"):
        assert_same_trees(_grow(X, y, K, search, weights, 2, **options), reference)


@pytest.mark.parametrize("kind", ["continuous", "tied", "nearly constant"])
@pytest.mark.parametrize("K", [2, 3, 5, 9, 30])
def test_searches_agree_on_20000_rows(K, kind):
    rng = np.random.default_rng([K, len(kind)])
    X = _columns(rng, 20000, kind)
    y = _labels(rng, X, K, noise=0.05)
    for options in ({"max_depth": 8}, {"max_features": 2, "criterion": "entropy", "max_depth": 8}):
        reference = _grow(X, y, K, "sorted", **options)
        for search in ("auto", "plain"):
            assert_same_trees(_grow(X, y, K, search, **options), reference)


def test_searches_agree_where_weights_do_not_fit_the_lists():
    """Weights above 63 and totals above 46340 leave the short ways one after the other."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 3, 400)
    for top in (64, 100, 255):
        weights = rng.integers(0, top + 1, (1, 400)).astype(np.uint8)
        weights[0, 0] = top
        for K in (2, 3):
            reference = _grow(X, y % K, K, "sorted", weights)
            for search in ("auto", "plain"):
                assert_same_trees(_grow(X, y % K, K, search, weights), reference)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize(
    "limit", [{"min_rows_leaf": 20}, {"min_rows_leaf": 45}, {"min_weight_share_leaf": 0.01}], **_ids
)
def test_least_size_cuts_a_bin_of_one_class(limit, K):
    """The best cut is forbidden by the limit, and the best allowed one lies inside a bin of one class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    place = np.argsort(np.argsort(X[:, 0]))
    y = np.where(place < 12, 0, 1 + rng.integers(0, K - 1, 3000) * (place > 200))
    auto, reference = (_grow(X, y, K, search, max_depth=1, **limit) for search in ("auto", "sorted"))
    assert reference.arrays()["test"][0] & COLUMN == 0
    assert_same_trees(auto, reference)


def _error(forest, X, y, w):
    return np.average((forest.values(X)[0] - y) ** 2, weights=w)


@pytest.mark.parametrize("options", [*OPTIONS[:4], {"max_leaves": 12}], **_ids)
@pytest.mark.parametrize("kind", ["continuous", "tied", "nearly constant"])
@pytest.mark.parametrize("n", [40, 300, 513, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_searches(n, kind, options, weighted):
    rng = np.random.default_rng([n, len(kind)])
    X = _columns(rng, n, kind)
    y = X @ rng.normal(size=X.shape[1]) + 0.3 * rng.normal(size=n)
    w = rng.uniform(0.1, 2, n) if weighted else np.ones(n)
    weights = w[None] if weighted else None
    auto, plain, reference = (_grow(X, y, 0, s, weights, **options) for s in ("auto", "plain", "sorted"))
    assert_same_trees(auto, plain)
    if "max_features" in options or "max_leaves" in options:
        # A tie decided by rounding changes the random numbers, or the order, of what follows: compare the root.
        a, b = auto.arrays(), reference.arrays()
        assert a["test"][0] == b["test"][0]
        assert a["threshold"][0] == b["threshold"][0]
        return
    assert auto.leaf_counts()[0] == pytest.approx(reference.leaf_counts()[0], rel=0.02, abs=1)
    assert _error(auto, X, y, w) == pytest.approx(_error(reference, X, y, w), rel=0.02, abs=1e-20)
    shallow = {**options, "max_depth": 3}
    auto, reference = (_grow(X, y, 0, s, weights, **shallow) for s in ("auto", "sorted"))
    for name in STRUCTURE:
        np.testing.assert_array_equal(auto.arrays()[name], reference.arrays()[name])
    np.testing.assert_allclose(auto.arrays()["leaf_value"], reference.arrays()["leaf_value"], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "options", [{}, {"min_rows_leaf": 5}, {"min_weight_share_leaf": 0.01}, {"criterion": "entropy"}], **_ids
)
@pytest.mark.parametrize("K", [2, 3, 9, 300])
@pytest.mark.parametrize("n", [300, 513, 3000])
def test_real_weights_searches(n, K, options):
    rng = np.random.default_rng([n, K])
    X = _columns(rng, n, "continuous")
    y = _labels(rng, X, K)
    w = rng.uniform(0.1, 2, (1, n))
    auto, plain, reference = (_grow(X, y, K, s, w, **options) for s in ("auto", "plain", "sorted"))
    assert_same_trees(auto, plain)
    assert auto.leaf_counts()[0] == pytest.approx(reference.leaf_counts()[0], rel=0.02)
    wrong, wrong_reference = (np.average(f.labels(X)[0] != y, weights=w[0]) for f in (auto, reference))
    assert wrong == pytest.approx(wrong_reference, abs=0.01)
    auto, reference = (_grow(X, y, K, s, w, **{**options, "max_depth": 2}) for s in ("auto", "sorted"))
    for name in STRUCTURE:
        np.testing.assert_array_equal(auto.arrays()[name], reference.arrays()[name])


@pytest.mark.parametrize("K", [0, 2, 3])
def test_rows_of_nearly_no_weight_do_not_decide_a_split(K):
    """Weights far below the rounding of the total, as boosting makes them, must not divide by zero."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 2))
        y = np.where(X[:, 0] > 0, 1, 0) ^ (rng.random(40) < 0.1)
        w = rng.uniform(0.5, 1, 40)
        w[[X[:, 1].argmin(), X[:, 1].argmax()]] = 1e-30
        for search in ("auto", "plain", "sorted"):
            leaf = _grow(X, y, K, search, w[None], max_depth=1).leaves(X)[:, 0]
            assert min(w[leaf == 0].sum(), w[leaf == 1].sum()) > 1e-3, (seed, search)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-100, 1e100, 1e155, 1e300])
def test_split_does_not_depend_on_the_unit_of_the_target(scale):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0) + 0.1 * rng.normal(size=200)
    unit, scaled = (_grow(X, y * s, 0, max_depth=2).arrays() for s in (1.0, scale))
    for name in STRUCTURE:
        np.testing.assert_array_equal(scaled[name], unit[name])


@pytest.mark.parametrize("K", [0, 2, 5])
def test_number_of_threads_does_not_matter(K):
    rng = np.random.default_rng(K)
    X = _columns(rng, 700, "continuous")
    y = _labels(rng, X, K) if K else X @ rng.normal(size=X.shape[1])
    weights = rng.multinomial(700, np.full(700, 1 / 700), size=15).astype(np.uint8)
    one = _grow(X, y, K, weights=weights, members=15, max_features=3)
    for threads in (2, 7):
        assert_same_trees(_grow(X, y, K, weights=weights, members=15, max_features=3, threads=threads), one)
    table = [_core.Table(X, np.zeros(9, dtype=np.uint32), threads) for threads in (1, 7)]
    options = _core.GrowOptions()
    options.classes = K
    options.criterion = _core.Criterion.gini if K else _core.Criterion.variance
    views = {"labels": y.astype(np.int32)[None]} if K else {"targets": y[None]}
    views = _core.Views(np.zeros(1, dtype=np.uint64), **views)
    a, b = (_core.grow(t, options, 1, 2, views) for t in table)
    assert_same_trees(a, b)


def test_a_member_depends_on_its_number_only():
    rng = np.random.default_rng(3)
    X, y = _columns(rng, 200, "tied"), rng.integers(0, 3, 200)
    many = _grow(X, y, 3, weights=np.ones((8, 200), dtype=np.uint8), members=8, max_features=2)
    few = _grow(X, y, 3, weights=np.ones((3, 200), dtype=np.uint8), members=3, max_features=2)
    assert_same_trees(many.take(np.arange(3)), few)
    # The members do differ, or the test above would say nothing.
    assert len(set(many.leaf_counts())) > 1


@st.composite
def _cases(draw):
    n = draw(st.integers(2, 60))
    m = draw(st.integers(1, 11))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, draw(st.sampled_from([2, 3, 10, 1000])), (n, m)).astype(float)
    K = draw(st.integers(2, 10))
    weights = rng.integers(0, draw(st.sampled_from([2, 5, 64, 256])), (2, n)).astype(np.uint8)
    weights[:, 0] += weights[:, 0] == 0
    options = {
        "max_features": draw(st.integers(1, m)),
        "min_rows_leaf": draw(st.sampled_from([1, 1, 2, 5])),
        "min_weight_share_leaf": draw(st.sampled_from([0.0, 0.0, 0.05, 0.3])),
        "criterion": draw(st.sampled_from(["gini", "entropy"])),
        "max_leaves": draw(st.sampled_from([0, 0, 4])),
    }
    return X, rng.integers(0, K, n), K, weights, options


@given(_cases())
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_searches_agree_on_anything_small(case):
    X, y, K, weights, options = case
    reference = _grow(X, y, K, "sorted", weights, 2, **options)
    for search in ("auto", "plain"):
        assert_same_trees(_grow(X, y, K, search, weights, 2, **options), reference)
    if options["min_rows_leaf"] == 1 and not options["min_weight_share_leaf"] and not options["max_leaves"]:
        # Grown until no split exists: a mixed leaf holds equal rows only.
        for member, w in enumerate(weights):
            inside = w > 0
            leaf = reference.leaves(X[inside])[:, member]
            for number in np.unique(leaf):
                rows = leaf == number
                assert len(set(y[inside][rows])) == 1 or (X[inside][rows] == X[inside][rows][0]).all()
