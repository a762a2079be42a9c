"""Sessions grow what single calls of the plain search grow, and say what the trees say about the rows of the table."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conjunto import _core

from ..forests import assert_same_trees

CATEGORY, COLUMN = 1 << 31, (1 << 29) - 1
STRUCTURE = ("threshold", "left", "right", "test", "node_start", "leaf_start", "sets")
KEY = (17, 4)


def _options(K, **options):
    grow = _core.GrowOptions()
    grow.classes = K
    grow.criterion = _core.Criterion.gini if K else _core.Criterion.variance
    kinds = {"criterion": _core.Criterion, "search": _core.Search}
    for name, value in {"max_depth": 1, **options}.items():
        setattr(grow, name, kinds[name][value] if name in kinds else value)
    return grow


def _table(X, categories=None):
    categories = np.zeros(X.shape[1]) if categories is None else categories
    return _core.Table(X, np.asarray(categories, dtype=np.uint32))


def _y(y, K):
    return {"labels": np.asarray(y, np.int32)[None]} if K else {"targets": np.asarray(y, float)[None]}


def _members(first, count=1):
    return np.arange(first, first + count, dtype=np.uint64)


def _say(session, members, answer, **parts):
    answer = getattr(_core.Answer, answer, answer) if isinstance(answer, str) else answer
    return session.grow(_core.Views(members, **parts), answer)


def _rounds(table, options, y, weights, answer="leaves"):
    """A session that has grown one call per entry of `weights`, (members, rows) each, and its answers."""
    session, first, out = _core.GrowSession(table, options, *KEY), 0, []
    for w in weights:
        kind = "small_weights" if w.dtype == np.uint8 else "weights"
        out.append(_say(session, _members(first, len(w)), answer, **{kind: w}, **_y(y, options.classes)))
        first += len(w)
    return session, out


def _reference(table, K, y, weights, **options):
    """The same members by the plain search, in one call."""
    w = np.concatenate(weights)
    kind = "small_weights" if w.dtype == np.uint8 else "weights"
    views = _core.Views(_members(0, len(w)), **{kind: w}, **_y(y, K))
    return _core.grow(table, _options(K, search="sorted", **options), *KEY, views)


def _assert_same_splits(a, b):
    """The same trees, up to the rounding of sums."""
    b = b.arrays()
    for name, x in a.arrays().items():
        if name in STRUCTURE:
            np.testing.assert_array_equal(x, b[name])
        elif getattr(x, "dtype", np.dtype(int)).kind == "f":
            np.testing.assert_allclose(x, b[name], rtol=1e-6 if name == "gain" else 1e-10, atol=1e-12)


def _weights(rng, n, calls=4, zeros=0.0):
    """Calls of one to three members."""
    out = [rng.uniform(0.05, 2, (1 + i % 3, n)) for i in range(calls)]
    for w in out:
        w[rng.random(w.shape) < zeros] = 0
        w[:, :2] = 1.5
    return out


def _response(rng, X, K):
    score = np.nan_to_num(X) @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
    return np.argsort(np.argsort(score)) * K // len(X) if K else score


def _columns(rng, n, kind):
    """Nine columns; the codes of categorical ones are 0 .. 5."""
    X, categories = rng.normal(size=(n, 9)), np.zeros(9)
    if kind == "missing":
        X[:, ::2][rng.random((n, 5)) < 0.3] = np.nan
        X[:, 4] = np.nan
    elif kind == "categories":
        categories[1::2] = 6
        X[:, 1::2] = rng.integers(0, 6, (n, 4))
        X[:, 3][rng.random(n) < 0.2] = np.nan
    elif kind == "constant":
        X[:, 1::2] = 3.0
    elif kind == "duplicates":
        X = rng.integers(0, [2, 3, 4, 5, 7, 9, 12, 20, 50], (n, 9)).astype(float)
    return X, categories


KINDS = ["continuous", "missing", "categories", "constant", "duplicates"]
OPTIONS = [
    {},
    {"max_features": 2},
    {"min_rows_leaf": 25},
    {"min_weight_share_leaf": 0.2},
    {"max_features": 5, "min_rows_leaf": 10},
    {"min_decrease": 0.02},
    {"criterion": "entropy"},
    {"criterion": "entropy", "max_features": 2, "min_rows_leaf": 25},
]


def _tasks(all_options):
    """Every number of classes with every set of options; regression has one criterion."""
    for K in (0, 2, 3, 26):
        for options in all_options:
            if K or "criterion" not in options:
                yield pytest.param(K, options, id=f"{K}-{'+'.join(options) or 'none'}")


@pytest.mark.parametrize(("K", "options"), list(_tasks(OPTIONS)))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_stumps_are_those_of_the_plain_search(zeros, K, kind, options):
    for n in (90, 700):
        rng = np.random.default_rng([n, K, KINDS.index(kind)])
        X, categories = _columns(rng, n, kind)
        if options.get("criterion") == "entropy" and categories.any():
            # A set of categories and its complement are one cut, of scores that round differently.
            X, categories = X[:, ::2].copy(), None
        y, weights = _response(rng, X, K), _weights(rng, n, zeros=zeros)
        table = _table(X, categories)
        session, leaves = _rounds(table, _options(K, **options), y, weights)
        _assert_same_splits(session.forest(), _reference(table, K, y, weights, **options))
        np.testing.assert_array_equal(np.concatenate(leaves), session.forest().leaves(X).T)


@pytest.mark.parametrize(("K", "options"), list(_tasks([*OPTIONS[:4], OPTIONS[6], {"max_leaves": 5}])))
@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_deeper_trees_are_those_of_the_plain_search(zeros, K, options):
    rng = np.random.default_rng([K, 1])
    X = rng.normal(size=(600, 7))
    y, weights = _response(rng, X, K), _weights(rng, 600, zeros=zeros)
    options = {**options, "max_depth": 3}
    table = _table(X)
    session, leaves = _rounds(table, _options(K, **options), y, weights)
    assert session.forest().depths().max() > 1
    _assert_same_splits(session.forest(), _reference(table, K, y, weights, **options))
    np.testing.assert_array_equal(np.concatenate(leaves), session.forest().leaves(X).T)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("K", [2, 3, 26])
def test_whole_weights_give_the_same_bits(K, depth):
    rng = np.random.default_rng(K)
    X, categories = _columns(rng, 300, "categories")
    y, table = _response(rng, X, K), _table(X, categories)
    weights = [rng.multinomial(300, np.full(300, 1 / 300), size=m).astype(np.uint8) for m in (1, 3, 2)]
    options = {"max_depth": depth, "max_features": 4}
    assert_same_trees(
        _rounds(table, _options(K, **options), y, weights)[0].forest(), _reference(table, K, y, weights, **options)
    )


def _impurity(w, y, K, criterion):
    """Of one side, times its weight."""
    if not K:
        return np.sum(w * (y - np.average(y, weights=w)) ** 2)
    total = np.bincount(y, w, minlength=K)
    share = total[total > 0] / total.sum()
    return total.sum() * (-(share @ np.log2(share)) if criterion == "entropy" else 1 - share @ share)


def _decrease(left, y, w, K, criterion):
    sides = [_impurity(w[s], y[s], K, criterion) for s in (left, ~left)]
    return (_impurity(w, y, K, criterion) - sum(sides)) / w.sum()


def _cuts(X):
    """The left sides of every cut of every column; missing values on either side, or alone on the right."""
    for x in X.T:
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        for value in values[:-1]:
            yield x <= value
            if missing.any():
                yield (x <= value) | missing
        if len(values) and missing.any():
            yield ~missing


@st.composite
def _problems(draw):
    n, m = draw(st.integers(2, 30)), draw(st.integers(1, 9))
    K = draw(st.sampled_from([0, 2, 3, 26]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(n, m))
    for c in range(m):
        kind = draw(st.sampled_from(["continuous", "continuous", "tied", "constant", "empty"]))
        if kind != "continuous":
            X[:, c] = {"tied": rng.integers(0, 3, n), "constant": 1.0, "empty": np.nan}[kind]
        if draw(st.booleans()):
            X[rng.random(n) < 0.3, c] = np.nan
    y = rng.integers(0, K, n) if K else rng.normal(size=n)
    options = {
        "min_rows_leaf": draw(st.sampled_from([1, 1, 2, 5])),
        "min_weight_share_leaf": draw(st.sampled_from([0.0, 0.0, 0.05, 0.3])),
        "criterion": draw(st.sampled_from(["gini", "entropy"])) if K else "variance",
    }
    return X, y, K, _weights(rng, n, zeros=draw(st.sampled_from([0.0, 0.5]))), options


@given(_problems())
@settings(max_examples=150)
def test_no_cut_is_better_than_a_stump(problem):
    X, y, K, weights, options = problem
    session, leaves = _rounds(_table(X), _options(K, **options), y, weights)
    gains = np.zeros(len(session))
    forest = session.forest()
    split = forest.leaf_counts() == 2
    gains[split] = forest.arrays()["gain"]
    for t, (w, leaf) in enumerate(zip(np.concatenate(weights), np.concatenate(leaves), strict=True)):
        seen = w > 0
        Xs, ys, ws = X[seen], y[seen], w[seen]

        def allowed(left, ws=ws):
            least = max(options["min_weight_share_leaf"] * ws.sum(), 1e-12)
            rows = min(left.sum(), (~left).sum())
            return rows >= options["min_rows_leaf"] and min(ws[left].sum(), ws[~left].sum()) >= least

        found = [_decrease(left, ys, ws, K, options["criterion"]) for left in _cuts(Xs) if allowed(left)]
        assert split[t] == (bool(found) and len(set(ys)) > 1)
        if split[t]:
            left = leaf[seen] == leaf[seen][0]
            assert allowed(left)
            gain = _decrease(left, ys, ws, K, options["criterion"])
            assert gain == pytest.approx(max(found), rel=1e-6, abs=1e-12)
            if K:
                assert gains[t] == pytest.approx(gain, rel=1e-5, abs=1e-9)


@given(_problems(), st.integers(1, 9))
@settings(max_examples=150)
def test_random_columns_are_those_of_the_plain_search(problem, max_features):
    """Rounding may decide between equal cuts, but not which columns are tried."""
    X, y, K, weights, options = problem
    options["max_features"] = max_features
    table = _table(X)
    session, leaves = _rounds(table, _options(K, **options), y, weights)
    expected = _reference(table, K, y, weights, **options).leaves(X).T
    np.testing.assert_array_equal(session.forest().leaves(X).T, np.concatenate(leaves))
    for w, a, b in zip(np.concatenate(weights), np.concatenate(leaves), expected, strict=True):
        seen = w > 0
        gains = []
        for leaf in (a[seen], b[seen]):
            assert (leaf.max() == 1) == (b[seen].max() == 1)
            left = leaf == 0
            gains.append(_decrease(left, y[seen], w[seen], K, options["criterion"]) if not left.all() else 0.0)
        assert gains[0] == pytest.approx(gains[1], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [0, 2, 3, 26])
def test_threads_and_kernels_do_not_matter(K, kind, depth):
    rng = np.random.default_rng([K, depth])
    X, categories = _columns(rng, 250, kind)
    y, table = _response(rng, X, K), _table(X, categories)
    weights = [rng.uniform(0, 1, (m, 250)) * (rng.random((m, 250)) < 0.7) for m in (1, 5, 2, 7)]
    options = {"max_depth": depth, "max_features": 4}
    one, leaves = _rounds(table, _options(K, **options), y, weights)
    for other in ({"threads": 2}, {"search": "no_vectors"}):
        session, others = _rounds(table, _options(K, **options, **other), y, weights)
        assert_same_trees(session.forest(), one.forest())
        for a, b in zip(others, leaves, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("K", [0, 3])
def test_answers_are_what_the_forest_says(K, depth):
    rng = np.random.default_rng(K)
    X, categories = _columns(rng, 120, "categories")
    y, table, weights = _response(rng, X, K), _table(X, categories), _weights(rng, 120, zeros=0.5)
    forest = _rounds(table, _options(K, max_depth=depth), y, weights)[0].forest()
    leaves = np.concatenate(_rounds(table, _options(K, max_depth=depth), y, weights, "leaves")[1])
    assert leaves.dtype == np.int32
    np.testing.assert_array_equal(leaves, forest.leaves(X).T)
    everywhere = leaves + forest.arrays()["leaf_start"][:-1].astype(int)[:, None]
    assert len(np.unique(everywhere)) > len(forest)
    answers = {
        name: np.concatenate(_rounds(table, _options(K, max_depth=depth), y, weights, name)[1])
        for name in (("labels", "shares") if K else ("values",))
    }
    if not K:
        np.testing.assert_array_equal(answers["values"], forest.values(X))
        np.testing.assert_array_equal(answers["values"], forest.leaf_values()[everywhere])
        return
    np.testing.assert_array_equal(answers["labels"], forest.labels(X))
    np.testing.assert_array_equal(answers["labels"], forest.leaf_labels()[everywhere])
    assert answers["shares"].shape == (len(forest), 120, K)
    np.testing.assert_array_equal(answers["shares"], forest.leaf_shares()[everywhere])
    np.testing.assert_allclose(answers["shares"].sum(axis=0), forest.share_sums(X), rtol=1e-12)
    # The shares of a leaf are those of the weights that are there.
    w = np.concatenate(weights)
    for t in range(len(forest)):
        for leaf in np.unique(leaves[t]):
            inside = leaves[t] == leaf
            share = np.bincount(y[inside], w[t, inside], minlength=K) / w[t, inside].sum()
            np.testing.assert_allclose(answers["shares"][t, inside], np.tile(share, (inside.sum(), 1)), atol=1e-12)


def test_unseen_rows_go_where_new_rows_go():
    """A missing value and a category that no seen row has follow the heavier side."""
    X = np.column_stack([np.arange(8.0), np.arange(8) < 5])
    X[7] = np.nan, 2
    y, w = np.arange(8) < 5, np.array([[1.0] * 7 + [0.0]])
    session = _core.GrowSession(_table(X, [0, 3]), _options(2), *KEY)
    for column in (0, 1, 0, 1):
        columns = np.array([[column]], dtype=np.uint32)
        labels = _say(session, _members(len(session)), "labels", weights=w, columns=columns, **_y(y, 2))
        np.testing.assert_array_equal(labels, [[1, 1, 1, 1, 1, 0, 0, 1]])
    tests = session.forest().arrays()["test"]
    np.testing.assert_array_equal(tests & COLUMN, [0, 1, 0, 1])
    np.testing.assert_array_equal(tests & CATEGORY > 0, [False, True, False, True])


@pytest.fixture
def sound():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    return _table(X), _response(rng, X, 2), rng.uniform(0.1, 1, (1, 40))


def _call(sound, **changes):
    _, y, w = sound
    return {"members": _members(0), "answer": "leaves", "weights": w, **_y(y, 2), **changes}


def _edited(array, value):
    out = array.copy()
    out.flat[3] = value
    return out


WRONG = {
    "a weight is negative": lambda y, w: {"weights": _edited(w, -1e-300)},
    "a weight is missing": lambda y, w: {"weights": _edited(w, np.nan)},
    "a weight is infinite": lambda y, w: {"weights": _edited(w, np.inf)},
    "all weights are zero": lambda y, w: {"weights": np.zeros_like(w)},
    "all small weights are zero": lambda y, w: {"weights": None, "small_weights": np.zeros(w.shape, np.uint8)},
    "one member has no weight": lambda y, w: {"members": _members(0, 2), "weights": np.vstack([w, 0 * w])},
    "two kinds of weights": lambda y, w: {"small_weights": np.ones(w.shape, np.uint8)},
    "weights are shared": lambda y, w: {"members": _members(0, 2)},
    "weights of too few rows": lambda y, w: {"weights": w[:, :-1].copy()},
    "weights of too many members": lambda y, w: {"weights": np.vstack([w, w])},
    "small weights of too few rows": lambda y, w: {"weights": None, "small_weights": np.ones((1, 39), np.uint8)},
    "a label is negative": lambda y, w: {"labels": _edited(y, -1)},
    "a label is too high": lambda y, w: {"labels": _edited(y, 2)},
    "labels of too few rows": lambda y, w: {"labels": y[:, :-1].copy()},
    "labels of too many members": lambda y, w: {"labels": np.vstack([y, y])},
    "no labels": lambda y, w: {"labels": None},
    "targets of a classifier": lambda y, w: {"labels": None, "targets": y.astype(float)},
    "labels and targets": lambda y, w: {"targets": y.astype(float)},
    "values of a classifier": lambda y, w: {"answer": "values"},
    "a column out of range": lambda y, w: {"columns": np.array([[3]], dtype=np.uint32)},
    "no columns": lambda y, w: {"columns": np.zeros((1, 0), dtype=np.uint32)},
    "columns of too many members": lambda y, w: {"columns": np.zeros((2, 1), dtype=np.uint32)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_calls_are_refused_and_leave_no_trace(wrong, sound):
    table, y, w = sound
    session, fresh = (_core.GrowSession(table, _options(2), *KEY) for _ in range(2))
    changes = WRONG[wrong](_y(y, 2)["labels"], w)
    for count in range(3):
        with pytest.raises(ValueError, match=r"\w"):
            _say(session, **_call(sound, **changes))
        assert len(session) == count
        for s in (session, fresh):
            _say(s, **_call(sound))
    assert_same_trees(session.forest(), fresh.forest())


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.zeros(40, dtype=np.int32)},
        {"weights": np.ones(40)},
        {"members": np.zeros((1, 1), dtype=np.uint64)},
        {"labels": [[0] * 40]},
        {"labels": np.full((1, 40), "a")},
        {"answer": None},
        {"answer": "votes"},
        {"answer": 1},
        {"nonsense": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_wrong_types_are_refused(changes, sound):
    session = _core.GrowSession(sound[0], _options(2), *KEY)
    with pytest.raises(TypeError):
        _say(session, **_call(sound, **changes))
    assert len(session) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.full((1, 40), 2**32)},
        {"labels": np.full((1, 40), 0.7)},
        {"weights": None, "small_weights": np.full((1, 40), 300)},
        {"members": np.array([-1])},
    ],
    ids=["wrapped", "truncated", "small", "negative"],
)
def test_dtypes_that_lose_values_are_refused(changes, sound):
    session = _core.GrowSession(sound[0], _options(2), *KEY)
    with pytest.raises((TypeError, ValueError)):
        _say(session, **_call(sound, **changes))


@pytest.mark.parametrize("changes", [{"answer": "labels"}, {"answer": "shares"}, {"targets": np.full((1, 40), np.nan)}])
def test_wrong_calls_of_a_regression_are_refused(changes, sound):
    table, _, w = sound
    session = _core.GrowSession(table, _options(0), *KEY)
    call = {"members": _members(0), "answer": "values", "weights": w, "targets": w}
    _say(session, **call)
    with pytest.raises(ValueError, match=r"answer|target"):
        _say(session, **{**call, **changes})
    assert len(session) == 1


def test_criterion_and_task_must_agree(sound):
    for K, criterion in ((2, "variance"), (0, "gini"), (0, "entropy")):
        session = _core.GrowSession(sound[0], _options(K, criterion=criterion), *KEY)
        with pytest.raises(ValueError, match="criterion"):
            _say(session, _members(0), "leaves", **_y(sound[1], K))


def test_an_empty_table_is_refused():
    session = _core.GrowSession(_table(np.zeros((0, 2))), _options(2), *KEY)
    with pytest.raises(ValueError, match="empty"):
        _say(session, _members(0), "leaves", labels=np.zeros((1, 0), dtype=np.int32))
    with pytest.raises(TypeError):
        _core.GrowSession(None, _options(2), *KEY)


def test_a_call_without_members_grows_nothing(sound):
    session = _core.GrowSession(sound[0], _options(2), *KEY)
    for answer, shape in (("leaves", (0, 40)), ("shares", (0, 40, 2)), ("labels", (0, 40))):
        assert _say(session, **_call(sound, members=_members(0, 0), weights=None, answer=answer)).shape == shape
    assert len(session) == 0


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("K", [0, 3])
def test_dropped_members_leave_no_trace(K, depth):
    rng = np.random.default_rng(K)
    X, categories = _columns(rng, 80, "categories")
    y, table, weights = _response(rng, X, K), _table(X, categories), _weights(rng, 80, zeros=0.3)
    answer = "shares" if K else "values"
    expected, answers = _rounds(table, _options(K, max_depth=depth), y, weights, answer)
    session, first = _core.GrowSession(table, _options(K, max_depth=depth), *KEY), 0
    for w, out in zip(weights, answers, strict=True):
        _say(session, _members(first, len(w)), answer, weights=w[::-1].copy(), **_y(y, K))
        session.drop(len(w))
        assert len(session) == first
        np.testing.assert_array_equal(_say(session, _members(first, len(w)), answer, weights=w, **_y(y, K)), out)
        first += len(w)
    session.drop(0)
    assert_same_trees(session.forest(), expected.forest())
    session.drop(first)
    assert len(session) == len(session.forest()) == 0


def test_dropping_more_than_there_is_is_refused(sound):
    session = _core.GrowSession(sound[0], _options(2), *KEY)
    with pytest.raises(ValueError, match="not so many"):
        session.drop(1)
    _say(session, **_call(sound))
    for count in (2, 2**63):
        with pytest.raises(ValueError, match="not so many"):
            session.drop(count)
    with pytest.raises(TypeError):
        session.drop(-1)
    assert len(session) == 1


def test_a_forest_is_a_copy(sound):
    session = _core.GrowSession(sound[0], _options(2), *KEY)
    _say(session, **_call(sound))
    copy = session.forest()
    before = copy.take(np.arange(1))
    _say(session, **_call(sound))
    session.drop(2)
    assert len(copy) == 1
    assert_same_trees(copy, before)


def test_later_changes_of_the_options_do_not_matter(sound):
    options = _options(2)
    session = _core.GrowSession(sound[0], options, *KEY)
    options.classes, options.max_depth = 0, 9
    _say(session, **_call(sound))
    assert session.forest().classes == 2
    assert session.forest().depths()[0] == 1


def test_a_session_keeps_its_table():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(3000, 6))
    y, weights = _response(rng, X, 2), _weights(rng, 3000, zeros=0.3)
    expected, leaves = _rounds(_table(X), _options(2), y, weights)
    own = X.copy()
    table = _table(own)
    session = _core.GrowSession(table, _options(2), *KEY)
    del table, own
    gc.collect()
    # Memory that was given back would be taken and overwritten here.
    junk = [np.full((3000, 6), np.nan) for _ in range(20)]
    first = 0
    for w, leaf in zip(weights, leaves, strict=True):
        np.testing.assert_array_equal(_say(session, _members(first, len(w)), "leaves", weights=w, **_y(y, 2)), leaf)
        first += len(w)
    assert len(junk) == 20
    assert_same_trees(session.forest(), expected.forest())


def _forest(K=3, depth=3, n=300):
    rng = np.random.default_rng([K, depth])
    X, categories = _columns(rng, n, "categories")
    table, y = _table(X, categories), _response(rng, X, K)
    return _rounds(table, _options(K, max_depth=depth, max_features=3), y, _weights(rng, n, 6))[0].forest(), X


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 300])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("K", [0, 3])
def test_leaf_sums_add_what_leaves_are_worth(K, depth, rows):
    forest, X = _forest(K, depth)
    X = X[:rows]
    rng = np.random.default_rng(0)
    everywhere = forest.leaves(X) + forest.arrays()["leaf_start"][:-1].astype(int)
    count = int(forest.leaf_counts().sum())
    for width in (1, 4):
        value, column = rng.normal(size=count), rng.integers(0, width, count).astype(np.int32)
        sums, row_sums = np.zeros((rows, width)), np.zeros((rows, width))
        values = rng.normal(size=(count, width))
        for leaf in everywhere.T:
            sums[np.arange(rows), column[leaf]] += value[leaf]
            row_sums += values[leaf]
        for threads in (1, 2, 7):
            np.testing.assert_array_equal(forest.leaf_sums(X, value, column, width, threads), sums)
            np.testing.assert_array_equal(forest.leaf_row_sums(X, values, threads), row_sums)


def test_leaf_arrays_are_those_of_the_task():
    classifier, regressor = _forest(3)[0], _forest(0)[0]
    assert classifier.leaf_shares().shape == (classifier.leaf_counts().sum(), 3)
    np.testing.assert_allclose(classifier.leaf_shares().sum(axis=1), 1)
    np.testing.assert_array_equal(classifier.leaf_shares().argmax(axis=1), classifier.leaf_labels())
    assert regressor.leaf_values().shape == (regressor.leaf_counts().sum(),)
    for wrong in (classifier.leaf_values, regressor.leaf_labels, regressor.leaf_shares):
        with pytest.raises(ValueError, match="forest has no"):
            wrong()


def test_wrong_leaf_sums_are_refused():
    forest, X = _forest()
    count = int(forest.leaf_counts().sum())
    value, column, values = np.ones(count), np.ones(count, dtype=np.int32), np.ones((count, 2))
    assert forest.leaf_sums(X, value, column, 2).shape == forest.leaf_row_sums(X, values).shape == (300, 2)
    for wrong in (-1, 2, 2**31 - 1, -(2**31)):
        with pytest.raises(ValueError, match="column"):
            forest.leaf_sums(X, value, _edited(column, wrong), 2)
    with pytest.raises(ValueError, match="column"):
        forest.leaf_sums(X, value, column, 1)
    for short in ({"value": value[1:]}, {"column": column[1:]}, {"value": np.ones(count + 1)}):
        with pytest.raises(ValueError, match="one entry per leaf"):
            forest.leaf_sums(X, **{"value": value, "column": column, "width": 2, **short})
    for wrong in (values[1:], np.ones((count + 1, 2))):
        with pytest.raises(ValueError, match="one row per leaf"):
            forest.leaf_row_sums(X, wrong)
    for wrong in (X[:, 1:].copy(), np.ones((4, 10))):
        with pytest.raises(ValueError, match="columns"):
            forest.leaf_sums(wrong, value, column, 2)
        with pytest.raises(ValueError, match="columns"):
            forest.leaf_row_sums(wrong, values)
    with pytest.raises(TypeError):
        forest.leaf_sums(X, value, column, -1)
    with pytest.raises(TypeError):
        forest.leaf_row_sums(X, value)


HUGE = """
import numpy as np
from conjunto import _core
options = _core.GrowOptions()
options.classes = 2
X = np.arange(3.0)[:, None]
table = _core.Table(X, np.zeros(1, dtype=np.uint32))
views = _core.Views(np.zeros(1, dtype=np.uint64), labels=np.array([[0, 0, 1]], dtype=np.int32))
forest = _core.grow(table, options, 1, 2, views)
try:
    forest.leaf_sums(X, np.ones(2), np.zeros(2, dtype=np.int32), (2**64 + 2) // 3)
except (ValueError, MemoryError):
    print("refused")
"""


def test_leaf_sums_of_huge_width_are_refused():
    run = subprocess.run([sys.executable, "-c", HUGE], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "refused"
