"""Voting of scikit-learn: parts of it against weighted sums of what its models say."""

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto.voters import as_voters, rows_seen

from .oracles import NAMES, as_frame, check_adapter, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
MODELS = [
    ("linear", LogisticRegression()),
    ("left out", "drop"),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("bayes", GaussianNB()),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
]
SUBSET = [3, 0]


@pytest.mark.parametrize("weights", [None, [2, 9, 1.5, 1, 0.7]], ids=["equal", "weights"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_classifiers(voting, weights):
    fitted = VotingClassifier(MODELS, voting=voting, weights=weights).fit(as_frame(X), LABELS)
    factor = np.ones(4) if weights is None else np.array([2, 1.5, 1, 0.7])

    def by_hand(members):
        models = [fitted.estimators_[t] for t in members]
        if voting == "soft":
            each = [model.predict_proba(as_frame(TEST)) for model in models]
        else:
            each = [model.predict(as_frame(TEST))[:, None] == np.arange(3) for model in models]
        return NAMES[sum(factor[t] * said for t, said in zip(members, each, strict=True)).argmax(axis=1)]

    np.testing.assert_array_equal(fitted.predict(as_frame(TEST)), by_hand([0, 1, 2, 3]))
    part = check_adapter(fitted, as_frame(TEST), by_hand, SUBSET)
    assert [name for name, _ in part.estimators] == list(part.named_estimators_) == ["stump", "linear"]
    assert part.named_estimators_["stump"] is fitted.named_estimators_["stump"]
    assert part.weights == (None if weights is None else [0.7, 2])
    assert len(part.fit(as_frame(X), LABELS).estimators_) == 2


@pytest.mark.parametrize("weights", [None, [2, 1, 3]], ids=["equal", "weights"])
def test_regressors(weights):
    models = [("a", LinearRegression()), ("b", DecisionTreeRegressor(max_depth=2)), ("c", DecisionTreeRegressor())]
    fitted = VotingRegressor(models, weights=weights).fit(X, TARGETS)
    said = np.stack([model.predict(TEST) for model in fitted.estimators_])

    def by_hand(members):
        return np.average(said[members], axis=0, weights=None if weights is None else np.array(weights)[members])

    check_adapter(fitted, TEST, by_hand, [2, 0])


def test_messages():
    with pytest.raises(NotFittedError, match="VotingClassifier"):
        as_voters(VotingClassifier(MODELS))
    with pytest.raises(ValueError, match="VotingClassifier shows all rows to every member: nothing is out of bag"):
        rows_seen(as_voters(VotingClassifier(MODELS).fit(X, LABELS)), 150)
