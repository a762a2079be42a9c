import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from conjunto import CARTClassifier, CARTRegressor, ThreeBoostClassifier
from conjunto.datasets import make_threenorm, make_twonorm
from conjunto.generation.rows import half_wrong_sample, subsample
from conjunto.streams import Stream

X, Y = make_twonorm(200, random_state=0)


class Recorder(ClassifierMixin, BaseEstimator):
    """Logistic regression that keeps the rows and weights it was given; the first column numbers the rows."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen.append((X[:, 0].astype(int), sample_weight))
        self.model_ = LogisticRegression().fit(X[:, 1:], y, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X[:, 1:])


class Plain(Recorder):
    """The same without weights."""

    def fit(self, X, y):
        return super().fit(X, y)


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    return Recorder.seen


NOISY, TRUTH = make_threenorm(200, random_state=0)
NUMBERED = np.column_stack([np.arange(200.0), NOISY[:, :5]])


def weights_with_zeros():
    weights = np.random.default_rng(3).uniform(0.2, 3.0, 200)
    weights[::5] = 0
    return weights


@pytest.mark.parametrize("learner", [Recorder(), Plain()], ids=["weights", "no weights"])
@pytest.mark.parametrize(("first_share", "size"), [(0.5, 100), (0.3, 60), (37, 37), (1.0, 200)])
def test_what_each_of_the_three_is_trained_on(seen, learner, first_share, size):
    model = ThreeBoostClassifier(learner, first_share=first_share, random_state=1).fit(NUMBERED, TRUTH)
    h1, h2, _ = (member.predict(NUMBERED) for member in model.estimators_)
    first, second, third = (rows for rows, _ in seen)
    assert len(set(first)) == len(first) == size
    wrong = h1 != TRUTH
    assert len(set(second)) == len(second)
    assert wrong[second].sum() == (~wrong)[second].sum() == min(wrong.sum(), (~wrong).sum())
    np.testing.assert_array_equal(np.sort(third), np.flatnonzero(h1 != h2))


def test_samples_are_those_of_their_streams(seen):
    model = ThreeBoostClassifier(Recorder(), random_state=1).fit(NUMBERED, TRUTH)
    wrong = model.estimators_[0].predict(NUMBERED) != TRUTH
    np.testing.assert_array_equal(seen[0][0], np.flatnonzero(subsample(Stream(model._key, 0), 200, 100)))
    np.testing.assert_array_equal(seen[1][0], np.flatnonzero(half_wrong_sample(Stream(model._key, 1), wrong, ~wrong)))


def test_sample_weights_reach_the_members_and_zeros_are_left_out(seen):
    weights = weights_with_zeros()
    model = ThreeBoostClassifier(Recorder(), random_state=1).fit(NUMBERED, TRUTH, weights)
    h1, h2, _ = (member.predict(NUMBERED) for member in model.estimators_)
    wrong = h1 != TRUTH
    for t, (rows, told) in enumerate(seen):
        assert (weights[rows] > 0).all()
        if t != 1:
            np.testing.assert_allclose(told, weights[rows])
    second, halves = seen[1]
    assert halves[wrong[second]].sum() == pytest.approx(halves[~wrong[second]].sum())
    for side in (wrong[second], ~wrong[second]):
        factor = halves[side] / weights[second][side]
        np.testing.assert_allclose(factor, factor[0])
    assert len(seen[0][0]) == 100
    np.testing.assert_array_equal(seen[2][0], np.flatnonzero((h1 != h2) & (weights > 0)))


def test_learners_without_weights_never_see_rows_of_weight_zero(seen):
    weights = weights_with_zeros()
    ThreeBoostClassifier(Plain(), random_state=1).fit(NUMBERED, TRUTH, weights)
    assert len(seen) == 3
    assert all((weights[rows] > 0).all() for rows, _ in seen)


def errors_and_bound(model, X, y, weights):
    """Errors of the three on the distributions of the theory, which sum to 1 here."""
    said = [member.predict(X) for member in model.estimators_]
    weights = weights / weights.sum()
    wrong = said[0] != y
    errors = [weights[wrong].sum()]
    if len(said) > 1:
        second = np.where(wrong, weights / (2 * errors[0]), weights / (2 * (1 - errors[0])))
        errors.append(second[said[1] != y].sum())
    if len(said) > 2:
        third = weights * (said[0] != said[1])
        errors.append(third[said[2] != y].sum() / third.sum())
    return errors, 3 * max(errors) ** 2 - 2 * max(errors) ** 3


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.booleans()
)
def test_error_is_below_the_bound_on_random_problems(seed, n, columns, depth, weighted, learnable):
    random = np.random.default_rng(seed)
    X = random.integers(0, 8, size=(n, columns)).astype(float)
    y = (X[:, 0] + random.normal(size=n) > 4).astype(int) if learnable else random.integers(0, 2, n)
    weights = random.integers(0, 4, n) * random.random(n) if weighted else np.ones(n)
    weights = weights if weights.any() else np.ones(n)
    model = ThreeBoostClassifier(CARTClassifier(max_depth=depth), random_state=seed % 1000)
    model.fit(X, y, weights if weighted else None)
    errors, bound = errors_and_bound(model, X, y, weights)
    np.testing.assert_allclose(model.estimator_errors_, errors, atol=1e-12)
    assert model.bound_ == pytest.approx(bound)
    if max(errors) < 0.5:
        assert np.average(model.predict(X) != y, weights=weights) <= bound + 1e-12


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("learner", [None, GaussianNB(), KNeighborsClassifier(1, algorithm="kd_tree")])
def test_recursion_keeps_its_bound(depth, learner):
    model = ThreeBoostClassifier(learner, depth=depth, random_state=0).fit(NOISY, TRUTH)
    errors, bound = errors_and_bound(model, NOISY, TRUTH, np.ones(200))
    np.testing.assert_allclose(model.estimator_errors_, errors)
    assert max(errors) < 0.5
    assert np.mean(model.predict(NOISY) != TRUTH) <= bound + 1e-12


def levels(model):
    return 1 + max(levels(member) for member in model.estimators_) if isinstance(model, ThreeBoostClassifier) else 0


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth_nests_boosters_of_one_level_less(depth):
    model = ThreeBoostClassifier(depth=depth, random_state=0).fit(NOISY, TRUTH)
    assert levels(model) == depth
    assert len(model) == 3
    if depth > 1:
        assert [member.depth for member in model.estimators_] == [depth - 1] * 3
        assert len({member.random_state for member in model.estimators_}) == 3


def expected(model, X):
    said = [member.predict(X) for member in model.estimators_]
    if len(said) < 3:
        return said[0]
    return np.where(said[0] == said[1], said[0], said[2])


@pytest.mark.parametrize("depth", [1, 2])
def test_h3_decides_where_the_first_two_differ(depth):
    iris, species = load_iris(return_X_y=True)
    model = ThreeBoostClassifier(depth=depth, random_state=0).fit(iris, species)
    new = iris + np.random.default_rng(0).normal(size=iris.shape)
    said = [member.predict(new) for member in model.estimators_]
    # Three different answers, where a plurality would not know.
    assert depth == 2 or any(len(set(column)) == 3 for column in np.stack(said).T)
    np.testing.assert_array_equal(model.predict(new), expected(model, new))
    *_, last = model.staged_predict(new)
    np.testing.assert_array_equal(last, model.predict(new))
    first, second, _ = model.staged_predict(new)
    np.testing.assert_array_equal(first, said[0])
    np.testing.assert_array_equal(second, said[0])


def test_with_two_classes_the_majority_decides():
    model = ThreeBoostClassifier(random_state=0).fit(NOISY, TRUTH)
    said = np.stack([member.predict(NOISY) for member in model.estimators_])
    np.testing.assert_array_equal(model.predict(NOISY), (said.sum(axis=0) >= 2).astype(int))


def test_probabilities_belong_to_the_prediction():
    iris, species = load_iris(return_X_y=True)
    model = ThreeBoostClassifier(random_state=0).fit(iris, species)
    shares = model.predict_proba(iris)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(iris))


def test_a_perfect_first_member_stays_alone():
    model = ThreeBoostClassifier(CARTClassifier(), first_share=1.0, random_state=0).fit(X, Y)
    assert len(model) == 1
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.bound_ == 0.0
    assert model.score(X, Y) == 1.0


class Constant(ClassifierMixin, BaseEstimator):
    """Always answers 0."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_a_second_member_that_agrees_leaves_two():
    y = np.repeat([0, 1], [120, 80])
    model = ThreeBoostClassifier(Constant(), random_state=0).fit(X, y)
    assert len(model) == 2
    np.testing.assert_allclose(model.estimator_errors_, [0.4, 0.5])
    assert (model.predict(X) == 0).all()


