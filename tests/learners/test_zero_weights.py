"""Rows of weight 0 teach nothing: the tree is that of the other rows."""

import numpy as np
import pytest

from conjunto import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    IGPTreeClassifier,
    RandomForestClassifier,
)
from conjunto.datasets import make_waveform

COMBINATION = {"combination_features": 3, "max_features": 4, "random_state": 0}
MODELS = {
    "combination": CARTClassifier(**COMBINATION),
    "combination of values": CARTRegressor(**COMBINATION),
    "forest-rc": RandomForestClassifier(3, splits="combination", bootstrap=False, random_state=0),
    "boosted": AdaBoostClassifier(CARTClassifier(max_depth=2, **COMBINATION), n_estimators=3, random_state=0),
    "oblique": CARTClassifier(splits="oblique", random_state=0),
    "oblique of values": CARTRegressor(splits="oblique", random_state=0),
    "k best": CARTClassifier(k_best=5, random_state=0),
    "pruned": CARTClassifier(prune="cv", random_state=0),
    "c45": C45Classifier(),
    "igp": IGPTreeClassifier(random_state=0),
}


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_with_them_is_the_fit_without_them(name, real):
    random = np.random.default_rng(0)
    X, y = make_waveform(90, random_state=0)
    weight = random.uniform(0.1, 1.0, 90) if real else np.ones(90)
    # Far away, and between the others.
    far = random.normal(scale=50, size=(60, X.shape[1]))
    counts = np.isin(np.arange(150), random.permutation(150)[:90])
    rows, labels, weights = np.empty((150, X.shape[1])), random.choice(y, 150), np.zeros(150)
    rows[counts], rows[~counts], labels[counts], weights[counts] = X, far, y, weight
    without = MODELS[name].fit(X, y, sample_weight=weight).predict
    expected = without(np.vstack([X, far, far / 20]))
    found = MODELS[name].fit(rows, labels, sample_weight=weights).predict(np.vstack([X, far, far / 20]))
    np.testing.assert_array_equal(found, expected)
