"""Lists of models: parts of them against votes and means counted by hand."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import conjunto
from conjunto.combination import decide
from conjunto.voters import as_voters, rows_seen
from conjunto.voters.checking import check_examples

from .oracles import NAMES, check_adapter, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]


class Constant:
    """A model of no library."""

    def __init__(self, label, classes):
        self.label = label
        self.classes_ = np.array(classes)

    def predict(self, X):
        return np.repeat(self.label, len(X))


def classifiers():
    some = LABELS != "south"
    return [
        DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, LABELS),
        LinearSVC().fit(X, LABELS),
        make_pipeline(StandardScaler(), GaussianNB()).fit(X, LABELS),
        GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, LABELS),
        conjunto.BaggingClassifier(n_estimators=3, random_state=0).fit(X, LABELS),
        LogisticRegression().fit(X[some], LABELS[some]),
        Constant("north", ["north"]),
    ]


def by_hand(models, members):
    counts = sum(models[t].predict(TEST)[:, None] == NAMES for t in members)
    return NAMES[counts.argmax(axis=1)]


@pytest.mark.parametrize("kind", [list, tuple])
def test_classifiers(kind):
    models = kind(classifiers())
    adapter = as_voters(models)
    assert len(adapter) == 7
    assert not adapter.adds_scores
    assert list(adapter.classes_) == list(NAMES)
    np.testing.assert_array_equal(decide(adapter.votes(TEST)), by_hand(models, range(7)))
    for members in ([6, 2, 0], [5], list(range(7))):
        part = adapter.take(members)
        assert [id(model) for model in part] == [id(models[t]) for t in members]
    # A list that is pruned is one that votes; it can be taken apart again, and knows all classes, whoever is left.
    vote = conjunto.prune(models, X, LABELS, keep=7)
    assert isinstance(vote, conjunto.VotingClassifier)
    kept = [models[t] for t in vote.order_]
    again = check_adapter(vote, TEST, lambda members: by_hand(kept, members), [5, 6])
    assert list(again.classes_) == list(NAMES)


def test_regressors():
    models = [
        LinearRegression().fit(X, TARGETS),
        DecisionTreeRegressor(max_depth=2).fit(X, TARGETS),
        conjunto.BaggingRegressor(n_estimators=3, random_state=0).fit(X, TARGETS),
    ]
    adapter = as_voters(models)
    said = np.stack([model.predict(TEST) for model in models])
    np.testing.assert_array_equal(adapter.votes(TEST).values, said)
    mean = conjunto.prune(models, X, TARGETS, keep=2)
    assert isinstance(mean, conjunto.VotingRegressor)
    said = said[mean.order_[:2]]
    np.testing.assert_allclose(mean.predict(TEST), said.mean(axis=0))
    check_adapter(mean, TEST, lambda members: said[members].mean(axis=0), [1, 0])


def test_labels_that_are_numbers():
    y = np.array([30, 10, 20])[np.searchsorted(NAMES, LABELS)]
    models = [DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y) for depth in (1, 2, 3)]
    adapter = as_voters(models)
    assert list(adapter.classes_) == [10, 20, 30]
    np.testing.assert_array_equal(adapter.votes(TEST).labels[1], models[1].predict(TEST) // 10 - 1)
    np.testing.assert_array_equal(check_examples(adapter, X, y), y // 10 - 1)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "a list of models must hold at least one model"),
        ([GaussianNB().fit(X, LABELS), 3], r"models\[1\], int, is no fitted model: it must be an object with predict"),
        ([DecisionTreeClassifier], r"models\[0\], DecisionTreeClassifier, is no fitted model"),
        (
            [LinearRegression().fit(X, TARGETS), GaussianNB().fit(X, LABELS)],
            r"classifiers or regressors, not both: models\[1\] is a classifier and models\[0\] a regressor",
        ),
        ([KMeans(2).fit(X)], r"models\[0\], KMeans, is known neither as a classifier nor as a regressor: give a class"),
        (
            [DecisionTreeClassifier().fit(X, np.stack([LABELS, LABELS], axis=1))],
            r"models\[0\] has several outputs, and models vote on one",
        ),
        (
            [GaussianNB().fit(X, LABELS), GaussianNB().fit(X, np.searchsorted(NAMES, LABELS))],
            "a list of models must agree on the labels: some know text, others numbers",
        ),
    ],
    ids=lambda value: "" if isinstance(value, list) else value,
)
def test_messages(models, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_voters(models)


def test_messages_about_fitted_models():
    with pytest.raises(NotFittedError, match="GaussianNB"):
        as_voters([GaussianNB()])
    with pytest.raises(NotFittedError, match="VotingClassifier"):
        as_voters(conjunto.VotingClassifier([("one", GaussianNB())]))
    adapter = as_voters([GaussianNB().fit(X, LABELS), Constant("west", NAMES)])
    with pytest.raises(ValueError, match="a list of models does not tell which rows each of them was fitted on: give"):
        rows_seen(adapter, 150)
    with pytest.raises(
        ValueError, match=r"models\[1\] predicts the label 'west', which the ensemble does not know; it knows 'e"
    ):
        adapter.votes(X)
    with pytest.raises(ValueError, match="X has 4 columns, and the ensemble was fitted on 5"):
        check_examples(adapter, X[:, :4], LABELS)
