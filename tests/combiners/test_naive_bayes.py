"""Naive-Bayes combination against products of confusion tables counted by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from conjunto import CARTClassifier, NaiveBayesCombinationClassifier, VotingClassifier


class Saying:
    """A fitted model that says the first column of X, or the second, …; -1 is no answer."""

    def __init__(self, column, k):
        self.column, self.classes_ = column, np.arange(k)

    def predict(self, X):
        said = X[:, self.column].astype(float)
        return np.where(said < 0, np.nan, said)


@given(st.data(), st.integers(2, 4), st.integers(1, 3))
def test_by_brute_force(data, k, members):
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    y = np.concatenate([np.arange(k), random.integers(0, k, 20)])
    X = random.integers(-1, k, (len(y), members))
    named = [(f"m{t}", Saying(t, k)) for t in range(members)]
    model = NaiveBayesCombinationClassifier(named, prefit=True).fit(X, y)
    said = model.predict_proba(X)
    for row, answers in zip(said, X, strict=True):
        posterior = []
        for truth in range(k):
            product = np.mean(y == truth)
            for t, answer in enumerate(answers):
                if answer >= 0:
                    of_class = [s for s, label in zip(X[:, t], y, strict=True) if label == truth and s >= 0]
                    product *= (of_class.count(answer) + 1 / k) / (len(of_class) + 1)
            posterior.append(product)
        np.testing.assert_allclose(row, np.array(posterior) / sum(posterior), rtol=1e-9)


def test_confusions_are_counted_out_of_fold():
    X, y = load_iris(return_X_y=True)
    members = [("tree", CARTClassifier(max_depth=1, random_state=0)), ("normal", GaussianNB())]
    model = NaiveBayesCombinationClassifier(members, cv=3).fit(X, y)
    for table, (_, member) in zip(np.exp(model.log_confusion_), members, strict=True):
        said = cross_val_predict(member, X, y, cv=3)
        counts = np.array([[np.sum((y == k) & (said == s)) for s in range(3)] for k in range(3)])
        np.testing.assert_allclose(table, (counts + 1 / 3) / (counts.sum(axis=1, keepdims=True) + 1))
    weights = np.where(y == 1, 4.0, 1.0)
    np.testing.assert_allclose(
        np.exp(NaiveBayesCombinationClassifier(members).fit(X, y, sample_weight=weights).class_log_prior_),
        np.array([50, 200, 50]) / 300,
    )


def test_a_member_that_is_always_wrong_in_one_way_helps():
    """Where a vote is misled, confusion tables tell what a wrong answer means."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 600)
    # Two members take class 0 for 1 and back, one is right; a vote follows the two.
    swapped = np.array([1, 0, 2])[y]
    X = np.stack([swapped, swapped, np.where(random.random(600) < 0.4, random.integers(0, 3, 600), y)], axis=1)
    named = [(f"m{t}", Saying(t, 3)) for t in range(3)]
    wise = NaiveBayesCombinationClassifier(named, prefit=True).fit(X[:300], y[:300])
    plain = VotingClassifier(named, prefit=True).fit()
    assert wise.score(X[300:], y[300:]) == 1
    assert plain.score(X[300:], y[300:]) < 0.5
