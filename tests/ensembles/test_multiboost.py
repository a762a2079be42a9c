import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from conjunto import CARTClassifier, MultiBoostClassifier
from conjunto.datasets import make_twonorm
from conjunto.generation.weights import exponential_weights
from conjunto.streams import Stream

X, Y = make_twonorm(150, random_state=0)
X = X[:, :3]


def stump():
    return CARTClassifier(max_depth=1)


def runs_of(groups):
    """(first, size) of every committee, as its members lie side by side."""
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    return list(zip(firsts.tolist(), np.diff(firsts, append=len(groups)).tolist(), strict=True))


def m1(model, members, first_weights, X, y):
    """AdaBoost.M1 on members that exist: their errors under its weights, and the weights that each saw."""
    weights, errors, seen = first_weights / first_weights.sum(), [], []
    for member in members:
        wrong = member.predict(X) != y
        error = weights[wrong].sum()
        seen.append(weights)
        errors.append(error)
        if error > 0:
            weights = np.where(wrong, weights / (2 * error), weights / (2 * (1 - error)))
            weights = np.maximum(weights, model.weight_floor)
            weights /= weights.sum()
    return errors, seen


@pytest.mark.parametrize(("n", "committees"), [(1, 1), (2, 1), (9, 3), (10, 3), (24, 4), (25, 5), (100, 10)])
def test_there_are_as_many_committees_as_the_square_root(n, committees):
    model = MultiBoostClassifier(stump(), n_estimators=n, random_state=0).fit(X, Y)
    sizes = np.bincount(model.committees_)
    assert len(model) == n
    assert len(sizes) == committees
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("committees", [1, 2, 7, 20])
def test_committees_can_be_chosen(committees):
    model = MultiBoostClassifier(stump(), n_estimators=20, n_committees=committees, random_state=0).fit(X, Y)
    sizes = np.bincount(model.committees_)
    assert len(sizes) == committees
    assert sizes.sum() == 20
    assert sizes.max() - sizes.min() <= 1
    assert (np.diff(model.committees_) >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_each_committee_is_a_run_of_m1_from_random_weights(weighted):
    examples = np.random.default_rng(1).uniform(0.2, 3.0, len(Y)) if weighted else np.ones(len(Y))
    model = MultiBoostClassifier(stump(), n_estimators=16, random_state=5)
    model.fit(X, Y, examples if weighted else None)
    members = model.estimators_
    for first, size in runs_of(model.committees_):
        start = examples * exponential_weights(Stream(model._key, first), len(Y))
        errors, seen = m1(model, members[first : first + size], start, X, Y)
        np.testing.assert_allclose(model.estimator_errors_[first : first + size], errors, rtol=1e-9)
        for member, weights in zip(members[first : first + size], seen, strict=True):
            np.testing.assert_array_equal(member.predict(X), stump().fit(X, Y, sample_weight=weights).predict(X))
    errors = model.estimator_errors_
    np.testing.assert_allclose(model.estimator_weights_, np.log((1 - errors) / errors))


def test_learning_rate_scales_votes_and_reweighting():
    model = MultiBoostClassifier(stump(), n_estimators=8, n_committees=2, learning_rate=0.5, random_state=0).fit(X, Y)
    errors = model.estimator_errors_
    np.testing.assert_allclose(model.estimator_weights_, 0.5 * np.log((1 - errors) / errors))
    weights = exponential_weights(Stream(model._key, 4), len(Y))
    for t in range(4, 8):
        weights = weights / weights.sum()
        wrong = model.estimators_[t].predict(X) != Y
        assert errors[t] == pytest.approx(weights[wrong].sum(), rel=1e-9)
        weights = weights * np.where(wrong, 1.0, np.sqrt(errors[t] / (1 - errors[t])))


def test_the_vote_is_weighted():
    iris, species = load_iris(return_X_y=True)
    model = MultiBoostClassifier(CARTClassifier(max_depth=2), n_estimators=12, random_state=0).fit(iris, species)
    counts = np.zeros((len(iris), 3))
    for t, (member, said) in enumerate(zip(model.estimators_, model.staged_predict(iris), strict=True)):
        counts[np.arange(len(iris)), member.predict(iris)] += model.estimator_weights_[t]
        np.testing.assert_array_equal(said, counts.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(iris), counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(iris), counts.argmax(axis=1))


def test_perfect_members_end_their_committee():
    model = MultiBoostClassifier(CARTClassifier(), n_estimators=9, random_state=0).fit(X, Y)
    assert model.committees_.tolist() == list(range(9))
    np.testing.assert_allclose(model.estimator_weights_, np.log(1e10))
    for t, member in enumerate(model.estimators_):
        drawn = exponential_weights(Stream(model._key, t), len(Y))
        np.testing.assert_array_equal(member.predict(X), CARTClassifier().fit(X, Y, sample_weight=drawn).predict(X))
    assert not np.array_equal(*[member.predict(X + 0.3) for member in model.estimators_[:2]])


class Wrong(ClassifierMixin, BaseEstimator):
    """Is right on five sixths of the rows; every third fit is always wrong. Keeps the weights that it was given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.seen.append(sample_weight / sample_weight.sum())
        self.number = len(self.seen)
        self.bad = self.number % 3 == 0
        return self

    def predict(self, X):
        truth = X[:, 0] >= 0
        wrong = (np.arange(len(X)) % 6 == self.number % 6) | self.bad
        return np.where(wrong, ~truth, truth).astype(int)


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Wrong, "seen", [])
    return Wrong.seen


SIGNS = np.random.default_rng(2).normal(size=(60, 1))


def test_members_no_better_than_chance_are_dropped_and_end_their_committee(seen):
    model = MultiBoostClassifier(Wrong(), n_estimators=8, n_committees=1, random_state=0)
    model.fit(SIGNS, (SIGNS[:, 0] >= 0).astype(int))
    assert model.committees_.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(seen) == 11
    for fit in (0, 3, 6, 9):
        drawn = exponential_weights(Stream(model._key, fit), 60)
        np.testing.assert_allclose(seen[fit], drawn / drawn.sum())


class Unlucky(Wrong):
    """Its second to fourth fits are no better than chance."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.bad = self.number in (2, 3, 4)
        return self


def test_committees_are_numbered_without_gaps(seen):
    model = MultiBoostClassifier(Unlucky(), n_estimators=4, n_committees=1, random_state=0)
    model.fit(SIGNS, (SIGNS[:, 0] >= 0).astype(int))
    assert model.committees_.tolist() == [0, 1, 1, 1]


class Hopeless(Wrong):
    """Is wrong on every row."""

    def predict(self, X):
        return (X[:, 0] < 0).astype(int)


def test_a_learner_that_is_never_better_than_chance_is_an_error(seen):
    with pytest.raises(ValueError, match=r"worse than random, or no better: the error of the first member is 1\.000"):
        MultiBoostClassifier(Hopeless(), random_state=0).fit(SIGNS, (SIGNS[:, 0] >= 0).astype(int))
    assert len(seen) == 100


class Sampled(ClassifierMixin, BaseEstimator):
    """Takes no weights; keeps the rows that it was given."""

    rows: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.rows.append(X[:, 0].astype(int))
        return self

    def predict(self, X):
        return (X[:, 0] >= 100).astype(int)


def test_the_first_sample_of_a_committee_does_not_depend_on_how_its_weights_were_drawn(monkeypatch):
    monkeypatch.setattr(Sampled, "rows", [])
    rows = np.arange(200.0)[:, None]
    model = MultiBoostClassifier(Sampled(), n_estimators=150, random_state=0).fit(rows, (rows[:, 0] >= 100).astype(int))
    drawn = np.stack([exponential_weights(Stream(model._key, t), 200) for t in range(150)])
    counts = np.stack([np.bincount(sample, minlength=200) for sample in Sampled.rows])
    assert counts.shape == drawn.shape
    # Given the weights, what a count has too much is noise. Its covariance with the weight has mean 0.
    surplus = ((counts - drawn) * drawn).mean(axis=1)
    assert abs(surplus.mean()) < 5 * surplus.std(ddof=1) / np.sqrt(150)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_committees": 11, "n_estimators": 10}, "n_committees=11 is more than n_estimators=10"),
        ({"n_committees": 0}, "n_committees must be a whole number of at least 1, got 0"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiBoostClassifier(**parameters).fit(X, Y)
