"""Training rows in another order than at the fit are refused, wherever it can be told, and in their order never."""

import numpy as np
import pytest
import sklearn.ensemble as sk
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import conjunto as cj
from conjunto.voters import as_voters, votes_out_of_bag
from conjunto.voters.row_sketch import other_rows, row_sketch

CANCER, DIABETES = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
SHUFFLED = "was not fitted on these rows in this order"
FEW = {"n_estimators": 10, "random_state": 0}
CLASSIFIERS = [
    sk.RandomForestClassifier(**FEW),
    sk.RandomForestClassifier(**FEW, max_depth=3),
    sk.RandomForestClassifier(**FEW, max_samples=0.4, class_weight="balanced_subsample"),
    sk.ExtraTreesClassifier(**FEW, bootstrap=True),
    sk.BaggingClassifier(**FEW, max_features=0.5),
    cj.RandomForestClassifier(**FEW),
    # No tree of these is right on all of its rows.
    cj.BaggingClassifier(cj.CARTClassifier(max_depth=1), **FEW),
]
REGRESSORS = [
    sk.RandomForestRegressor(**FEW),
    sk.RandomForestRegressor(**FEW, criterion="absolute_error", max_features=3),
    sk.BaggingRegressor(**FEW),
    cj.RandomForestRegressor(**FEW),
]


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=repr)
def test_another_order_is_refused(model):
    X, y = CANCER if model in CLASSIFIERS else DIABETES
    model.fit(X, y)
    places = np.random.default_rng(0).permutation(len(y))
    for selection in ("train", "oob"):
        with pytest.raises(ValueError, match=SHUFFLED):
            cj.prune(model, X[places], y[places], selection=selection)
    for rows in (X, X.astype(np.float32), np.asfortranarray(X)):
        assert "oob" in cj.prune(model, rows, y).curve_


def fitted_somehow(random):
    """A forest on rows that trees cannot all be right on, and the rows."""
    n = int(random.integers(30, 120))
    X = random.normal(size=(n, 3)).round(int(random.integers(0, 4)))
    y = random.integers(0, 3, n) if random.random() < 0.5 else (X[:, 0] + random.normal(size=n) > 0).astype(int)
    shape = {
        "max_depth": random.choice([None, 2, 5]),
        "min_samples_leaf": int(random.integers(1, 4)),
        "ccp_alpha": random.choice([0.0, 0.02]),
    }
    weight = random.choice([0.0, 1e-12, 0.5, 1.0, 3.0], n) if random.random() < 0.5 else None
    if random.random() < 0.3:
        forest, y = sk.RandomForestRegressor(3, **shape, random_state=0), y * random.choice([1e-9, 1.0, 1e9]) + X[:, 1]
    elif random.random() < 0.3:
        forest = sk.BaggingClassifier(DecisionTreeClassifier(**shape), 3, random_state=0)
    else:
        weighing = random.choice([None, "balanced", "balanced_subsample"])
        forest = sk.ExtraTreesClassifier(3, bootstrap=True, class_weight=weighing, **shape, random_state=0)
    return forest.fit(X, y, sample_weight=weight), X, y


def test_their_own_order_is_never_refused():
    random = np.random.default_rng(0)
    refused = []
    for _ in range(60):
        forest, X, y = fitted_somehow(random)
        codes = np.searchsorted(forest.classes_, y) if hasattr(forest, "classes_") else y
        voters = as_voters(forest)
        refused.append(voters.seen().refutes(voters.read(X), codes))
    assert not any(refused)


def test_members_that_learn_nothing_by_heart_tell_nothing():
    X, y = CANCER
    bag = sk.BaggingClassifier(KNeighborsClassifier(), **FEW).fit(X, y)
    assert "oob" in cj.prune(bag, X[::-1], y[::-1]).curve_


def test_rows_that_a_pipeline_makes_otherwise_at_the_fit_are_not_refused():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 30, (200, 2)).astype(str), random.integers(0, 2, 200)
    for ensemble in (sk.RandomForestClassifier(**FEW), cj.RandomForestClassifier(**FEW)):
        pipe = make_pipeline(TargetEncoder(), StandardScaler(), ensemble).fit(X, y)
        assert "oob" in cj.prune(pipe, X, y).curve_


def test_out_of_bag_votes_of_rows_in_another_order():
    X, y = CANCER
    bag = cj.BaggingClassifier(**FEW).fit(X, y)
    assert len(votes_out_of_bag(bag, X)) == 10
    with pytest.raises(ValueError, match=SHUFFLED):
        bag.oob_votes(X[::-1])
    with pytest.raises(ValueError, match=SHUFFLED):
        cj.prune(bag, X, y, keep=5).oob_votes(X[::-1])


@pytest.mark.parametrize("far", [0.0, 1e9])
def test_a_sketch_knows_rows_again(far):
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=70_000) + far, np.full(70_000, far + 0.1), random.integers(0, 2, 70_000)])
    X[::5, 2] = np.nan
    sketch = row_sketch(X)
    assert not other_rows(sketch, X)
    assert not other_rows(sketch, np.nextafter(X, np.inf))
    two = X.copy()
    two[[3, 69_999]] = two[[69_999, 3]]
    assert other_rows(sketch, two)
    assert other_rows(sketch, X + [1.0, 0, 0] * (np.arange(70_000) < 500)[:, None])


def test_a_sketch_of_numbers_that_overflow_refuses_nothing():
    X = np.array([[1e308, 1.0], [-1e308, 1.0], [1.7e308, 1.0]])
    assert not other_rows(row_sketch(X), X)
