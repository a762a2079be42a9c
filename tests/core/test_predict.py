"""The truth is a plain walk through `arrays()`, node by node; every fast way to predict must equal it."""

import pickle

import numpy as np
import pytest

from conjunto import _core

from ..forests import assert_same_trees

CATEGORY, COMBINATION, MISSING_LEFT = 1 << 31, 1 << 30, 1 << 29


class _Walk:
    """Predictions from the arrays of a forest: rows flow down from each node, which comes before its children."""

    def __init__(self, forest, X):
        vars(self).update(forest.arrays())
        self.K = self.classes
        self.shares = self.shares.reshape(-1, self.K) if self.K else None
        self.X = X
        self.leaves = np.stack([self._tree(t) for t in range(len(forest))], axis=1)

    def _in_set(self, column, offset, values):
        """1 in the set, 0 not, NaN for a value that is no category."""
        known = (values >= 0) & (values < self.categories[column])
        code = np.where(known, values, 0).astype(int)
        inside = (self.sets[offset + code // 32] >> (code % 32).astype(np.uint32)) & 1
        return np.where(known, inside, np.nan)

    def _goes_left(self, node, rows):
        test = int(self.test[node])
        index, missing = test & (MISSING_LEFT - 1), bool(test & MISSING_LEFT)
        if test & COMBINATION:
            value = np.zeros(len(rows))
            for t in range(self.term_start[index], self.term_start[index + 1]):
                x = self.X[rows, self.term_column[t]]
                if self.term_set[t] >= 0:
                    x = self._in_set(self.term_column[t], self.term_set[t], x)
                value += self.term_coefficient[t] * x
        elif test & CATEGORY:
            inside = self._in_set(index, int(self.threshold[node]), self.X[rows, index])
            return np.where(np.isnan(inside), missing, inside == 1)
        else:
            value = self.X[rows, index]
        return np.where(np.isnan(value), missing, value <= self.threshold[node])

    def _tree(self, t):
        first, end = int(self.node_start[t]), int(self.node_start[t + 1])
        leaf = np.zeros(len(self.X), dtype=int)
        waiting = {0: np.arange(len(self.X))}
        for node in range(end - first):
            rows = waiting.pop(node)
            goes = self._goes_left(first + node, rows)
            for child, side in ((self.left[first + node], goes), (self.right[first + node], ~goes)):
                if child < 0:
                    leaf[rows[side]] = ~child
                else:
                    waiting[int(child)] = rows[side]
        return leaf

    def _everywhere(self):
        return self.leaves.T + self.leaf_start[:-1].astype(int)[:, None]

    def labels(self):
        label = self.leaf_label[self._everywhere()]
        shared = np.append(self.share_label, -1)[np.where(label < 0, ~label, -1)]
        return np.where(label >= 0, label, shared)

    def vote_counts(self):
        return (self.labels()[:, :, None] == np.arange(self.K)).sum(axis=0).astype(float)

    def share_sums(self):
        label = self.leaf_label[self._everywhere()]
        total = np.zeros((len(self.X), self.K))
        for row in label:
            pure = np.eye(self.K)[np.maximum(row, 0)]
            mixed = self.shares[np.where(row < 0, ~row, 0)] if len(self.shares) else pure
            total += np.where((row < 0)[:, None], mixed, pure)
        return total

    def values(self):
        return self.leaf_value[self._everywhere()]

    def value_sums(self):
        total = np.zeros(len(self.X))
        for row in self.values():
            total += row
        return total


def _check(forest, X, threads=(1, 2, 7)):
    walk = _Walk(forest, X)
    names = ("vote_counts", "share_sums", "labels") if walk.K else ("values", "value_sums")
    expected = {name: getattr(walk, name)() for name in names} | {"leaves": walk.leaves}
    for count in threads:
        for name, value in expected.items():
            np.testing.assert_array_equal(getattr(forest, name)(X, count), value, err_msg=f"{name}, {count} threads")


def _grow(X, y, K, members, categories=None, seed=0, **options):
    categories = np.zeros(X.shape[1], dtype=np.uint32) if categories is None else categories
    grow = _core.GrowOptions()
    grow.classes = K
    grow.criterion = _core.Criterion.gini if K else _core.Criterion.variance
    for name, value in options.items():
        setattr(grow, name, value)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(X), np.full(len(X), 1 / len(X)), size=members).astype(np.uint8)
    y = y if y.ndim == 2 else y[None]
    views = {"labels": y.astype(np.int32)} if K else {"targets": y.astype(float)}
    table = _core.Table(X, categories)
    views = _core.Views(np.arange(members, dtype=np.uint64), small_weights=weights, **views)
    return _core.grow(table, grow, 1, seed, views)


def _data(K, n, missing=0.0, seed=0):
    rng = np.random.default_rng([K, n, seed])
    X = rng.normal(size=(n, 5)).round(2)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    if K:
        y = np.argsort(np.argsort(y)) * K // n
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


ROWS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 255, 256, 257, 1000, 4096, 4097, 9001]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("K", [0, 2, 3, 16, 17, 30])
@pytest.mark.parametrize("options", [{"max_depth": 5}, {"min_rows_leaf": 25}, {}], ids=["small", "mixed", "deep"])
def test_numbers(K, rows, options):
    X, y = _data(K, 2000)
    forest = _grow(X, y, K, 11, max_features=3, **options)
    # The size that decides between evaluating whole trees and walking down them.
    assert (forest.arrays()["threshold"].size <= 160 * 11) == bool(options)
    fresh = np.random.default_rng(rows).normal(size=(rows, 5)).round(2)
    # Values equal to a threshold are where <= and < differ.
    fresh[: min(rows, 50)] = X[: min(rows, 50)]
    _check(forest, fresh, (1, 2, 7) if rows > 250 else (1, 3))


