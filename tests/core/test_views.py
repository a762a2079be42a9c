"""Views, held-out rows and options as the core takes them: kept alive, and checked in the call that uses them."""

import gc

import numpy as np
import pytest

from conjunto import _core

from ..forests import assert_same_trees

KEY = (17, 4)
ONE = np.zeros(1, dtype=np.uint64)


def classes():
    """A table of 40 rows, labels, and options of trees with two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    options = _core.GrowOptions()
    options.classes = 2
    labels = ((X[:, 0] > 0) ^ (rng.random(40) < 0.2)).astype(np.int32)[None]
    return X, _core.Table(X, np.zeros(3, dtype=np.uint32)), labels, options


def test_options_take_members_of_their_enumeration_only():
    options = _core.GrowOptions()
    for place, name in ((options, "criterion"), (options, "search"), (options.prune, "by"), (options.prune, "risk")):
        for wrong in (-1, 7, 2**40, 0.0, "gini", None, _core.Answer.labels):
            with pytest.raises(TypeError):
                setattr(place, name, wrong)
    assert options.criterion is _core.Criterion.gini
    assert options.prune.by is _core.Pruning.none


def test_options_of_pruning_are_those_of_growing():
    options = _core.GrowOptions()
    options.prune.alpha = 0.5
    prune = options.prune
    del options
    gc.collect()
    assert prune.alpha == 0.5


def test_views_keep_their_arrays():
    _, table, labels, options = classes()
    weights = np.random.default_rng(1).uniform(size=(1, 40))
    views = _core.Views(ONE.copy(), labels=labels.copy(), weights=weights.copy())
    gc.collect()
    # Memory that was given back would be taken and overwritten here.
    junk = [np.full((1, 40), np.nan) for _ in range(200)]
    expected = _core.grow(table, options, *KEY, _core.Views(ONE, labels=labels, weights=weights))
    assert_same_trees(_core.grow(table, options, *KEY, views), expected)
    assert len(views) == 1
    assert len(junk) == 200


def test_views_are_checked_when_they_are_used():
    """Arrays may change after the views were made, and one object may meet tables of different size."""
    X, table, labels, options = classes()
    views = _core.Views(ONE, labels=labels)
    _core.grow(table, options, *KEY, views)
    labels[0, 7] = 2
    with pytest.raises(ValueError, match="a label is outside"):
        _core.grow(table, options, *KEY, views)
    labels[0, 7] = 1
    with pytest.raises(ValueError, match="labels must be"):
        _core.grow(_core.Table(X[1:], np.zeros(3, dtype=np.uint32)), options, *KEY, views)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"halves": np.full((1, 40), 2, dtype=np.uint8)}, "halves are told by 0 and 1"),
        ({"halves": np.zeros((1, 39), dtype=np.uint8)}, "halves must be"),
        ({"halves": np.zeros((2, 40), dtype=np.uint8)}, "halves must be"),
        ({"folds": np.full(40, 40, dtype=np.uint32)}, "a fold is out of range"),
        ({"folds": np.zeros(39, dtype=np.uint32)}, "folds needs one entry per row"),
    ],
)
def test_wrong_halves_and_folds_are_refused(wrong, message):
    _, table, labels, options = classes()
    with pytest.raises(ValueError, match=message):
        _core.grow(table, options, *KEY, _core.Views(ONE, labels=labels, **wrong))


def test_views_are_given_by_name():
    _, table, labels, options = classes()
    for wrong in ((), (ONE, labels)):
        with pytest.raises(TypeError):
            _core.Views(*wrong)
    for wrong in (None, {}, ONE):
        with pytest.raises(TypeError):
            _core.grow(table, options, *KEY, wrong)


def reduced(held_out, members=ONE, options=None):
    _, table, labels, ours = classes()
    return _core.grow_reduced(table, options or ours, *KEY, _core.Views(members, labels=labels), held_out)


def test_held_out_rows_keep_their_arrays():
    X, _, labels, _ = classes()
    expected = reduced(_core.HeldOut(X, labels=labels[0], weights=np.ones(40)))
    held_out = _core.HeldOut(X.copy(), labels=labels[0].copy(), weights=np.ones(40))
    gc.collect()
    junk = [np.full((40, 3), np.nan) for _ in range(200)]
    assert_same_trees(reduced(held_out), expected)
    assert len(junk) == 200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.zeros((40, 2))}, "another number of columns"),
        ({"X": np.zeros((39, 3))}, "one entry per row"),
        ({"labels": None}, "of the kind of the others"),
        ({"labels": None, "targets": np.zeros(40)}, "of the kind of the others"),
        ({"targets": np.zeros(40)}, "of the kind of the others"),
        ({"weights": np.ones(41)}, "one entry per row"),
        ({"weights": np.full(40, -1.0)}, "a weight is negative"),
        ({"weights": np.full(40, np.nan)}, "a weight is negative"),
    ],
)
def test_wrong_held_out_rows_are_refused(changes, message):
    X, _, labels, _ = classes()
    given = {"X": X, "labels": labels[0]} | changes
    with pytest.raises(ValueError, match=message):
        reduced(_core.HeldOut(**given))


def test_held_out_rows_judge_one_tree():
    X, _, labels, _ = classes()
    with pytest.raises(ValueError, match="held-out rows judge one tree"):
        reduced(_core.HeldOut(X, labels=labels[0]), np.zeros(2, dtype=np.uint64))
