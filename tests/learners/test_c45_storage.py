"""Packed C4.5 trees: threads, slices, files, and damage that must be noticed."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

from conjunto import _core

from ..forests import assert_same_trees
from .c45_oracle import Settings
from .c45_problems import FIELDS, grow


def test_threads_change_nothing():
    random = np.random.default_rng(2)
    X, y = load_iris(return_X_y=True)
    X[random.random(X.shape) < 0.1] = np.nan
    weights = random.integers(0, 3, (20, len(X)))
    settings = Settings(3)
    one, two = (
        grow(X, y.astype(np.int32), weights, np.zeros(4, np.uint32), settings, small=True, threads=t) for t in (1, 2)
    )
    assert_same_trees(one, two)
    for ask in (one.labels, one.vote_counts, one.share_sums):
        np.testing.assert_array_equal(ask(np.tile(X, (4, 1)), 1), ask(np.tile(X, (4, 1)), 2))
    # Taken one by one and joined again, through a pickle, the trees are the same.
    joined = one.take(np.array([], dtype=np.int64))
    for t in range(20):
        joined.append(pickle.loads(pickle.dumps(one.take(np.array([t])))))
    joined.reserve(3.0)
    assert_same_trees(one, joined)
    assert one.vote_counts(X).sum() == 20 * len(X)
    np.testing.assert_allclose(one.importances().sum(axis=1), 1)
    with pytest.raises(ValueError, match="no member 20"):
        one.take(np.array([20]))


def sound_forest():
    """Three trees that have everything: numbers, categories, mixed leaves."""
    random = np.random.default_rng(1)
    X, categories = random.normal(size=(80, 3)), np.array([0, 4, 0], np.uint32)
    X[:, 1] = random.integers(0, 4, 80)
    y = (X[:, 1] + X[:, 0] + random.normal(size=80) > 1.5).astype(np.int32) + (random.random(80) < 0.2)
    weights = random.integers(1, 3, (3, 80))
    forest = grow(X, y.astype(np.int32), weights, categories, Settings(3, prune=False, collapse=False, mdl=False))
    f = forest.arrays()
    assert set(f["column"][: f["node_start"][1]]) == {0, 1, 2}
    assert len(f["share_label"])
    return forest


def changed(name, place, value):
    def change(f):
        f[name][place] = value

    return change


def cut(name):
    def change(f):
        f[name] = f[name][:-1]

    return change


DAMAGE = [
    *[cut(name) for name in FIELDS[3:]],
    *[changed(name, 1, 2**40) for name in FIELDS if name.endswith("_start")],
    *[changed(name, 0, 1) for name in FIELDS if name.endswith("_start")],
    changed("child", 0, 0),
    changed("child", 0, 2**31 - 1),
    changed("child", 0, -(2**31)),
    changed("first", 0, 1),
    changed("first", 1, 2**32 - 1),
    changed("branches", 0, 1),
    changed("branches", 0, 2**32 - 1),
    changed("column", 0, 3),
    changed("column", 0, 2**32 - 1),
    changed("gain", 0, np.nan),
    changed("share", 0, np.nan),
    changed("share", 0, -0.5),
    changed("share", slice(0, 2), 0.0),
    changed("categories", 1, 257),
    changed("categories", 1, 0),
    changed("categories", 1, 5),
    changed("categories", 0, 2),
    changed("route", 0, 300),
    changed("leaf_label", 0, 3),
    changed("leaf_label", 0, -(2**31)),
    changed("share_label", 0, 3),
    changed("share_label", 0, -1),
    changed("shares", 0, np.nan),
    lambda f: f.update(format=1),
    lambda f: f.update(columns=2),
    lambda f: f.update(classes=2),
    lambda f: f.update(classes=2**32 - 1),
    lambda f: f["threshold"].__setitem__(np.flatnonzero(f["column"] == 1)[0], 1e300),
    lambda f: f["threshold"].__setitem__(np.flatnonzero(f["column"] == 1)[0], np.nan),
    lambda f: f["threshold"].__setitem__(np.flatnonzero(f["column"] != 1)[0], np.inf),
]


@pytest.mark.parametrize("damage", range(len(DAMAGE)))
def test_damaged_arrays_are_refused(damage):
    forest = sound_forest()
    fields = forest.arrays()
    _core.C45Forest(fields)
    DAMAGE[damage](fields)
    with pytest.raises(ValueError, match=r"corrupt|format"):
        _core.C45Forest(fields)


def test_random_damage_never_crashes():
    random = np.random.default_rng(3)
    forest = sound_forest()
    X = np.where(random.random((50, 3)) < 0.5, np.nan, random.normal(size=(50, 3)))
    for _ in range(2000):
        fields = forest.arrays()
        name = FIELDS[int(random.integers(3, len(FIELDS)))]
        values = fields[name].view(np.uint8)
        values[int(random.integers(len(values)))] = random.integers(256)
        try:
            damaged = _core.C45Forest(fields)
        except ValueError:
            continue
        assert damaged.labels(X).max() < 3
        assert np.isfinite(damaged.share_sums(X)).all()


def call(**changes):
    table = _core.Table(np.arange(6.0).reshape(3, 2), np.zeros(2, np.uint32))
    options = _core.C45Options()
    options.classes = 2
    for name in ("min_objects", "confidence", "classes"):
        if name in changes:
            setattr(options, name, changes.pop(name))
    given = {"members": np.zeros(2, np.uint64), "labels": np.array([[0, 1, 1]], np.int32)} | changes
    return _core.grow_c45(table, options, _core.Views(**given))


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.array([[0, 2, 1]], np.int32)},
        {"labels": np.array([[0, -1, 1]], np.int32)},
        {"labels": np.zeros((3, 3), np.int32)},
        {"labels": np.zeros((1, 2), np.int32)},
        {"weights": np.ones((1, 3))},
        {"weights": np.full((2, 3), np.nan)},
        {"weights": np.full((2, 3), -1.0)},
        {"weights": np.zeros((2, 3))},
        {"weights": np.full((2, 3), 1e308)},
        {"weights": np.ones((2, 3)), "small_weights": np.ones((2, 3), np.uint8)},
        {"small_weights": np.ones((2, 4), np.uint8)},
        {"columns": np.array([[0], [2]], np.uint32)},
        {"columns": np.zeros((2, 0), np.uint32)},
        {"min_objects": 0.0},
        {"min_objects": np.nan},
        {"confidence": 0.0},
        {"confidence": 1.5},
        {"classes": 0},
    ],
)
def test_the_core_checks_what_it_is_given(changes):
    assert len(call()) == 2
    with pytest.raises(ValueError, match=r"."):
        call(**changes)
