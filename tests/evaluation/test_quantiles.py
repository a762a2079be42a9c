"""Quantiles of a forest: by the definition of its weights, row by row, and by what their mean must be."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble

from conjunto import BaggingRegressor, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from conjunto.evaluation import predict_quantiles
from conjunto.evaluation.quantiles import _applied, _Leaves

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = np.round(X[:, 0] + rng.normal(size=80), 1)
NEW = rng.normal(size=(25, 3))
WEIGHT = rng.integers(0, 3, 80) * 1.0
FORESTS = [
    (RandomForestRegressor(20, min_samples_leaf=4, random_state=0), None),
    (RandomForestRegressor(20, random_state=0), None),
    (RandomForestRegressor(20, min_samples_leaf=4, random_state=0), WEIGHT),
    (ExtraTreesRegressor(20, min_samples_leaf=4, random_state=0), WEIGHT),
    (BaggingRegressor(n_estimators=10, max_samples=0.5, random_state=0), None),
    (sklearn.ensemble.RandomForestRegressor(20, min_samples_leaf=4, random_state=0), None),
]


def by_definition(forest, weight, row):
    """w_i: the mean over the trees of the share of row i in the leaf of the row that is asked about."""
    train, here = forest.apply(X), forest.apply(row[None])[0]
    total = np.zeros(len(X))
    for t, rows in enumerate(forest.estimators_samples_):
        inside = np.bincount(rows, minlength=len(X)) * (np.ones(len(X)) if weight is None else weight)
        inside = inside * (train[:, t] == here[t])
        total += inside / inside.sum()
    return total / len(forest.estimators_samples_)


@pytest.mark.parametrize(("forest", "weight"), FORESTS)
def test_the_definition(forest, weight):
    forest.fit(X, Y, sample_weight=weight)
    levels = (0.0, 0.1, 0.25, 0.5, 0.9, 1.0)
    said = predict_quantiles(forest, X, Y, NEW, levels, sample_weight=weight)
    order = np.argsort(Y, kind="stable")
    for row, answers in zip(NEW, said, strict=True):
        share = by_definition(forest, weight, row)[order]
        reached = np.cumsum(share)
        for level, answer in zip(levels, answers, strict=True):
            first = np.flatnonzero((reached >= level - 1e-12) & (share > 0))[0]
            assert answer == Y[order][first]
    np.testing.assert_array_equal(predict_quantiles(forest, X, Y, NEW, 0.5, sample_weight=weight), said[:, 3])


@pytest.mark.parametrize(("forest", "weight"), FORESTS)
def test_the_mean_of_the_weights_is_what_the_forest_predicts(forest, weight):
    forest.fit(X, Y, sample_weight=weight)
    leaves = _Leaves(forest, X, len(Y), weight, np.arange(len(Y)))
    np.testing.assert_allclose(leaves.weights(_applied(forest, NEW)) @ Y, forest.predict(NEW), rtol=1e-9, atol=1e-12)


def test_intervals_hold_about_as_many_new_targets_as_they_say():
    def draw(n, seed):
        random = np.random.default_rng(seed)
        rows = random.uniform(size=(n, 2))
        return rows, np.sin(6 * rows[:, 0]) + (0.1 + rows[:, 1]) * random.normal(size=n)

    rows, y = draw(3000, 1)
    new, truth = draw(3000, 2)
    forest = RandomForestRegressor(60, min_samples_leaf=10, random_state=0).fit(rows, y)
    low, high = predict_quantiles(forest, rows, y, new, (0.05, 0.95)).T
    assert 0.86 < ((low <= truth) & (truth <= high)).mean() < 0.97
    # They are wide where targets scatter.
    assert (high - low)[new[:, 1] > 0.8].mean() > 2.5 * (high - low)[new[:, 1] < 0.2].mean()


def test_categories_and_missing_values():
    frame = pd.DataFrame({"c": ["a", "b", None, "d"] * 20, "x": np.where(X[:, 0] > 1, np.nan, X[:, 0])})
    forest = RandomForestRegressor(10, min_samples_leaf=3, random_state=0).fit(frame, Y)
    said = predict_quantiles(forest, frame, Y, frame.head(5), (0.2, 0.8))
    assert (said[:, 0] <= said[:, 1]).all()


def test_refusals():
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="quantiles must be"):
        predict_quantiles(forest, X, Y, NEW, 1.5)
    with pytest.raises(ValueError, match="one target that is a number"):
        predict_quantiles(RandomForestClassifier(3).fit(X, Y > 0), X, Y > 0, NEW)
    with pytest.raises(ValueError, match="fitted on more than 60 rows"):
        predict_quantiles(forest, X[:60], Y[:60], NEW)
    with pytest.raises(ValueError, match="they must be those of the fit"):
        predict_quantiles(forest, X, Y[:60], NEW)
    with pytest.raises(TypeError, match="tell the leaf"):
        predict_quantiles(sklearn.ensemble.BaggingRegressor().fit(X, Y), X, Y, NEW)