@pytest.mark.parametrize("rows", [1, 5, 8, 300, 4097])
@pytest.mark.parametrize("K", [0, 2, 5])
@pytest.mark.parametrize("trained_missing", [0.0, 0.2])
def test_missing_values(K, rows, trained_missing):
    X, y = _data(K, 500, trained_missing)
    forest = _grow(X, y, K, 9, max_features=2)
    fresh, _ = _data(K, rows, 0.3, seed=1)
    fresh[0, 0] = np.nan
    _check(forest, fresh)
    _check(forest, np.nan_to_num(fresh))


@pytest.mark.parametrize("rows", [1, 7, 8, 300, 4500])
@pytest.mark.parametrize("K", [0, 2, 4])
@pytest.mark.parametrize("combination", [0, 3])
def test_categories_and_combinations(K, rows, combination):
    rng = np.random.default_rng([K, rows])
    counts = np.array([0, 3, 0, 40, 256], dtype=np.uint32)

    def draw(n, extra):
        X = rng.normal(size=(n, 5))
        for column in (1, 3, 4):
            X[:, column] = rng.integers(0, counts[column] + extra, n)
        X[rng.random(X.shape) < 0.1] = np.nan
        return X

    X = draw(500, 0)
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 3] % 3)
    y = np.argsort(np.argsort(y)) * K // 500 if K else y
    forest = _grow(X, y, K, 6, counts, combination=combination, max_features=3)
    kinds = forest.arrays()["test"] & (CATEGORY | COMBINATION)
    assert (kinds == (COMBINATION if combination else CATEGORY)).any()
    # Codes that do not exist count as missing.
    _check(forest, draw(rows, 5))


@pytest.mark.parametrize("K", [0, 3, 20])
@pytest.mark.parametrize("rows", [1, 8, 300, 5000])
def test_combinations_of_numbers(K, rows):
    X, y = _data(K, 400)
    forest = _grow(X, y, K, 5, combination=2, max_features=2)
    _check(forest, _data(K, rows, seed=3)[0])


@pytest.mark.parametrize("rows", [1, 3, 8, 300])
def test_trees_of_a_single_leaf(rows):
    """Some members see one class only; the others split."""
    X, y = _data(3, 200)
    labels = np.stack([np.full(200, 2), y, np.zeros(200), y, y, y, y, y, y, np.ones(200)])
    forest = _grow(X, labels, 3, 10, max_depth=3)
    assert sorted(set(forest.leaf_counts()))[0] == 1
    _check(forest, _data(3, rows, seed=2)[0])


