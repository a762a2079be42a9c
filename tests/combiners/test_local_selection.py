"""Local selection against neighbours found and members judged one by one, and what is published about it."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy.sparse import csr_array
from sklearn.datasets import make_friedman1, make_moons
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import conjunto.combiners._region as region
from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    LocalSelectionClassifier,
    LocalSelectionRegressor,
)
from conjunto.combiners._competence import METHODS, VALUE_METHODS
from conjunto.datasets import load

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(260, 3)) * [1, 5, 0.2]
CODES = ((ROWS[:, 0] > 0).astype(int) + (ROWS[:, 1] > 2) + (RANDOM.random(260) < 0.1)).clip(0, 2)
LABELS = np.array(["ant", "bee", "cow"])[CODES]
FIT, KNOWN, NEW = ROWS[:80], ROWS[80:200], ROWS[200:]
POOL = [
    (f"m{t}", CARTClassifier(max_depth=2, random_state=t).fit(FIT[rows], LABELS[:80][rows]))
    for t, rows in enumerate(RANDOM.integers(0, 80, (9, 40)))
]


def by_hand(method, said, there, truth, k=3):
    """(members,): the weights of the votes about one row; `there`, (members, neighbours), the nearest first."""
    right = there == truth
    members = range(len(said))
    if method in ("ola", "des-p", "knora-u", "des-knn"):
        accuracy = [np.mean(right[t]) for t in members]
    if method == "ola":
        return [a == max(accuracy) for a in accuracy]
    if method == "lca":
        own = [right[t][there[t] == said[t]] for t in members]
        local = [np.mean(o) if len(o) else 0.0 for o in own]
        return [a == max(local) for a in local]
    if method == "des-p":
        return [a > 1 / k for a in accuracy]
    if method == "knora-u":
        return [right[t].sum() for t in members]
    if method == "mcb":
        alike = np.array([np.mean(there[:, j] == said) > 0.7 for j in range(there.shape[1])])
        alike = alike if alike.any() else np.ones_like(alike)
        local = [np.mean(right[t][alike]) for t in members]
        return [a >= max(local) - 0.1 for a in local]
    runs = [next((j for j, r in enumerate(right[t]) if not r), len(right[t])) for t in members]
    if method == "knora-e":
        return [max(runs) > 0 and run == max(runs) for run in runs]
    order = sorted(members, key=lambda t: -accuracy[t])[: max(1, round(0.5 * len(said)))]
    failing = {t: sum((~right[t] & ~right[s]).sum() for s in order if s != t) for t in order}
    chosen = sorted(order, key=lambda t: failing[t])[: max(1, round(0.3 * len(said)))]
    return [t in chosen for t in members]


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"rank"}))
def test_every_method_by_brute_force(method):
    model = LocalSelectionClassifier(POOL, method=method, n_neighbors=5, prefit=True).fit(KNOWN, LABELS[80:200])
    about = np.stack([np.searchsorted(model.classes_, m.predict(KNOWN)) for _, m in POOL])
    said = np.stack([np.searchsorted(model.classes_, m.predict(NEW)) for _, m in POOL])
    scale = KNOWN.std(axis=0)
    shares = model.predict_proba(NEW)
    for i, row in enumerate(NEW):
        distance = np.sqrt((((KNOWN - row) / scale) ** 2).sum(axis=1))
        nearest = np.argsort(distance)[:5]
        weights = np.array(by_hand(method, said[:, i], about[:, nearest], CODES[80:200][nearest]), dtype=float)
        weights = weights if weights.any() else np.ones(len(POOL))
        counts = np.bincount(said[:, i], weights, 3)
        np.testing.assert_allclose(shares[i], counts / counts.sum())


def test_rank_has_one_member_decide():
    model = LocalSelectionClassifier(POOL, method="rank", prefit=True).fit(KNOWN, LABELS[80:200])
    votes = model.votes(NEW)
    assert ((~np.isnan(votes.scores[:, :, 0])).sum(axis=0) == 1).all()
    np.testing.assert_array_equal(model.predict_proba(NEW).max(axis=1), 1)


@pytest.mark.parametrize("whole", [False, True])
def test_all_ways_to_neighbours_find_the_same(monkeypatch, whole):
    """A tree of distances, all distances, those of a few rows; with whole numbers many rows are equally near."""
    X, y = make_moons(1500, noise=0.3, random_state=0)
    X = np.rint(4 * X) if whole else X
    pool = BaggingClassifier(CARTClassifier(max_depth=2), 15, random_state=0)
    by_tree = LocalSelectionClassifier(pool).fit(X, y)
    assert by_tree._region._index()._fit_method == "kd_tree"
    monkeypatch.setattr(region, "MANY_COLUMNS", 1)
    by_all = LocalSelectionClassifier(pool).fit(X, y)
    assert by_all._region._index()._fit_method == "brute"
    few = np.vstack([by_all.predict_proba(row[None]) for row in X[:50]])
    many = by_all.predict_proba(np.vstack([X] * 3))[:50]
    if not whole:
        np.testing.assert_array_equal(few, by_tree.predict_proba(X)[:50])
        np.testing.assert_array_equal(few, many)
    else:
        distances = [np.sort(((by_all._region._known - row) ** 2).sum(axis=1))[:7] for row in by_all._region._known[:9]]
        found = by_all._region.nearest(X[:9])
        again = [
            ((by_all._region._known[near] - row) ** 2).sum(axis=1)
            for near, row in zip(found, by_all._region._known[:9], strict=True)
        ]
        np.testing.assert_allclose(again, distances)


def test_members_are_judged_out_of_bag():
    """What a member says about a row that it saw is no evidence."""
    pool = BaggingClassifier(CARTClassifier(), 30, random_state=0)
    model = LocalSelectionClassifier(pool, method="ola").fit(ROWS, LABELS)
    seen = np.array([np.bincount(rows, minlength=260) > 0 for rows in model.pool_.estimators_samples_])
    known = ~seen.all(axis=0)
    np.testing.assert_array_equal(model._answers < 0, seen[:, known])
    # Boosting shows all rows to every member: a third of them is kept.
    boosted = LocalSelectionClassifier(AdaBoostClassifier(n_estimators=10), random_state=0).fit(ROWS, LABELS)
    assert boosted._answers.shape == (len(boosted.pool_), 87)
    assert boosted.pool_.n_features_in_ == 3
    half = LocalSelectionClassifier(pool, selection=0.5, random_state=0).fit(ROWS, LABELS)
    assert half._answers.shape == (30, 130)


def test_a_fitted_pool_can_be_judged_out_of_bag():
    pool = BaggingClassifier(CARTClassifier(max_depth=4), 20, random_state=0)
    inside = LocalSelectionClassifier(pool).fit(ROWS, LABELS)
    fitted = LocalSelectionClassifier(pool.fit(ROWS, LABELS), prefit=True, selection="oob").fit(ROWS, LABELS)
    np.testing.assert_array_equal(fitted.predict_proba(NEW), inside.predict_proba(NEW))
    with pytest.raises(ValueError, match="was not fitted on these rows in this order"):
        LocalSelectionClassifier(pool, prefit=True, selection="oob").fit(ROWS[::-1], LABELS[::-1])


def test_pools_of_other_libraries_and_lists_to_be_fitted():
    forest = sklearn.ensemble.RandomForestClassifier(20, max_depth=2, random_state=0)
    model = LocalSelectionClassifier(forest).fit(ROWS, LABELS)
    assert len(model) == 20
    assert model.score(ROWS, LABELS) > 0.7
    fitted = LocalSelectionClassifier(forest.fit(FIT, LABELS[:80]), prefit=True).fit(KNOWN, LABELS[80:200])
    assert fitted.pool_ is forest
    listed = LocalSelectionClassifier([("normal", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))])
    assert listed.fit(ROWS, LABELS).score(ROWS, LABELS) > 0.7
    assert listed.get_params()["tree__max_depth"] == 2
    sparse = LocalSelectionClassifier(BaggingClassifier(CARTClassifier(max_depth=2), 10, random_state=0))
    sparse.fit(csr_array(ROWS), LABELS)
    assert sparse.score(csr_array(ROWS), LABELS) > 0.7


def test_distances_between_categories_and_gaps():
    X = pd.DataFrame({"size": [0.0, 2.0, 4.0, None], "kind": ["a", "b", "a", None]})
    rows = region.Region(4, "euclidean", None).fit(X)
    scale = np.std([0.0, 2.0, 4.0])
    found, _ = rows._index().kneighbors(rows._points(rows._encoded(X.iloc[[0]])), 4)
    mean = 2 / scale
    expected = sorted([0.0, np.hypot(2 / scale, 1), 4 / scale, np.hypot(mean, np.sqrt(0.5))])
    np.testing.assert_allclose(found[0], expected)


@pytest.mark.parametrize("method", VALUE_METHODS)
def test_regression_by_brute_force(method):
    X, y = make_friedman1(300, random_state=0)
    pool = [
        (f"m{t}", CARTRegressor(max_depth=3, max_features=0.4, random_state=t).fit(X[:100], y[:100])) for t in range(7)
    ]
    model = LocalSelectionRegressor(pool, method=method, n_neighbors=6, prefit=True).fit(X[100:200], y[100:200])
    squares = np.stack([(m.predict(X[100:200]) - y[100:200]) ** 2 for _, m in pool])
    said = np.stack([m.predict(X[200:]) for _, m in pool])
    scale = X[100:200].std(axis=0)
    for row, answers, predicted in zip(X[200:], said.T, model.predict(X[200:]), strict=True):
        nearest = np.argsort((((X[100:200] - row) / scale) ** 2).sum(axis=1))[:6]
        errors = squares[:, nearest].mean(axis=1)
        weights = 1 / np.maximum(errors / errors.max(), 1e-6)
        if method == "ds":
            weights = (errors == errors.min()).astype(float)
        if method == "dws":
            weights = weights * (errors <= (errors.min() + errors.max()) / 2)
        assert predicted == pytest.approx(np.average(answers, weights=weights))


@pytest.mark.parametrize("name", ["vehicle", "segment", "vowel"])
def test_no_worse_than_the_best_member(name):
    """Published: better than the single best member; three partitions, the best member chosen out of bag."""
    data = load(name)
    X, y = data.X.to_numpy(), data.y.to_numpy()
    gains = []
    for seed in range(3):
        X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
        pool = BaggingClassifier(CARTClassifier(max_depth=3), 30, random_state=seed)
        local = LocalSelectionClassifier(pool).fit(X_fit, y_fit)
        right = (local._answers == local._truth).sum(axis=1) / (local._answers >= 0).sum(axis=1)
        best = local.pool_.votes(X_test).labels[right.argmax()]
        gains.append(local.score(X_test, y_test) - np.mean(local.classes_[best] == y_test))
    assert np.mean(gains) > 0.02


@pytest.mark.parametrize("method", METHODS)
def test_stumps_on_bananas(method):
    """Two classes around each other: no vote of stumps can tell them apart, chosen ones can."""
    X, y = make_moons(1000, noise=0.2, random_state=0)
    X_test, y_test = make_moons(2000, noise=0.2, random_state=1)
    stumps = BaggingClassifier(CARTClassifier(max_depth=1, max_features=1), 40, random_state=0)
    local = LocalSelectionClassifier(stumps, method=method).fit(X, y)
    assert local.score(X_test, y_test) > local.pool_.score(X_test, y_test) + 0.04


def test_regression_is_better_than_the_mean():
    X, y = make_friedman1(900, noise=1.0, random_state=0)
    pool = BaggingRegressor(CARTRegressor(max_depth=4), 50, random_state=0)
    local = LocalSelectionRegressor(pool).fit(X[:500], y[:500])
    assert local.score(X[500:], y[500:]) > local.pool_.score(X[500:], y[500:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "best"}, "method must be one of 'ola', 'lca'"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"selection": 1.5}, r"selection must be a number in \(0, 1\)"),
        ({"selection": "some"}, "selection must be one of 'auto', 'oob'"),
        ({"estimators": AdaBoostClassifier(n_estimators=3), "selection": "oob"}, 'selection="oob": '),
    ],
)
def test_messages(change, message):
    with pytest.raises(ValueError, match=message):
        LocalSelectionClassifier(**change).fit(ROWS, LABELS)
