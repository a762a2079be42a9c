"""Combinations of a store against what one would do by hand with the fitted models' answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto.datasets import Dataset
from conjunto.experiments import (
    COMBINATIONS,
    Experiment,
    Method,
    Protocol,
    Results,
    Source,
    Store,
    StoreError,
    combine,
    run,
)
from conjunto.experiments.recorded import Records


def table(n=150, seed=0, signal=1.0, classes=3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    score = signal * (X["a"] + X["b"] * X["c"]) + rng.normal(size=n)
    y = pd.qcut(score, classes, labels=[f"class {k}" for k in range(classes)]).astype(str)
    return Dataset("made", X, pd.Series(y, name="y"), "classification")


METHODS = (
    Method("tree", estimator=DecisionTreeClassifier(max_depth=3)),
    Method("neighbours", estimator=KNeighborsClassifier(7)),
    Method("linear", estimator=LogisticRegression()),
    Method("constant"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("combine") / "results.sqlite"
    run(Experiment((Source("made", data=table()),), METHODS, Protocol("k-fold", 2, 3)), path)
    combine(path)
    return path


def kept(path):
    """(tested, {method: answers}) by partition."""
    results = Results.read(path)
    found = {}
    for method, number, tested, answers in results.answers("made"):
        found.setdefault(number, (tested, {}))[1][method] = answers
    return results, found


MEMBERS = ["tree", "neighbours", "linear"]


def test_the_vote_of_all_is_counted_by_hand(store):
    """The most frequent label; the lowest class of equally frequent ones. The constant has no vote."""
    _, found = kept(store)
    for _, answers in found.values():
        labels = np.stack([answers[method].predicted for method in MEMBERS])
        counts = (labels[:, :, None] == np.arange(3)).sum(axis=0)
        assert np.array_equal(answers["vote of all"].predicted, counts.argmax(axis=1))
        mean = np.mean([answers[method].proba for method in MEMBERS], axis=0)
        np.testing.assert_allclose(answers["mean probabilities of all"].proba, mean, atol=1e-6)


def test_naive_bayes_is_learned_on_the_other_folds_of_the_repetition(store):
    """Confusion tables with one added to each cell, multiplied with the shares of the classes."""
    from conjunto import NaiveBayesCombinationClassifier
    from conjunto.experiments.recorded import RecordedClassifier

    _, found = kept(store)
    for number, (tested, answers) in found.items():
        others = [part for part in found if part // 3 == number // 3 and part != number]
        assert not set(tested.rows) & {row for part in others for row in found[part][0].rows}
        models = [
            (
                method,
                RecordedClassifier(
                    np.concatenate([found[part][1][method].predicted for part in [*others, number]]),
                    np.concatenate([found[part][1][method].proba for part in [*others, number]]),
                ),
            )
            for method in MEMBERS
        ]
        truth = np.concatenate([found[part][0].truth for part in others])
        n = len(truth)
        model = NaiveBayesCombinationClassifier(models, prefit=True).fit(np.arange(n)[:, None], truth)
        expected = model.predict(np.arange(n, n + len(tested.truth))[:, None])
        assert np.array_equal(answers["naive Bayes of all"].predicted, expected)


def test_the_best_is_chosen_by_the_other_folds(store):
    _, found = kept(store)
    for number, (_, answers) in found.items():
        others = [part for part in found if part // 3 == number // 3 and part != number]
        wrong = [
            np.concatenate([found[part][1][method].predicted != found[part][0].truth for part in others]).mean()
            for method in MEMBERS
        ]
        best = MEMBERS[int(np.argmin(wrong))]
        assert np.array_equal(answers["best of all, chosen on other folds"].predicted, answers[best].predicted)


def test_combinations_are_marked_rows_and_no_models(store):
    results = Results.read(store)
    board = results.leaderboard("made").set_index("method")
    combined = [c.label for c in COMBINATIONS.values() if "classification" in c.tasks]
    assert board.index[board["combined"]].tolist() == [label for label in board.index if label in combined]
    assert set(results.combined) == set(combined)
    assert all(members == MEMBERS for members in results.combined.values())
    assert (board.loc[combined, "n"] == 6).all()
    assert results.method("stacking of all") is None
    members = board.loc[MEMBERS, "fit_seconds"].sum()
    assert board.loc["stacking of all", "fit_seconds"] > members


def test_again_is_in_place_of_before_and_new_methods_join(store, tmp_path):
    copy = tmp_path / "copy.sqlite"
    with Store(store) as opened:
        opened._connection.execute("VACUUM INTO ?", (str(copy),))
    before = Results.read(copy)
    again = combine(copy)
    pd.testing.assert_frame_equal(before.scores("made"), again.scores("made"))
    more = Method("deep tree", estimator=DecisionTreeClassifier())
    grown = run(Experiment((Source("made", data=table()),), (more,), Protocol("k-fold", 2, 3)), copy)
    assert grown.combined["vote of all"] == MEMBERS
    assert combine(copy, ways=["vote"]).combined["vote of all"] == [*MEMBERS, "deep tree"]


def test_regression_and_forward_chaining(tmp_path):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    X["when"] = np.arange(120)
    data = Dataset("made", X, pd.Series(X["a"] + rng.normal(size=120), name="y"), "regression")
    methods = (
        Method("tree", estimator=DecisionTreeRegressor(max_depth=3)),
        Method("neighbours", estimator=KNeighborsRegressor(7)),
    )
    path = tmp_path / "results.sqlite"
    trial = Experiment((Source("made", data=data, time="when"),), methods, Protocol("forward", folds=4))
    run(trial, path)
    _, found = kept(path)
    combine(path)
    _, found = kept(path)
    mean = np.mean([found[0][1][method].predicted for method in ("tree", "neighbours")], axis=0)
    for label in ("mean of all", "stacking of all", "greedy selection of all", "all, ordered and cut"):
        # Nothing came before the first block: there the combinations are the mean.
        np.testing.assert_allclose(found[0][1][label].predicted, mean)
    assert not np.allclose(found[3][1]["stacking of all"].predicted, found[3][1]["mean of all"].predicted)


def test_holdouts_never_learn_from_their_own_rows():
    """By brute force, over records of overlapping partitions."""
    from conjunto.experiments.answers import Answers, HeldOut

    rng = np.random.default_rng(0)
    tested = {
        number: HeldOut(rng.choice(60, 20, replace=False), rng.integers(0, 2, 20), np.array([0.5, 0.5]), 1)
        for number in range(5)
    }
    said = {name: {number: Answers(rng.integers(0, 2, 20)) for number in tested} for name in "ab"}
    records = Records.of(tested, said)
    for number in tested:
        learned = records.to_learn_for(number, Protocol("holdout", 5), 10**6)
        expected = [
            place
            for place, (part, row) in enumerate(zip(records.partition, records.rows, strict=True))
            if part != number and row not in tested[number].rows
        ]
        assert learned.tolist() == expected
        assert len(records.to_learn_for(number, Protocol("holdout", 5), 7)) == 7


class ByHeart(ClassifierMixin, BaseEstimator):
    """Knows its training rows by heart and guesses others."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = dict(zip(map(tuple, np.asarray(X)), y, strict=True))
        return self

    def predict(self, X):
        rng = np.random.default_rng(self.random_state)
        return np.array([self.known_.get(tuple(row), rng.choice(self.classes_)) for row in np.asarray(X)])