def test_one_class():
    model = ThreeBoostClassifier(random_state=0).fit(X, np.ones(200, dtype=int))
    assert len(model) == 1
    assert (model.predict(X) == 1).all()


def frame(n=120):
    random = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "colour": random.choice(["red", "green", "blue"], n),
            "size": np.where(random.random(n) < 0.2, np.nan, random.random(n)),
            "weight": random.normal(size=n),
        }
    )
    good = (data["colour"] == "red") ^ (data["weight"] + data["size"].fillna(0.5) > 0.6)
    return data, np.where(good ^ (random.random(n) < 0.1), "yes", "no")


@pytest.mark.parametrize("depth", [1, 2])
def test_frames_with_categories_missing_values_and_names_of_classes(depth):
    data, y = frame()
    model = ThreeBoostClassifier(CARTClassifier(max_depth=2), depth=depth, random_state=0).fit(data, y)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(data), expected(model, data))
    errors, bound = errors_and_bound(model, data, y, np.ones(len(y)))
    np.testing.assert_allclose(model.estimator_errors_, errors)
    assert max(errors) < 0.5
    assert np.mean(model.predict(data) != y) <= bound + 1e-12


def test_names_of_classes_change_nothing():
    plain = ThreeBoostClassifier(random_state=0).fit(NOISY, TRUTH)
    named = ThreeBoostClassifier(random_state=0).fit(NOISY, np.array(["down", "up"])[TRUTH])
    np.testing.assert_array_equal(named.predict(NOISY), np.array(["down", "up"])[plain.predict(NOISY)])
    np.testing.assert_array_equal(named.estimator_errors_, plain.estimator_errors_)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_seed_gives_the_same_members(depth):
    fits = [ThreeBoostClassifier(depth=depth, random_state=seed).fit(NOISY, TRUTH) for seed in (4, 4, 5)]
    same, again, other = (model.votes(NOISY).labels for model in fits)
    np.testing.assert_array_equal(same, again)
    assert not np.array_equal(same, other)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"depth": 0}, "depth must be a whole number of at least 1, got 0"),
        ({"first_share": 0.0}, r"first_share must be an int in \[1, 200\] or a float in \(0, 1\], got 0.0"),
        ({"first_share": 201}, r"first_share must be an int in \[1, 200\]"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        ThreeBoostClassifier(**parameters).fit(X, Y)


def test_regressors_are_refused():
    with pytest.raises(TypeError, match="estimator must be a scikit-learn classifier"):
        ThreeBoostClassifier(CARTClassifier).fit(X, Y)
    with pytest.raises(TypeError, match=r"estimator must be a classifier, got CARTRegressor\(\)"):
        ThreeBoostClassifier(CARTRegressor()).fit(X, Y)
