import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

from conjunto import ArcX4Classifier, CARTClassifier
from conjunto.datasets import make_twonorm, make_waveform
from conjunto.generation.rows import weighted_bootstrap
from conjunto.streams import Stream

PROBLEMS = {
    "two classes": make_twonorm(150, random_state=0),
    "three classes": make_waveform(150, random_state=0),
}


def some_weights(n):
    return np.random.default_rng(1).uniform(0.2, 3.0, n)


def plurality(said, classes):
    return classes[np.argmax([(said == label).sum(axis=0) for label in classes], axis=0)]


def arc(X, y, examples, rounds, learner):
    """Arc-x4 as Breiman prints it; `learner(t, weights)` fits the member of round t."""
    examples = examples / examples.sum()
    wrong, members, errors, weights = np.zeros(len(y)), [], [], []
    for t in range(rounds):
        weights.append(examples * (1 + wrong**4))
        weights[-1] /= weights[-1].sum()
        members.append(learner(t, weights[-1]))
        misses = members[-1].predict(X) != y
        errors.append(weights[-1][misses].sum())
        wrong += misses
    return members, errors, weights


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_one_plus_the_fourth_power_of_errors(name, weighted):
    X, y = PROBLEMS[name]
    # Equal weights make columns tie, so there is one column.
    X = X if weighted else X[:, 6:7]
    examples = some_weights(len(y)) if weighted else np.ones(len(y))
    model = ArcX4Classifier(CARTClassifier(max_depth=3), n_estimators=15).fit(X, y, examples if weighted else None)
    members, errors, _ = arc(
        X, y, examples, 15, lambda t, weights: CARTClassifier(max_depth=3).fit(X, y, sample_weight=weights)
    )
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    said = np.stack([member.predict(X) for member in members])
    np.testing.assert_array_equal(model.classes_[model.votes(X).labels], said)


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_member_has_one_vote(name):
    X, y = PROBLEMS[name]
    model = ArcX4Classifier(n_estimators=9).fit(X, y)
    assert model.estimator_weights_.tolist() == [1.0] * 9
    said = np.stack([member.predict(X) for member in model.estimators_])
    for t, answer in enumerate(model.staged_predict(X), 1):
        np.testing.assert_array_equal(answer, plurality(said[:t], model.classes_))
    np.testing.assert_array_equal(model.predict(X), answer)
    shares = np.stack([(said == label).mean(axis=0) for label in model.classes_], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)


def test_full_trees_by_resampling():
    X, y = PROBLEMS["three classes"]
    model = ArcX4Classifier(CARTClassifier(), n_estimators=12, resample=True, random_state=3).fit(X, y)

    def learner(t, weights):
        drawn = weighted_bootstrap(Stream(model._key, t), weights)
        assert drawn.sum() == len(y)
        # A tree that is grown to purity has no error on its sample: what it misses was left out.
        assert (model.estimators_[t].predict(X)[drawn > 0] == y[drawn > 0]).all()
        return model.estimators_[t]

    _, errors, weights = arc(X, y, np.ones(len(y)), 12, learner)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    assert weights[-1].max() > 10 * weights[-1].min()


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_full_trees_on_all_rows_learn_nothing_new():
    X, y = PROBLEMS["two classes"]
    model = ArcX4Classifier(CARTClassifier(), n_estimators=10).fit(X, y)
    assert len(model) == 1
    assert model.score(X, y) == 1.0


class Recorder(ClassifierMixin, BaseEstimator):
    """Always answers the first class, and keeps the weights that it was given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.seen.append(sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_member_that_is_always_wrong_on_a_class_is_no_reason_to_stop(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], [3, 7])
    model = ArcX4Classifier(Recorder(), n_estimators=6).fit(X, y)
    assert len(model) == 6
    for t, weights in enumerate(Recorder.seen):
        exact = np.where(y == 1, 1.0 + t**4, 1.0)
        np.testing.assert_allclose(weights / weights.sum(), exact / exact.sum())


def test_rows_of_weight_zero_are_as_if_left_out():
    X, y = PROBLEMS["two classes"]
    weights = some_weights(len(y)) * (np.arange(len(y)) % 4 > 0)
    keep = weights > 0
    whole = ArcX4Classifier(CARTClassifier(max_depth=1), n_estimators=10).fit(X[:, :1], y, weights)
    part = ArcX4Classifier(CARTClassifier(max_depth=1), n_estimators=10).fit(X[keep, :1], y[keep], weights[keep])
    np.testing.assert_allclose(whole.estimator_errors_, part.estimator_errors_, rtol=1e-9)
    np.testing.assert_array_equal(whole.predict(X[:, :1]), part.predict(X[:, :1]))


def test_learners_without_weights_see_samples():
    X, y = PROBLEMS["two classes"]
    model = ArcX4Classifier(KNeighborsClassifier(1), n_estimators=4, random_state=0).fit(X, y)
    again = ArcX4Classifier(KNeighborsClassifier(1), n_estimators=4, resample=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.votes(X).labels, again.votes(X).labels)
    with pytest.raises(ValueError, match="resample=False needs an estimator that takes sample_weight"):
        ArcX4Classifier(KNeighborsClassifier(1), resample=False).fit(X, y)


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_samples_differ_though_no_member_is_ever_wrong():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] >= 20).astype(int)
    weighted = ArcX4Classifier(CARTClassifier(), 20, random_state=0).fit(X, y)
    assert len(weighted) == 1
    assert len(ArcX4Classifier(CARTClassifier(), 20, resample=True, random_state=0).fit(X, y)) == 20
