"""AdaBoost of scikit-learn: parts of it against the weighted vote, or median, of its members."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto.voters import as_voters, rows_seen

from .oracles import NAMES, as_frame, check_adapter, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
SUBSET = [5, 0, 3]


@pytest.mark.parametrize("names", [NAMES, np.array([7, 3, 5]), NAMES[:2]], ids=repr)
def test_classifiers(names):
    y = names[np.searchsorted(NAMES, LABELS) % len(names)]
    classes = np.sort(names)
    fitted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8, random_state=0)
    fitted.fit(as_frame(X), y, sample_weight=np.random.default_rng(2).uniform(size=150))
    said = [model.predict(TEST) for model in fitted.estimators_]

    def by_hand(members):
        counts = sum(fitted.estimator_weights_[t] * (said[t][:, None] == classes) for t in members)
        return classes[counts.argmax(axis=1)]

    part = check_adapter(fitted, as_frame(TEST), by_hand, SUBSET)
    np.testing.assert_array_equal(part.estimator_weights_, fitted.estimator_weights_[SUBSET])
    np.testing.assert_array_equal(part.estimator_errors_, fitted.estimator_errors_[SUBSET])
    assert part.feature_importances_.sum() == pytest.approx(1)


def test_regressors():
    fitted = AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=8, random_state=0).fit(X, TARGETS)
    said = np.stack([model.predict(TEST) for model in fitted.estimators_])

    def by_hand(members):
        medians = []
        for values in said[members].T:
            order = np.argsort(values)
            below = fitted.estimator_weights_[members][order].cumsum()
            medians.append(values[order][np.flatnonzero(below >= below[-1] / 2)[0]])
        return np.array(medians)

    part = check_adapter(fitted, TEST, by_hand, SUBSET)
    for t, staged in enumerate(part.staged_predict(TEST)):
        np.testing.assert_array_equal(staged, by_hand(SUBSET[: t + 1]))
    assert as_voters(fitted).votes(TEST).rule == "weighted-median"


def test_boosting_that_ended_early():
    fitted = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0).fit(X, LABELS)
    assert len(fitted.estimators_) < len(fitted.estimator_weights_)
    votes = as_voters(fitted).votes(TEST)
    assert len(votes) == len(votes.weights) == len(fitted.estimators_)
    np.testing.assert_array_equal(as_voters(fitted).take([0]).predict(TEST), fitted.predict(TEST))


def test_messages():
    with pytest.raises(NotFittedError, match="AdaBoostClassifier"):
        as_voters(AdaBoostClassifier())
    with pytest.raises(
        ValueError, match="AdaBoostClassifier shows all rows to every member, as boosting does: nothing"
    ):
        rows_seen(as_voters(AdaBoostClassifier(n_estimators=2).fit(X, LABELS)), 150)
    with pytest.raises(
        ValueError, match="AdaBoostRegressor draws samples by weights that are not kept: what is out of"
    ):
        rows_seen(as_voters(AdaBoostRegressor(n_estimators=2).fit(X, TARGETS)), 150)
