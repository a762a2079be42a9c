"""Members on tables of their own: noise on inputs, rotations and synthetic rows, each against plain fits."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from conjunto import CARTClassifier
from conjunto.combination import decide
from conjunto.datasets import make_twonorm
from conjunto.draw import Draw
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.learners.fitting import fit_members
from conjunto.problem import read_problem
from conjunto.streams import Stream
from conjunto.view import ColumnMap, FurtherRows, View

X, Y = make_twonorm(90, random_state=0)
TEST = make_twonorm(200, random_state=1)[0]
STREAM = Stream((1, 2), 0)


@dataclass(frozen=True)
class NoiseDraw(Draw):
    """Gaussian noise on the numbers."""

    sd: float

    def altered(self, stream, problem):
        return problem.X + stream.generator().normal(0, self.sd, problem.X.shape)


@dataclass(frozen=True, eq=False)
class Rotation(ColumnMap):
    """A fitted rotation, column by column: equal rows have equal columns to the last bit."""

    matrix: np.ndarray

    def __call__(self, rows):
        return sum(column[:, None] * coefficients for column, coefficients in zip(rows.T, self.matrix, strict=True))


@dataclass(frozen=True)
class RotationDraw(Draw):
    """A random rotation of the columns, in their place."""

    features_only = True

    def features(self, stream, problem, rows):
        square = stream.generator().normal(size=(problem.m, problem.m))
        return Rotation(np.linalg.qr(square)[0])


@dataclass(frozen=True)
class SyntheticDraw(Draw):
    """Points between two rows of the rarer class, as SMOTE makes them."""

    count: int

    def further(self, stream, problem, rows):
        random = stream.generator()
        rare = np.flatnonzero(problem.y == np.bincount(problem.y).argmin())
        one, other = random.choice(rare, (2, self.count))
        X = problem.X[one] + random.random((self.count, 1)) * (problem.X[other] - problem.X[one])
        return FurtherRows(X, np.full(self.count, problem.y[rare[0]], dtype=np.int32))


class Method(ClassAnswers, IndependentEnsemble):
    """A throw-away method of any draw."""

    def __init__(self, draw, estimator=None, n_estimators=7, n_jobs=None, random_state=0):
        self.draw = draw
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _draw(self, problem):
        return self.draw


def sights(draw, t, key):
    problem = read_problem(CARTClassifier(), X, Y, None, classification=True)
    return draw.view(Stream(key, t), problem, draw.outline(problem))


LEARNERS = [None, LogisticRegression(), DecisionTreeClassifier(random_state=0)]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_noise_is_in_training_alone(learner):
    model = Method(NoiseDraw(0.5), learner).fit(X, Y)
    for t, member in enumerate(model.estimators_):
        noisy = sights(NoiseDraw(0.5), t, model._drawn.key).X
        assert np.abs(noisy - X).max() > 0.5
        if learner is None:
            # A fully grown tree is right about the rows that it learned from.
            np.testing.assert_array_equal(member.predict(noisy), Y)
        else:
            fresh = type(learner)(**learner.get_params()).set_params(random_state=member.random_state).fit(noisy, Y)
            np.testing.assert_array_equal(member.predict(TEST), fresh.predict(TEST))
    np.testing.assert_array_equal(decide(model.votes(TEST)), model.predict(TEST))
    assert model.score(X, Y) > 0.85


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_rotation_is_in_training_and_prediction(learner):
    model = Method(RotationDraw(), learner).fit(X, Y)
    for t, member in enumerate(model.estimators_):
        rotation = sights(RotationDraw(), t, model._drawn.key).features
        if learner is None:
            truth = CARTClassifier(random_state=0).fit(rotation(X), Y)
            assert member.predict(X).tolist() == Y.tolist() == truth.predict(rotation(X)).tolist()
        elif isinstance(learner, LogisticRegression):
            truth = LogisticRegression().fit(rotation(X), Y)
            np.testing.assert_array_equal(member.predict(TEST), truth.predict(rotation(TEST)))
    np.testing.assert_array_equal(decide(model.votes(TEST)), model.predict(TEST))
    # Axis-parallel trees on other axes still learn the problem.
    assert model.score(TEST, make_twonorm(200, random_state=1)[1]) > 0.8


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_synthetic_rows_are_rows(learner):
    y = np.where(np.arange(90) < 70, 0, Y)
    model = Method(SyntheticDraw(40), learner, n_estimators=3).fit(X, y)
    problem = read_problem(CARTClassifier(), X, y, None, classification=True)
    for t, member in enumerate(model.estimators_):
        more = SyntheticDraw(40).further(Stream(model._drawn.key, t), problem, None)
        rows, labels = np.concatenate([X, more.X]), np.concatenate([y, more.labels])
        if isinstance(learner, LogisticRegression):
            truth = LogisticRegression().fit(rows, labels)
            np.testing.assert_array_equal(member.predict(TEST), truth.predict(TEST))
        elif learner is None:
            np.testing.assert_array_equal(member.predict(rows), labels)
    # Weights of the problem hold for its own rows; further ones have weight 1.
    Method(SyntheticDraw(40), learner, n_estimators=2).fit(X, y, sample_weight=np.full(90, 0.5))


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_keep_their_kinds_for_learners_of_other_libraries(library):
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(X)
            self.classes_ = np.unique(y)
            return self

    frame = library.DataFrame({"x": X[:6, 0], "side": ["l", "r", None, "l", "r", "l"]})
    problem = read_problem(CARTClassifier(), frame, [0, 1, 0, 1, 0, 1], None, classification=True)
    further = FurtherRows(np.array([[9.0, 1.0], [8.0, np.nan]]), np.array([1, 0], dtype=np.int32))
    altered = problem.X + np.array([1.0, 0.0])
    fit_members(Spy(), problem, [View(X=altered, further=further)], [STREAM], 1)
    (given,) = seen
    assert type(given) is type(frame)
    assert list(given.columns) == ["x", "side"]
    np.testing.assert_allclose(given["x"].to_numpy(), [*(X[:6, 0] + 1), 9.0, 8.0])
    sides = given["side"].to_list()
    assert [None if side != side else side for side in sides] == ["l", "r", None, "l", "r", "l", "r", None]
