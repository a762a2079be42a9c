"""Views stacked for the core: a batch grows what its members grow one by one."""

import numpy as np
import pytest

from conjunto import CARTClassifier, CARTRegressor, _core
from conjunto.learners.views import core_views
from conjunto.problem import Columns, Problem
from conjunto.view import View

from ..forests import assert_same_trees

N, M, T = 60, 5, 4


def problem(classification=True, weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, M))
    y = (X[:, 0] > 0).astype(np.int32) if classification else X[:, 0]
    classes = np.array(["a", "b"]) if classification else None
    return Problem(X, y, Columns((None,) * M), classes, weights)


def views(kind, classification):
    rng = np.random.default_rng(1)
    weights = {
        "none": None,
        "copies": rng.integers(0, 4, (T, N)).astype(np.int32),
        "many copies": rng.integers(0, 4, (T, N)).astype(np.int32) + 300 * (np.arange(N) == 7),
        "many copies of the last": rng.integers(0, 4, (T, N)) * (1 + 100 * (np.arange(T) == T - 1))[:, None],
        "real": rng.uniform(size=(T, N)),
        "whole": rng.integers(0, 3, (T, N)).astype(float),
    }[kind]
    labels = rng.integers(0, 2, (T, N)).astype(np.int32) if classification else rng.normal(size=(T, N))
    columns = np.stack([rng.permutation(M)[:3] for _ in range(T)])
    return [View(None if weights is None else weights[t], labels[t], columns[t]) for t in range(T)]


def grown(learner, problem, views, numbers):
    seen = core_views(learner, problem, iter(views), numbers)
    assert len(seen) == len(numbers)
    return _core.grow(problem.table(), learner._grow_options(problem), 3, 4, seen)


LEARNERS = {
    "plain": CARTClassifier(),
    "class weights": CARTClassifier(class_weight="balanced"),
    "regression": CARTRegressor(),
}
KINDS = ["none", "copies", "many copies", "many copies of the last", "real", "whole"]


@pytest.mark.parametrize("weighted", [None, "real", "whole"])
@pytest.mark.parametrize(
    "learner",
    [CARTClassifier(), CARTClassifier(class_weight="balanced"), CARTRegressor()],
    ids=["plain", "classes", "values"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_its_members_one_by_one(kind, learner, weighted):
    classification = isinstance(learner, CARTClassifier)
    rng = np.random.default_rng(2)
    weights = {None: None, "real": rng.uniform(size=N), "whole": rng.integers(0, 3, N).astype(float)}[weighted]
    data, seen = problem(classification, weights), views(kind, classification)
    batch = grown(learner, data, seen, np.arange(T, dtype=np.uint64))
    for t, view in enumerate(seen):
        alone = grown(learner, data, [view], [t])
        if kind == "many copies of the last" and not classification:
            # The batch is kept in doubles, which are summed in another order than bytes.
            np.testing.assert_array_equal(batch.leaves(data.X)[:, t], alone.leaves(data.X)[:, 0])
        else:
            assert_same_trees(batch.take(np.array([t])), alone)


def test_a_member_without_weight_sees_all_rows():
    weights = np.ones(N)
    weights[::2] = 0
    data = problem(weights=weights)
    out = View(np.where(weights > 0, 0, 2).astype(np.int32))
    everything = View(np.ones(N, dtype=np.int32))
    forest = grown(CARTClassifier(), data, [out, everything], [0, 0])
    assert_same_trees(forest.take(np.array([0])), forest.take(np.array([1])))


def test_views_that_differ_in_what_they_have_are_refused():
    weights = np.ones(N, dtype=np.int32)
    for mixed in ([View(), View(weights)], [View(weights), View()]):
        with pytest.raises(ValueError, match="all views of a batch have weights, or none"):
            core_views(CARTClassifier(), problem(), mixed, [0, 1])
    for count in (1, 3):
        with pytest.raises(ValueError, match=f"there are 2 views for {count} members"):
            core_views(CARTClassifier(), problem(), [View(weights)] * 2, list(range(count)))
