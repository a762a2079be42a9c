"""The truth is every possible split of a few rows, tried one by one in Python."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conjunto import CARTClassifier, CARTRegressor


def _impurity(y, w, criterion):
    if criterion == "squared_error":
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    share = np.bincount(y, w) / w.sum()
    share = share[share > 0]
    return 1 - (share**2).sum() if criterion == "gini" else -(share * np.log2(share)).sum()


def _decrease(y, w, left, criterion):
    sides = sum(w[side].sum() * _impurity(y[side], w[side], criterion) for side in (left, ~left))
    return _impurity(y, w, criterion) - sides / w.sum()


def _partitions(column, categorical):
    """All the ways a test on the column can divide the rows."""
    missing = np.isnan(column)
    values = np.unique(column[~missing])
    if categorical:
        groups = [column == value for value in values] + ([missing] if missing.any() else [])
        for size in range(1, len(groups)):
            for chosen in combinations(groups, size):
                yield np.any(chosen, axis=0)
        return
    for value in values:
        for missing_left in {False, bool(missing.any())}:
            left = (column <= value) | (missing & missing_left)
            if left.any() and not left.all():
                yield left


@st.composite
def _problems(draw):
    n, m, K = draw(st.integers(1, 12)), draw(st.integers(1, 3)), draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    categorical = [draw(st.booleans()) for _ in range(m)]
    X = rng.integers(0, draw(st.sampled_from([2, 4, 6])), (n, m)).astype(float)
    X[rng.random((n, m)) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    y = rng.integers(0, max(K, 4), n) if K else rng.integers(-20, 20, n) / 4
    y = y % K if K else y
    w = draw(st.sampled_from(["none", "integer", "real"]))
    w = {"none": np.ones(n), "integer": rng.integers(0, 4, n).astype(float), "real": rng.uniform(0.05, 4, n)}[w]
    w[0] = max(w[0], 1.0)
    criterion = draw(st.sampled_from(["gini", "entropy"])) if K else "squared_error"
    limits = {
        "min_samples_leaf": draw(st.sampled_from([1, 1, 1, 2, 3])),
        "min_weight_fraction_leaf": draw(st.sampled_from([0.0, 0.0, 0.21])),
    }
    return X, y, w, categorical, criterion, limits


@given(_problems())
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
def test_root_split_is_the_best_of_all(problem):
    X, y, w, categorical, criterion, limits = problem
    frame = pd.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    for j, is_category in enumerate(categorical):
        if is_category:
            frame[f"x{j}"] = frame[f"x{j}"].astype("category")
    make = CARTRegressor if criterion == "squared_error" else CARTClassifier
    leaf = make(criterion=criterion, max_depth=1, random_state=0, **limits).fit(frame, y, w).apply(frame)

    inside = w > 0
    X, y, w, leaf = X[inside], y[inside], w[inside], leaf[inside]

    def allowed(left):
        rows = min(left.sum(), (~left).sum())
        weight = min(w[left].sum(), w[~left].sum())
        return rows >= limits["min_samples_leaf"] and weight >= limits["min_weight_fraction_leaf"] * w.sum() - 1e-12

    splits = [
        left
        for column, kind in zip(X.T, categorical, strict=True)
        for left in _partitions(column, kind)
        if allowed(left)
    ]
    if not splits or len(np.unique(y)) == 1:
        assert len(np.unique(leaf)) == 1
        return
    assert len(np.unique(leaf)) == 2
    # The root is node 0, its children are 1 and 2.
    assert any(np.array_equal(leaf == 1, left) or np.array_equal(leaf == 2, left) for left in splits)
    best = max(_decrease(y, w, left, criterion) for left in splits)
    assert _decrease(y, w, leaf == 1, criterion) == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("K", [0, 2])
def test_best_subset_of_many_categories(K):
    """Two classes or a regression: the ordered search equals all 2^9 subsets."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = np.append(np.arange(10), rng.integers(0, 10, 50)).astype(float)
        y = rng.integers(0, K, 60) if K else rng.normal(size=60)
        criterion = "gini" if K else "squared_error"
        frame = pd.DataFrame({"x": pd.Categorical(codes)})
        leaf = (CARTClassifier if K else CARTRegressor)(max_depth=1).fit(frame, y).apply(frame)
        subsets = np.array([[subset >> code & 1 for code in range(10)] for subset in range(1, 2**9)], dtype=bool)
        best = max(_decrease(y, np.ones(60), left[codes.astype(int)], criterion) for left in subsets)
        assert _decrease(y, np.ones(60), leaf == 1, criterion) == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_more_classes_and_many_categories_split_well(seed):
    """Above ten categories a heuristic works: it must find a subset that makes a class pure where there is one."""
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(30), rng.integers(0, 30, 300))
    y = np.where(codes % 3 == 0, 0, rng.integers(1, 3, 330))
    frame = pd.DataFrame({"x": pd.Categorical(codes)})
    model = CARTClassifier(max_depth=1).fit(frame, y)
    left = model.apply(frame) == 1
    assert set(map(tuple, {(bool(a), bool(b)) for a, b in zip(left, y == 0, strict=True)})) in (
        {(True, True), (False, False)},
        {(True, False), (False, True)},
    )
