"""Merged ensembles answer with the mean of their members, whatever classes each of them knows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RoundRobinClassifier,
    merge,
    prune,
)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    return X, np.array(["low", "middle", "top"])[np.digitize(X[:, 0] + random.normal(size=300), [-0.5, 0.8])]


def widened(model, X, classes):
    out = np.zeros((len(X), len(classes)))
    out[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return out


@pytest.mark.parametrize("learner", [None, LogisticRegression()], ids=["trees", "foreign"])
@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_classes_are_aligned(table, learner, vote):
    X, y = table
    parts = [y != "top", y != "low", np.ones(len(y), dtype=bool)]
    models = [
        BaggingClassifier(learner, 5 + k, vote=vote, random_state=k).fit(X[rows], y[rows])
        for k, rows in enumerate(parts)
    ]
    merged = merge(*models)
    assert len(merged) == 18
    assert merged.n_estimators == 18
    expected = sum(len(model) * widened(model, X, merged.classes_) for model in models) / 18
    np.testing.assert_allclose(merged.predict_proba(X), expected, atol=1e-12)
    # What was merged stays as it was.
    assert [len(model) for model in models] == [5, 6, 7]
    assert list(models[0].classes_) == ["low", "middle"]


def test_forests_of_values(table):
    X, _ = table
    forests = [RandomForestRegressor(k + 3, random_state=k).fit(X, X[:, 0]) for k in range(2)]
    expected = (3 * forests[0].predict(X) + 4 * forests[1].predict(X)) / 7
    np.testing.assert_allclose(merge(*forests).predict(X), expected)


def test_what_members_saw_is_not_known(table):
    X, y = table
    merged = merge(*(RandomForestClassifier(40, oob_score=True, random_state=k).fit(X, y) for k in range(2)))
    assert not hasattr(merged, "oob_score_")
    assert not hasattr(merged, "estimators_samples_")
    with pytest.raises(ValueError, match="assigned, merged or converted"):
        prune(merged, X, y, selection="oob")
    assert len(prune(merged, X, y, keep=3)) == 3


def test_refusals(table):
    X, y = table
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="ensemble 1 is AdaBoostClassifier"):
        merge(forest, AdaBoostClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(TypeError, match="ensemble 1 must be one like the first"):
        merge(forest, BaggingClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(TypeError, match="RoundRobinClassifier"):
        merge(RoundRobinClassifier().fit(X, y), RoundRobinClassifier().fit(X, y))
    with pytest.raises(ValueError, match="other columns"):
        merge(forest, RandomForestClassifier(3).fit(X[:, :2], y))
