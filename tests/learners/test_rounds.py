import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from conjunto import CARTClassifier, CARTRegressor
from conjunto.learners.fitting import fit_members
from conjunto.learners.rounds import FittedRounds, TreeRounds, answers, start_rounds
from conjunto.problem import Rows, read_problem
from conjunto.streams import Stream
from conjunto.view import View

KEY = (12, 34)


def frame(n):
    random = np.random.default_rng(n)
    return pd.DataFrame(
        {
            "letter": random.choice(list("abcdefg"), n),
            "few": random.integers(0, 4, n).astype(float),
            "holes": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
            "number": random.normal(size=n),
        }
    )


def numbers(n):
    return np.random.default_rng(n).normal(size=(n, 5))


def labels(n, classes=3):
    """Noisy classes, so that leaves are not pure."""
    random = np.random.default_rng(n + 1)
    score = frame(n)["number"].to_numpy() + numbers(n)[:, 0] + 0.5 * random.normal(size=n)
    return np.array(["x", "y", "z"])[np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)]


def read(X, y, classification=True):
    learner = CARTClassifier() if classification else CARTRegressor()
    return read_problem(learner, X, y, None, classification=classification)


def real_weights(n, t=0):
    """Weights of boosting: far apart, some of them 0."""
    random = np.random.default_rng(t)
    weights = np.exp(2 * random.normal(size=n)) * (random.random(n) > 0.2)
    return weights / weights.sum()


def multiplicities(n, t=0):
    return np.random.default_rng(t).integers(0, 4, n)


WEIGHTS = {"real": real_weights, "whole": multiplicities}
SHAPES = {
    "stump": {"max_depth": 1},
    "depth 3": {"max_depth": 3},
    "full": {},
    "leaves": {"max_leaf_nodes": 6},
    "random": {"max_features": 2},
    "combinations": {"combination_features": 2, "max_features": 3},
    "one of three": {"k_best": 3, "max_depth": 4},
    "large leaves": {"min_samples_leaf": 7},
    "heavy leaves": {"min_weight_fraction_leaf": 0.05},
}
DATA = {"frame": lambda: frame(150), "numbers": lambda: numbers(150), "many numbers": lambda: numbers(1200)}


def of_forest(forest, X, answer):
    """What trees say, by the ways of prediction."""
    if answer == "shares":
        return np.stack([forest.take(np.array([t])).share_sums(X) for t in range(len(forest))])
    return forest.leaves(X).T if answer == "leaves" else getattr(forest, answer)(X)


