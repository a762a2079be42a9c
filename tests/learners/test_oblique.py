"""The truth is the book's search (section 5.2) with every step tried one by one, and every node's rows divided anew."""

import numpy as np
import pandas as pd
import pytest

from conjunto import AdaBoostClassifier, BaggingClassifier, CARTClassifier, CARTRegressor
from conjunto.datasets import make_twonorm, make_waveform

from ..forests import assert_same_trees

BOTH = pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])
CATEGORY, COMBINATION, MISSING_LEFT, INDEX = 1 << 31, 1 << 30, 1 << 29, (1 << 29) - 1


def _scores(y, sides):
    """Between-side sum of squares, up to a constant: the impurity decrease of two classes and of a regression."""
    left, moment = sides.sum(axis=1), sides @ y
    with np.errstate(invalid="ignore"):
        score = (moment * len(y) - left * y.sum()) ** 2 / (left * (len(y) - left))
    return np.where((left > 0) & (left < len(y)), score, -1.0)


def _best_cut(y, values):
    ordered = np.unique(values)
    places = (ordered[:-1] + ordered[1:]) / 2
    scores = _scores(y, values <= places[:, None])
    return scores.max(), places[scores.argmax()]


def _improve(y, z, a, score, c):
    for _ in range(20):
        old = a.copy(), score, c
        for m in range(z.shape[1]):
            found = (-1.0, 0.0, 0.0)
            v = z @ a
            for gamma in (0.0, -0.25, 0.25):
                along = z[:, m] + gamma
                turns = np.unique((v - c)[along != 0] / along[along != 0])
                deltas = ((turns[:-1] + turns[1:]) / 2)[:, None]
                scores = _scores(y, v - deltas * along <= c)
                best = scores.argmax()
                found = max(found, (scores[best], deltas[best, 0], gamma), key=lambda step: step[0])
            if found[0] > score * (1 + 1e-12):
                score, delta, gamma = found
                a[m] -= delta
                c += delta * gamma
        score, c = _best_cut(y, z @ a)
        if score <= old[1] * 1.001:
            return (a, score, c) if score > old[1] else old
    return a, score, c


def _search(X, y):
    """The rows left of the best combination, and the gains of it and of the best cut of one column."""
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    z = (X - middle) / (high - low)
    cuts = [_best_cut(y, column) for column in z.T]
    first = int(np.argmax([score for score, _ in cuts]))
    a = np.eye(X.shape[1])[first]
    a, score, c = _improve(y, z, a, *cuts[first])
    used = np.flatnonzero(a)
    while len(used) > 1:
        without = {m: _best_cut(y, z @ np.where(np.arange(len(a)) == m, 0.0, a)) for m in used}
        least = max(used, key=lambda m: without[m][0])
        if score - without[least][0] > 0.2 * (score - min(s for s, _ in without.values())):
            break
        a[least] = 0
        score, c = without[least]
        used = used[used != least]
    if 1 < len(used) < X.shape[1]:
        part, score, c = _improve(y, z[:, used], a[used], score, c)
        a[used] = part
    return z @ a <= c, score, cuts[first][0], len(used)


@BOTH
def test_root_is_what_the_book_finds(make):
    taken = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        plain = rng.normal(size=(40, 4))
        signal = plain @ [1.0, 1.0, -1.0, 0.3] + rng.normal(size=40) / 2
        y = np.where(signal > 0, 1.0, 0.0) if make is CARTClassifier else np.rint(8 * signal)
        X = plain * [1, 100, 0.01, 1] + [0, 5, -3, 2]
        model = make(splits="oblique", max_depth=1).fit(X, y)
        left, score, axis, used = _search(X, y)
        if score <= axis * (1 + 1e-12) or used < 2:
            continue
        taken += 1
        side = model.apply(X) == 1
        assert np.array_equal(side, left) or np.array_equal(side, ~left), seed
    assert taken > 30


def _impurity(y, w, criterion):
    if criterion == "squared_error":
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    share = np.bincount(y, w) / w.sum()
    share = share[share > 0]
    return 1 - (share**2).sum() if criterion == "gini" else -(share * np.log2(share)).sum()


def _decrease(y, w, left, criterion):
    sides = sum(w[side].sum() * _impurity(y[side], w[side], criterion) for side in (left, ~left))
    return _impurity(y, w, criterion) - sides / w.sum()


def _best_of_one_column(X, y, w, criterion, least):
    best = -1.0
    for column in X.T:
        missing = np.isnan(column)
        for value in np.unique(column[~missing]):
            for left in (column <= value, (column <= value) | missing):
                if min(left.sum(), (~left).sum()) >= least:
                    best = max(best, _decrease(y, w, left, criterion))
    return best