def test_random_labels_give_chance(tmp_path):
    """No combination finds what is not there: within four standard errors of tossing a coin, over 1200 rows."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(1200, 3)), columns=list("abc"))
    data = Dataset("made", X, pd.Series(rng.choice(["no", "yes"], 1200), name="y"), "classification")
    methods = (*METHODS[:3], Method("by heart", estimator=ByHeart()))
    path = tmp_path / "results.sqlite"
    run(Experiment((Source("made", data=data),), methods, Protocol("k-fold", 1, 5)), path)
    errors = combine(path).scores("made").mean()
    assert (np.abs(errors - 0.5) < 4 * 0.5 / np.sqrt(1200)).all(), errors


def test_what_cannot_be_combined(store, tmp_path):
    with pytest.raises(ValueError, match="ways: there is no combination 'staking'; did you mean 'stacking'"):
        combine(store, ways=["staking"])
    taken = Experiment((Source("made", data=table()),), (Method("cart", "vote of all"),), Protocol("k-fold", 2, 3))
    with pytest.raises(StoreError, match="'vote of all' is a combination there; choose another label"):
        run(taken, store)
    with pytest.raises(ValueError, match="methods: 'vote of all' is no method of the store"):
        combine(store, methods=["tree", "vote of all"])
    path = tmp_path / "results.sqlite"
    trial = Experiment((Source("made", data=table()),), METHODS[:2], Protocol("k-fold", 1, 3))
    run(trial, path, keep_answers=False)
    with pytest.raises(StoreError, match="nothing to combine: two methods"):
        combine(path)
    other = tmp_path / "bootstrap.sqlite"
    run(Experiment((Source("made", data=table()),), METHODS[:2], Protocol("bootstrap-632", 2)), other)
    with pytest.raises(StoreError, match=r"bootstrap \.632 corrects"):
        combine(other)