def check_answers(learner, problem, answer, weights):
    rounds = TreeRounds(learner, problem, KEY, answer, 1)
    said = np.concatenate([rounds.fit([View(weights(problem.n, t))], [t]) for t in range(4)])
    members = rounds.members()
    assert len(members) == 4
    expected = of_forest(members.forest, problem.X, answer)
    assert said.shape == expected.shape
    np.testing.assert_array_equal(said, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("data", DATA)
def test_classification_trees_say_what_they_predict(shape, kind, data):
    X = DATA[data]()
    problem = read(X, labels(len(X)))
    for answer in ("labels", "shares", "leaves"):
        check_answers(CARTClassifier(**SHAPES[shape]), problem, answer, WEIGHTS[kind])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("data", DATA)
def test_regression_trees_say_what_they_predict(shape, kind, data):
    X = DATA[data]()
    y = numbers(len(X)) @ [1, 2, 0, 0, 1] + np.random.default_rng(0).normal(size=len(X))
    problem = read(X, y, classification=False)
    for answer in ("values", "leaves"):
        check_answers(CARTRegressor(**SHAPES[shape]), problem, answer, WEIGHTS[kind])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("data", DATA)
def test_rounds_grow_the_trees_of_independent_members(shape, data):
    X = DATA[data]()
    problem = read(X, labels(len(X)))
    learner = CARTClassifier(**SHAPES[shape])
    rounds = TreeRounds(learner, problem, KEY, "labels", 1)
    views = [View(multiplicities(problem.n, t)) for t in range(3)]
    said = np.concatenate([rounds.fit([view], [7 + t]) for t, view in enumerate(views)])
    members = fit_members(learner, problem, views, [Stream(KEY, 7 + t) for t in range(3)], 1)
    np.testing.assert_array_equal(said, members.labels(Rows(problem.X, X), 1))
    np.testing.assert_array_equal(rounds.members().forest.leaves(problem.X), members.forest.leaves(problem.X))


def test_rows_of_weight_zero_do_not_shape_trees():
    X = numbers(150)
    y = labels(150)
    weights = real_weights(150)
    keep = weights > 0
    assert 0 < keep.sum() < 150
    whole = TreeRounds(CARTClassifier(max_depth=3), read(X, y), KEY, "shares", 1)
    part = TreeRounds(CARTClassifier(max_depth=3), read(X[keep], y[keep]), KEY, "shares", 1)
    said = whole.fit([View(weights)], [0])
    np.testing.assert_allclose(said[:, keep], part.fit([View(weights[keep])], [0]), rtol=1e-9)
    changed = np.where(keep, y, "x")
    assert (changed != y).any()
    other = TreeRounds(CARTClassifier(max_depth=3), read(X, changed), KEY, "shares", 1)
    np.testing.assert_array_equal(said, other.fit([View(weights)], [0]))


@pytest.mark.parametrize("class_weight", ["balanced", {"x": 5.0, "y": 1.0, "z": 0.5}])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_class_weights_multiply(class_weight, kind):
    X = frame(150)
    y = np.where(np.arange(150) % 3 == 0, labels(150), "x")
    problem = read(X, y)
    learner = CARTClassifier(max_depth=3, class_weight=class_weight)
    check_answers(learner, problem, "shares", WEIGHTS[kind])
    rounds = TreeRounds(learner, problem, KEY, "shares", 1)
    plain = TreeRounds(CARTClassifier(max_depth=3), problem, KEY, "shares", 1)
    weights = WEIGHTS[kind](150)
    both = rounds.fit([View(weights)], [0])
    np.testing.assert_array_equal(both, plain.fit([View(weights * compute_sample_weight(class_weight, y))], [0]))
    assert not np.array_equal(both, plain.fit([View(weights)], [1]))


@pytest.mark.parametrize("kind", WEIGHTS)
def test_one_member_per_class_in_a_round(kind):
    X = frame(150)
    codes = read(X, labels(150)).y
    problem = read(X, (codes == 1).astype(int))
    rounds = TreeRounds(CARTClassifier(max_depth=2), problem, KEY, "labels", 1)
    views = [View(WEIGHTS[kind](150, k), labels=(codes == k).astype(np.int32)) for k in range(3)]
    said = rounds.fit(views, [0, 1, 2])
    np.testing.assert_array_equal(said, rounds.members().forest.labels(problem.X))
    for k, view in enumerate(views):
        alone = TreeRounds(CARTClassifier(max_depth=2), problem, KEY, "labels", 1).fit([view], [k])
        np.testing.assert_array_equal(said[k], alone[0])


def test_threads_change_nothing():
    problem = read(numbers(600), labels(600))
    views = [View(real_weights(600, t)) for t in range(3)]
    one, two = (
        TreeRounds(CARTClassifier(), problem, KEY, "leaves", threads).fit(views, [0, 1, 2]) for threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_rows_drawn_more_than_255_times():
    problem = read(numbers(60), labels(60))
    weights = np.where(np.arange(60) < 5, 300, 1)
    whole = TreeRounds(CARTClassifier(max_depth=2), problem, KEY, "shares", 1).fit([View(weights)], [0])
    real = TreeRounds(CARTClassifier(max_depth=2), problem, KEY, "shares", 1).fit([View(weights / 1.0)], [0])
    np.testing.assert_array_equal(whole, real)


@pytest.mark.parametrize("learner", [CARTClassifier(max_depth=2), CARTClassifier(), GaussianNB()])
def test_dropped_members_are_forgotten(learner):
    X = numbers(100)
    problem = read(X, labels(100))
    views = [View(real_weights(100, t)) for t in range(5)]
    rounds = start_rounds(learner, problem, KEY, "labels", 1)
    said = [rounds.fit([view], [t])[0] for t, view in enumerate(views[:3])]
    rounds.drop(1)
    rounds.fit(views[3:5], [3, 4])
    rounds.drop(2)
    said[2] = rounds.fit([views[4]], [4])[0]
    members = rounds.members()
    assert len(members) == 3
    np.testing.assert_array_equal(members.labels(Rows(problem.X, X), 1), said)
    fresh = start_rounds(learner, problem, KEY, "labels", 1)
    np.testing.assert_array_equal(fresh.fit([views[4]], [4])[0], said[2])


def test_the_kind_of_rounds_follows_the_learner():
    problem = read(numbers(30), labels(30))
    assert isinstance(start_rounds(CARTClassifier(), problem, KEY, "labels", 1), TreeRounds)
    assert isinstance(start_rounds(DecisionTreeClassifier(), problem, KEY, "labels", 1), FittedRounds)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=2), GaussianNB(), KNeighborsClassifier(3)])