def _chains(trees, length, thresholds):
    """A forest made by hand: each tree tests column 0 against `length` rising thresholds."""
    nodes, leaves = trees * length, trees * (length + 1)
    left = np.tile(~np.arange(length, dtype=np.int32), trees)
    right = np.tile(np.append(np.arange(1, length), ~length).astype(np.int32), trees)
    none = {"leaf_value": float, "shares": float, "share_label": np.int32, "sets": np.uint32, "term_set": np.int32}
    none |= {"term_coefficient": float, "term_column": np.uint32, "leaf_impurity": float}
    none |= {"outputs": np.uint32, "output_label": np.int32, "inner_value": float}
    return _core.Forest(
        {
            "format": _core.Forest.FORMAT,
            "columns": 1,
            "classes": 2,
            "categories": np.zeros(1, np.uint32),
            "threshold": thresholds.reshape(-1).astype(float),
            "left": left,
            "right": right,
            "test": np.zeros(nodes, np.uint32),
            "gain": np.zeros(nodes, np.float32),
            "node_start": np.arange(trees + 1, dtype=np.uint64) * np.uint64(length),
            "leaf_start": np.arange(trees + 1, dtype=np.uint64) * np.uint64(length + 1),
            "leaf_label": (np.arange(leaves) % 2).astype(np.int32),
            "leaf_rows": np.ones(leaves, np.uint32),
            "leaf_weight": np.ones(leaves, np.float32),
            "weight_unit": np.ones(trees),
            "target_unit": np.ones(trees),
            "term_start": np.zeros(1, np.uint32),
            **{name: np.zeros(0, kind) for name, kind in none.items()},
        }
    )


@pytest.mark.parametrize("trees", [436, 437, 600])
def test_around_65535_thresholds_in_a_column(trees):
    """Sixteen bits number the thresholds of small trees; 437 x 150 are too many for them."""
    thresholds = np.sort(np.random.default_rng(0).permutation(trees * 150).reshape(trees, 150), axis=1)
    forest = _chains(trees, 150, thresholds)
    X = np.concatenate([np.arange(140), np.linspace(-2, trees * 150 + 2, 140).round()])[:, None]
    expected = (thresholds[None] < X[:, :, None]).sum(axis=2)
    np.testing.assert_array_equal(forest.leaves(X), expected)
    label = (np.arange(trees) * 151 + expected) % 2
    np.testing.assert_array_equal(forest.vote_counts(X)[:, 1], label.sum(axis=1))


@pytest.mark.parametrize("trees", [65535, 65536])
def test_more_trees_than_sixteen_bits_count(trees):
    forest = _chains(trees, 1, np.zeros(trees))
    X = np.linspace(-1, 1, 256)[:, None]
    # Leaf 0 of tree t has label 0, leaf 1 label 1: all trees agree.
    votes = forest.vote_counts(X)
    np.testing.assert_array_equal(votes[:, 1], np.where(X[:, 0] > 0, trees, 0))
    np.testing.assert_array_equal(votes.sum(axis=1), trees)


@pytest.mark.parametrize("K", [0, 3])
def test_take_append_and_pickle_keep_predictions(K):
    rng = np.random.default_rng(K)
    counts = np.array([0, 6, 0, 0, 40], dtype=np.uint32)
    X, y = _data(K, 300)
    X[:, 1], X[:, 4] = rng.integers(0, 6, 300), rng.integers(0, 40, 300)
    name = "labels" if K else "values"
    for combination in (0, 2):
        forest = _grow(X, y, K, 7, counts, combination=combination, max_features=2, min_rows_leaf=4)
        whole = getattr(forest, name)(X)
        members = np.array([6, 0, 3, 3])
        taken = forest.take(members)
        np.testing.assert_array_equal(getattr(taken, name)(X), whole[members])
        taken.append(forest)
        np.testing.assert_array_equal(getattr(taken, name)(X), np.concatenate([whole[members], whole]))
        _check(taken, X)
        copy = pickle.loads(pickle.dumps(taken))
        assert_same_trees(copy, taken)


def test_wrong_questions_are_refused():
    X, y = _data(2, 50)
    forest = _grow(X, y, 2, 1)
    with pytest.raises(ValueError, match="columns"):
        forest.labels(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="no values"):
        forest.value_sums(X)
    with pytest.raises(ValueError, match="no classes"):
        _grow(X, y, 0, 1).vote_counts(X)
    with pytest.raises(ValueError, match="no member"):
        forest.take(np.array([1]))
