"""Referees: members that are right in different places are told apart."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from conjunto import ArbiterClassifier, CARTClassifier, VotingClassifier


class Half:
    """A fitted model that knows the class on one side of the plane, and says the opposite on the other."""

    classes_ = np.array([0, 1])

    def __init__(self, sign):
        self.sign = sign

    def predict(self, X):
        truth = (X[:, 1] > 0).astype(int)
        return np.where(self.sign * X[:, 0] > 0, truth, 1 - truth)


X = np.random.default_rng(0).normal(size=(1200, 2))
Y = (X[:, 1] > 0).astype(int)
HALVES = [("left", Half(-1)), ("right", Half(1)), ("left again", Half(-1))]


@pytest.mark.parametrize("decision", ["select", "weigh"])
def test_referees_know_where_members_are_right(decision):
    model = ArbiterClassifier(HALVES, decision=decision, prefit=True).fit(X[:600], Y[:600])
    assert model.score(X[600:], Y[600:]) > 0.98
    assert VotingClassifier(HALVES, prefit=True).fit().score(X[600:], Y[600:]) < 0.6
    np.testing.assert_array_equal(model.trust(X[:5])[0] > 0.5, X[:5, 0] < 0)


def test_referees_learn_from_rows_that_members_did_not_see():
    members = [("tree", CARTClassifier(random_state=0)), ("linear", LogisticRegression())]
    labels = (X[:, 0] * X[:, 1] > 0).astype(int)
    referee = CARTClassifier(max_depth=3, random_state=0)
    model = ArbiterClassifier(members, arbiter=referee, cv=3).fit(X, labels)
    for trust, (_, member) in zip(model.trust(X), members, strict=True):
        right = cross_val_predict(member, X, labels, cv=3) == labels
        np.testing.assert_allclose(
            trust, CARTClassifier(max_depth=3, random_state=0).fit(X, right).predict_proba(X)[:, 1]
        )
    sure = ArbiterClassifier([("sure", Half(1))], prefit=True).fit(X[X[:, 0] > 0], Y[X[:, 0] > 0])
    assert sure.arbiters_ == [1.0]


def test_messages():
    with pytest.raises(ValueError, match="decision must be one of 'select', 'weigh'"):
        ArbiterClassifier(HALVES, decision="toss", prefit=True).fit(X, Y)
    with pytest.raises(ValueError, match="arbiter must be a classifier that gives probabilities"):
        ArbiterClassifier(HALVES, arbiter=3, prefit=True).fit(X, Y)