@pytest.mark.parametrize("answer", ["labels", "shares"])
def test_other_classifiers_say_what_they_predict(learner, answer):
    X = numbers(100)
    y = labels(100)
    problem = read(X, y)
    rounds = FittedRounds(learner, problem, KEY, answer, 1)
    said = np.concatenate([rounds.fit([View(multiplicities(100, t))], [t]) for t in range(3)])
    for t, model in enumerate(rounds.members().fitted):
        if answer == "labels":
            np.testing.assert_array_equal(problem.classes[said[t]], model.predict(X))
        else:
            np.testing.assert_allclose(said[t], model.predict_proba(X))
    np.testing.assert_array_equal(said, answers(rounds.members(), Rows(X, X), answer, 1))


def test_other_regressors_say_what_they_predict():
    X = numbers(80)
    problem = read(X, X @ np.arange(5.0) ** 2 + X[:, 0] ** 2, classification=False)
    rounds = FittedRounds(LinearRegression(), problem, KEY, "values", 1)
    weights = real_weights(80)
    said = rounds.fit([View(weights)], [0])
    np.testing.assert_allclose(said[0], LinearRegression().fit(X, problem.y, sample_weight=weights).predict(X))
    np.testing.assert_array_equal(said[0], rounds.members().fitted[0].predict(X))


def test_other_learners_have_no_leaves_and_give_shares():
    problem = read(numbers(60), labels(60))
    view = View(real_weights(60))
    leaves = FittedRounds(GaussianNB(), problem, KEY, "leaves", 1).fit([view], [0])
    np.testing.assert_array_equal(leaves, FittedRounds(GaussianNB(), problem, KEY, "shares", 1).fit([view], [0]))


def test_a_class_missing_from_a_sample_has_no_share():
    X, y = numbers(60), labels(60)
    weights = np.where(y == "y", 0, 1)
    said = FittedRounds(DecisionTreeClassifier(), read(X, y), KEY, "shares", 1).fit([View(weights)], [0])
    assert said.shape == (1, 60, 3)
    assert (said[0, :, 1] == 0).all()
    np.testing.assert_allclose(said[0].sum(axis=1), 1)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps the weights that it was given."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.weights_ = np.unique(y), sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_other_learners_see_weights_of_mean_one_and_multiplicities_as_they_are():
    problem = read(numbers(60), labels(60))
    rounds = FittedRounds(Recorder(), problem, KEY, "labels", 1)
    real, whole = real_weights(60), multiplicities(60)
    rounds.fit([View(real)], [0])
    rounds.fit([View(whole)], [1])
    scaled, kept = (member.weights_ for member in rounds.members().fitted)
    assert scaled.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(scaled / scaled.sum(), real[real > 0] / real.sum())
    np.testing.assert_array_equal(kept, whole[whole > 0])