def _nodes(model, X):
    """Every inner node with the rows in it, those that go left, and the columns of its combination."""
    arrays = model.forest_.arrays()
    threshold, children, test = arrays["threshold"], (arrays["left"], arrays["right"]), arrays["test"]
    coefficient, column, start = arrays["term_coefficient"], arrays["term_column"], arrays["term_start"]
    leaf = np.zeros(len(X), dtype=int)
    open_nodes = [(0, np.arange(len(X)))] if len(threshold) else []
    while open_nodes:
        node, rows = open_nodes.pop()
        index = test[node] & INDEX
        assert not test[node] & CATEGORY
        if test[node] & COMBINATION:
            terms = slice(start[index], start[index + 1])
            used = column[terms]
            value = sum(a * X[rows, m] for a, m in zip(coefficient[terms], used, strict=True))
        else:
            used, value = np.array([index]), X[rows, index]
        left = np.where(np.isnan(value), bool(test[node] & MISSING_LEFT), value <= threshold[node])
        yield rows, left, used
        for child, side in ((children[0][node], rows[left]), (children[1][node], rows[~left])):
            if child >= 0:
                open_nodes.append((child, side))
            else:
                leaf[side] = ~child
    np.testing.assert_array_equal(model.forest_.leaves(X)[:, 0], leaf)


@pytest.mark.parametrize("least", [1, 5])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("criterion", "K"), [("gini", 2), ("gini", 3), ("entropy", 2), ("entropy", 4), ("squared_error", 0)]
)
def test_no_node_is_worse_than_the_best_test_of_one_column(criterion, K, weighted, missing, least):
    rng = np.random.default_rng([K, weighted, least])
    X = rng.normal(size=(120, 4))
    X[:, 3] = np.rint(X[:, 3])
    signal = X.sum(axis=1) + rng.normal(size=120) / 2
    y = np.argsort(np.argsort(signal)) * K // 120 if K else signal
    X[rng.random(120) < missing, 1] = np.nan
    w = rng.uniform(0.1, 3, 120) if weighted else np.ones(120)
    make = CARTClassifier if K else CARTRegressor
    model = make(criterion=criterion, splits="oblique", min_samples_leaf=least, random_state=0).fit(X, y, w)
    combined = 0
    for rows, left, used in _nodes(model, X):
        assert min(left.sum(), (~left).sum()) >= least
        gain = _decrease(y[rows], w[rows], left, criterion)
        best = _best_of_one_column(X[rows], y[rows], w[rows], criterion, least)
        assert gain >= best - 1e-10
        if len(used) > 1:
            combined += 1
            assert gain > best
            assert not np.isnan(X[np.ix_(rows, used)]).any()
    assert combined > 0


@BOTH
def test_a_diagonal_takes_few_leaves_and_generalises(make):
    scores, leaves = {"axis": [], "oblique": []}, {"axis": [], "oblique": []}
    for seed in range(5):
        X = np.random.default_rng(seed).uniform(size=(2400, 6))
        y = (X[:, 0] + X[:, 1] <= 1).astype(int)
        for splits in scores:
            model = make(splits=splits, random_state=0).fit(X[:400], y[:400])
            scores[splits].append(np.mean(model.predict(X[400:]) == y[400:]))
            leaves[splits].append(model.get_n_leaves())
    assert max(leaves["oblique"]) <= 4
    assert min(leaves["axis"]) > 10
    assert np.mean(scores["oblique"]) > 0.98 > 0.96 > np.mean(scores["axis"])


def test_twonorm_error_is_halved():
    """The Bayes rule of twonorm is a plane through all 20 columns."""
    error = {"axis": [], "oblique": []}
    for seed in range(5):
        train, test = make_twonorm(300, random_state=seed), make_twonorm(2000, random_state=100 + seed)
        for splits, errors in error.items():
            errors.append(1 - CARTClassifier(splits=splits, random_state=0).fit(*train).score(*test))
    assert np.mean(error["oblique"]) < np.mean(error["axis"]) / 2


def test_a_tilted_plane_in_regression():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 5))
    y = np.where(X[:, 0] - 2 * X[:, 1] > 0.3, 5.0, -5.0) + rng.normal(size=3000)
    fit = {
        s: CARTRegressor(splits=s, max_leaf_nodes=4, random_state=0).fit(X[:500], y[:500]) for s in ("axis", "oblique")
    }
    assert fit["oblique"].score(X[500:], y[500:]) > 0.9 > fit["axis"].score(X[500:], y[500:])


