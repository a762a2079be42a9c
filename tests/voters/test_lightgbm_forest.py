"""Forests of LightGBM: parts of them against sums of raw scores, iteration by iteration."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from conjunto.voters import as_voters, rows_seen
from conjunto.voters.checking import check_examples

from .oracles import NAMES, as_frame, check_adapter, make_rows

lightgbm = pytest.importorskip("lightgbm")

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
# Numbers of one and of two digits: trees change their numbers, and with them their lengths.
SUBSET = [11, 0, 3]
FOREST = {"boosting_type": "rf", "n_estimators": 12, "subsample": 0.6, "subsample_freq": 1, "verbose": -1, "n_jobs": 1}


def raw(fitted, t, rows):
    return fitted.booster_.predict(rows, raw_score=True, start_iteration=t, num_iteration=1)


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(n_classes, frame):
    rows, test = (as_frame(X), as_frame(TEST)) if frame else (X, TEST)
    y = NAMES[np.searchsorted(NAMES, LABELS) % n_classes]
    fitted = lightgbm.LGBMClassifier(**FOREST, random_state=0).fit(rows, y)

    def by_hand(members):
        sums = sum(raw(fitted, t, test) for t in members)
        return NAMES[(sums > 0).astype(int) if n_classes == 2 else sums.argmax(axis=1)]

    part = check_adapter(fitted, test, by_hand, SUBSET)
    assert part.n_estimators == part.n_estimators_ == 3
    gains = as_voters(fitted).take(range(12)).feature_importances_
    np.testing.assert_array_equal(gains, fitted.feature_importances_)
    assert part.fit(rows, y).n_estimators_ == 3


def test_regressors():
    fitted = lightgbm.LGBMRegressor(**FOREST, random_state=0).fit(X, TARGETS)
    each = np.stack([raw(fitted, t, TEST) for t in range(12)])
    check_adapter(fitted, TEST, lambda members: each[members].mean(axis=0), SUBSET)


def test_categories_of_a_frame():
    frame = as_frame(X)
    frame["column 0"] = np.where(X[:, 0] > 0, "up", "down")
    frame = frame.astype({"column 0": "category"})
    fitted = lightgbm.LGBMClassifier(**FOREST, random_state=0).fit(frame, LABELS)
    sums = sum(raw(fitted, t, frame) for t in SUBSET)
    np.testing.assert_array_equal(as_voters(fitted).take(SUBSET).predict(frame), NAMES[sums.argmax(axis=1)])


def test_names():
    without = as_voters(lightgbm.LGBMClassifier(**FOREST).fit(X, LABELS))
    np.testing.assert_array_equal(without.votes(as_frame(X)).labels, without.votes(X).labels)
    adapter = as_voters(lightgbm.LGBMClassifier(**FOREST).fit(as_frame(X), LABELS))
    with pytest.raises(ValueError, match=r"X lacks 'column_0', .* and has 'x', .* it was fitted on 'column_0'"):
        adapter.votes(as_frame(X).rename(columns={"column 0": "x"}))
    with pytest.raises(ValueError, match="X has 4 columns, and the ensemble was fitted on 5"):
        check_examples(adapter, X[:, :4], LABELS)


def test_messages():
    with pytest.raises(NotFittedError, match="LGBMClassifier"):
        as_voters(lightgbm.LGBMClassifier(**FOREST))
    with pytest.raises(ValueError, match="LGBMClassifier does not tell which rows its members saw: give rows that"):
        rows_seen(as_voters(lightgbm.LGBMClassifier(**FOREST).fit(X, LABELS)), 150)
    with pytest.raises(TypeError, match="LGBMRegressor with objective='poisson' answers with a function of the mean"):
        as_voters(lightgbm.LGBMRegressor(**FOREST, objective="poisson").fit(X, np.exp(TARGETS)))
    with pytest.raises(TypeError, match="LGBMClassifier cannot be taken apart: in gradient boosting every member"):
        as_voters(lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(X, LABELS))
