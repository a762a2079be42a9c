import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from conjunto import CARTClassifier, CARTRegressor
from conjunto.learners.extended import ExtendedMembers
from conjunto.learners.fitting import fit_members
from conjunto.learners.growing import grow_trees
from conjunto.problem import Columns, Problem, Rows, append_columns
from conjunto.streams import Stream
from conjunto.view import View

from ..forests import assert_same_trees

KEY = (3, 5)
STREAMS = [Stream(KEY, t) for t in range(6)]


class Power:
    """A map of rows to two columns."""

    def __init__(self, power):
        self.power = power

    def __call__(self, X):
        return np.column_stack([X[:, 0] ** self.power, X[:, 1] * X[:, 2]])


def iris():
    X, y = load_iris(return_X_y=True)
    classes = np.array(["a", "b", "c"])
    return Problem(X, y.astype(np.int32), Columns((None,) * 4), classes, np.linspace(1, 2, 150), X)


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return Problem(X, y, Columns((None,) * 10), source=X)


def views(problem, columns=None):
    return [
        View(stream.bootstrap(problem.n, problem.n), columns=columns, features=Power(stream.member))
        for stream in STREAMS
    ]


def fit(learner, problem, n_jobs=1, columns=None):
    members = fit_members(learner, problem, iter(views(problem, columns)), STREAMS, n_jobs)
    assert isinstance(members, ExtendedMembers)
    return members


@pytest.mark.parametrize(("learner", "make"), [(CARTClassifier(), iris), (CARTRegressor(), diabetes)])
def test_a_tree_is_one_on_the_wider_table(learner, make):
    problem = make()
    members = fit(learner, problem)
    rows = Rows(problem.X, problem.X)
    for t, view in enumerate(views(problem)):
        wide = np.hstack([problem.X, view.features(problem.X)])
        table = Problem(wide, problem.y, Columns((None,) * wide.shape[1]), problem.classes, problem.weights)
        numbers = np.array([t], dtype=np.uint64)
        tree = grow_trees(learner, table, KEY, numbers, [View(view.weights)])
        assert_same_trees(members.forest.take(np.array([t])), tree)
        if problem.n_classes:
            np.testing.assert_array_equal(members.labels(rows, 1)[t], tree.labels(wide)[0])
            np.testing.assert_array_equal(members.shares(t, rows), tree.share_sums(wide))
        else:
            np.testing.assert_array_equal(members.values(rows, 1)[t], tree.values(wide)[0])


def test_another_learner_is_fitted_on_the_wider_table():
    problem = diabetes()
    members = fit(LinearRegression(), problem)
    said = members.values(Rows(problem.X, problem.X), 1)
    for t, view in enumerate(views(problem)):
        wide = np.hstack([problem.X, view.features(problem.X)])
        truth = LinearRegression().fit(wide, problem.y, view.weights).predict(wide)
        np.testing.assert_allclose(said[t], truth, rtol=1e-8)


@pytest.mark.parametrize("learner", [CARTClassifier(max_depth=2), GaussianNB()])
def test_what_members_say_together_is_what_they_say_alone(learner):
    problem = iris()
    members = fit(learner, problem)
    rows = Rows(problem.X, problem.X)
    said = members.labels(rows, 1)
    assert said.shape == (6, 150)
    assert len(np.unique(said, axis=0)) > 1
    np.testing.assert_array_equal(members.labels(rows, 2), said)
    for t, own in enumerate(said):
        np.testing.assert_array_equal(members.shares(t, rows).argmax(axis=1), own)
    some = members.take(np.array([4, 1]))
    np.testing.assert_array_equal(some.labels(rows, 1), said[[4, 1]])
    some.join(members.take(np.array([0])))
    np.testing.assert_array_equal(some.labels(rows, 1), said[[4, 1, 0]])


@pytest.mark.parametrize("learner", [CARTClassifier(max_features=2), GaussianNB()])
def test_threads_do_not_change_the_members(learner):
    problem = iris()
    rows = Rows(problem.X, problem.X)
    one, other = fit(learner, problem, 1), fit(learner, problem, 4)
    np.testing.assert_array_equal(one.labels(rows, 1), other.labels(rows, 4))
    for t in range(len(one)):
        np.testing.assert_array_equal(one.shares(t, rows), other.shares(t, rows))


@pytest.mark.parametrize("learner", [CARTClassifier(), GaussianNB()])
def test_columns_of_a_view_are_joined_by_its_own(learner):
    problem = iris()
    members = fit(learner, problem, columns=np.array([3]))
    if members.native:
        used = members.forest.importances().sum(axis=0) > 0
        assert not used[:3].any()
        assert used[3:].all()
    else:
        assert [model.n_features_in_ for model in members.inner.fitted] == [3] * 6


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_are_appended_to_frames(library):
    frame = library.DataFrame({"a": [1.0, 2.0], "computed 0": ["u", "v"]})
    wide = append_columns(frame, np.array([[5.0, 6.0], [7.0, 8.0]]))
    assert type(wide) is type(frame)
    assert list(wide.columns) == ["a", "computed 0", "computed 1", "computed 2"]
    assert list(wide["computed 2"]) == [6.0, 8.0]
    assert frame.shape == (2, 2)


def test_names_that_are_no_text_stay_without_text():
    wide = append_columns(pd.DataFrame(np.zeros((2, 3)), index=[7, 9]), np.array([[1.0], [2.0]]))
    assert list(wide.columns) == [0, 1, 2, 3]
    assert wide[3].tolist() == [1.0, 2.0]
