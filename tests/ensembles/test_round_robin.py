from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import load_digits, load_iris
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from conjunto import RoundRobinClassifier
from conjunto.combination import decide

WORDS = np.array([f"d{k}" for k in range(10)])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_members_vote_as_those_of_scikit_learn(n_jobs):
    X, y = load_digits(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    truth = OneVsOneClassifier(GaussianNB()).fit(X[:600], y[:600])
    with parallel_config("threading"):  # processes take seconds to start
        model = RoundRobinClassifier(GaussianNB(), n_jobs=n_jobs).fit(X[:600], WORDS[y[:600]])
    new = X[600:900]
    pairs = list(combinations(range(10), 2))
    said = np.stack(
        [np.array(pair)[member.predict(new)] for pair, member in zip(pairs, truth.estimators_, strict=True)]
    )
    np.testing.assert_array_equal(model.votes(new).labels, said)
    np.testing.assert_array_equal(model.pairs_, WORDS[pairs])
    counts = np.stack([(said == k).sum(axis=0) for k in range(10)], axis=1)
    np.testing.assert_array_equal(model.predict(new), WORDS[counts.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba(new), counts / 45, rtol=1e-12)
    # scikit-learn decides ties by confidence, so that only rows without one must agree.
    clear = np.sort(counts, axis=1)[:, -1] > np.sort(counts, axis=1)[:, -2]
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(model.predict(new)[clear], WORDS[truth.predict(new)[clear]])


def test_our_trees_are_trees_on_the_rows_of_two_classes():
    """One column, so that no ties between columns are left to chance."""
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 200)
    X = (y + random.normal(size=200))[:, None]
    model = RoundRobinClassifier(random_state=0).fit(X, y)
    grid = np.linspace(-4, 8, 2001)[:, None]
    for pair, member, rows in zip(model.pairs_, model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(rows, np.flatnonzero(np.isin(y, pair)))
        np.testing.assert_array_equal(
            member.predict(grid), DecisionTreeClassifier().fit(X[rows], y[rows]).predict(grid)
        )


def test_ties_go_to_the_lowest_class():
    """Three classes in a cycle: each beats the next, and every class has one vote."""
    X, y = load_iris(return_X_y=True)
    model = RoundRobinClassifier(random_state=0).fit(X, y)
    votes = model.votes(X)
    counts = np.stack([(votes.labels == k).sum(axis=0) for k in range(3)], axis=1)
    np.testing.assert_array_equal(model.predict(X), counts.argmax(axis=1))
    cycle = RoundRobinClassifier(_Cycle()).fit(X, y)
    assert (cycle.votes(X).labels[:, 0] == [0, 2, 1]).all()
    assert (cycle.predict(X) == 0).all()
    np.testing.assert_allclose(cycle.predict_proba(X), 1 / 3)


class _Cycle(GaussianNB):
    """0 beats 1, 1 beats 2, 2 beats 0."""

    def predict(self, X):
        return np.full(len(X), {(0, 1): 0, (0, 2): 2, (1, 2): 1}[tuple(self.classes_.tolist())])


def test_weights_are_those_of_the_learner():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).random(150)
    model = RoundRobinClassifier(GaussianNB()).fit(X, y, weights)
    for pair, member in zip(model.pairs_, model.estimators_, strict=True):
        rows = np.isin(y, pair)
        truth = GaussianNB().fit(X[rows], y[rows], weights[rows])
        np.testing.assert_allclose(member.predict_proba(X), truth.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("learner", [None, GaussianNB(), LinearSVC()])
def test_a_pair_without_weight_abstains(learner):
    """Truth: a fit without the rows of weight 0 gives the same answers, since their classes win no pair."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    weights = np.where(y < 4, 1.0, 0.0)
    model = RoundRobinClassifier(learner, random_state=0).fit(X, y, weights)
    labels = model.votes(X).labels
    nobody = (model.pairs_ >= 4).all(axis=1)
    assert (labels[nobody] == -1).all()
    assert (labels[~nobody] < 4).all()
    bare = RoundRobinClassifier(learner, random_state=0).fit(X[y < 4], y[y < 4])
    among = (model.pairs_ < 4).all(axis=1)
    if isinstance(learner, GaussianNB):
        # The others draw their ties by the number of the member.
        np.testing.assert_array_equal(labels[among], bare.votes(X).labels)
        np.testing.assert_array_equal(model.predict(X), bare.predict(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(decide(model.votes(X)), model.predict(X))


@pytest.mark.parametrize("learner", [None, LinearSVC()])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_there_is_a_member_for_each_pair(learner, n_classes):
    X, y = load_iris(return_X_y=True)
    rows = y < n_classes
    model = RoundRobinClassifier(learner).fit(X[rows], WORDS[y[rows]])
    assert len(model) == len(model.pairs_) == len(model.estimators_) == {1: 1, 2: 1, 3: 3}[n_classes]
    assert set(model.predict(X)) == set(WORDS[:n_classes])


def test_categories_and_gaps():
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c", "d"], 200)
    X = pd.DataFrame({"kind": kind, "noise": np.where(random.random(200) < 0.3, np.nan, random.normal(size=200))})
    model = RoundRobinClassifier(random_state=0).fit(X, np.char.upper(kind))
    np.testing.assert_array_equal(model.predict(X), np.char.upper(kind))


def test_stages_and_progress(capsys):
    X, y = load_iris(return_X_y=True)
    model = RoundRobinClassifier(verbose=1, random_state=0).fit(X, y)
    assert capsys.readouterr().err.splitlines()[-1] == "RoundRobinClassifier: 3 of 3 members"
    stages = [stage.copy() for stage in model.staged_predict(X)]
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))


def test_out_of_bag_votes_would_all_be_wrong():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="left out by the members that cannot answer its class"):
        RoundRobinClassifier().fit(X, y).oob_votes(X)