@pytest.mark.parametrize("K", [0, 2, 3])
def test_weight_two_is_a_row_twice(K):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 4))
        signal = X.sum(axis=1) + rng.normal(size=90)
        y = np.clip(np.rint(signal), -1, K - 2) if K else np.rint(4 * signal)
        w = rng.integers(0, 4, 90)
        make = CARTClassifier if K else CARTRegressor
        weighted = make(splits="oblique", random_state=0).fit(X, y, w)
        repeated = make(splits="oblique", random_state=0).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        fresh = rng.normal(size=(500, 4))
        np.testing.assert_array_equal(weighted.predict(fresh), repeated.predict(fresh))


def test_neither_the_unit_of_columns_nor_the_seed_matters():
    X, y = make_waveform(200, random_state=0)
    fresh, _ = make_waveform(1000, random_state=1)
    said = CARTClassifier(splits="oblique", random_state=0).fit(X, y).predict(fresh)
    unit = 2.0 ** np.arange(-10, 11)
    np.testing.assert_array_equal(
        CARTClassifier(splits="oblique", random_state=5).fit(X * unit, y).predict(fresh * unit), said
    )


@BOTH
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_few_rows(make, n):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])[:n]
    y = np.array([0, 1, 1, 0])[:n]
    np.testing.assert_array_equal(make(splits="oblique").fit(X, y).predict(X), y)


@BOTH
def test_constant_columns_and_duplicates(make):
    model = make(splits="oblique").fit(np.ones((9, 3)), np.arange(9) % 2)
    assert model.get_n_leaves() == 1
    X = np.repeat([[0.0, 0.0, 7.0], [1.0, 1.0, 7.0]], 4, axis=0)
    y = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    model = make(splits="oblique").fit(X, y)
    assert model.get_n_leaves() == 2
    expected = [0, 1] if make is CARTClassifier else [0.25, 0.75]
    np.testing.assert_allclose(model.predict(X[[0, 7]]), expected)


@BOTH
def test_categories_keep_their_tests(make):
    """A category that decides alone stays the test; numbers beside it may be combined."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    frame["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], 300))
    model = make(splits="oblique").fit(frame, (frame["kind"] == "v").astype(int))
    assert model.get_n_leaves() == 2
    np.testing.assert_array_equal(model.feature_importances_, [0, 0, 0, 1])
    y = np.where(frame["kind"] == "v", frame["a"] + frame["b"] > 0, frame["a"] - frame["b"] > 0).astype(int)
    model = make(splits="oblique").fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), y)
    assert model.get_n_leaves() < make().fit(frame, y).get_n_leaves() / 2


def test_missing_values_at_prediction_follow_the_heavier_side():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X.sum(axis=1) > 0.8).astype(int)
    model = CARTClassifier(splits="oblique", max_depth=1).fit(X, y)
    assert np.count_nonzero(model.feature_importances_) == 2
    assert model.predict([[np.nan, 9.0], [9.0, np.nan], [np.nan, np.nan]]).tolist() == [0, 0, 0]


@BOTH
@pytest.mark.parametrize("unit", [1e300, 1e307, 1e-300, 5e-324])
def test_extreme_values_give_finite_thresholds(make, unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 4)) * [unit, unit, 1.0, 1.0]
    X[:3, 2] = unit
    y = (X[:, 0] / unit + X[:, 3] > 0).astype(int)
    model = make(splits="oblique").fit(X, y)
    arrays = model.forest_.arrays()
    assert np.isfinite(arrays["threshold"]).all()
    assert np.isfinite(arrays["term_coefficient"]).all()
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("parameters", [{}, {"max_features": 3}, {"max_leaf_nodes": 6}])
def test_threads_do_not_matter(parameters):
    X, y = make_waveform(150, random_state=0)
    learner = CARTClassifier(splits="oblique", **parameters)
    one, two = (BaggingClassifier(learner, 8, n_jobs=n_jobs, random_state=3).fit(X, y) for n_jobs in (1, 2))
    for first, second in zip(one.estimators_, two.estimators_, strict=True):
        assert_same_trees(first.forest_, second.forest_)


def test_only_columns_tried_at_the_node_are_combined():
    X, y = make_waveform(300, random_state=0)
    model = CARTClassifier(splits="oblique", max_features=2, random_state=0).fit(X, y)
    terms = [len(used) for _, _, used in _nodes(model, X)]
    assert max(terms) == 2


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_boosted_oblique_stumps():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    one = AdaBoostClassifier(CARTClassifier(splits="oblique", max_depth=1), 3, random_state=0).fit(X, y)
    assert one.score(X, y) > AdaBoostClassifier(CARTClassifier(max_depth=1), 3, random_state=0).fit(X, y).score(X, y)


@BOTH
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"splits": "diagonal"}, "splits must be"),
        ({"splits": "oblique", "combination_features": 2}, 'splits="oblique" does not go with combination_features'),
        ({"splits": "oblique", "k_best": 3}, 'splits="oblique" does not go with k_best > 1'),
    ],
)
def test_wrong_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
