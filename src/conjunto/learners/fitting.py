"""From views to members: one native call for our trees, joblib for any other learner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from conjunto.learners.c45 import C45Classifier, grow_c45_trees
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.extended import ExtendedMembers
from conjunto.learners.growing import grow_trees
from conjunto.learners.igp import IGPTreeClassifier
from conjunto.learners.members import ForeignMembers, TreeMembers
from conjunto.problem import Columns, Problem, append_columns, append_rows, is_frame, select
from conjunto.streams import LEARNER, Stream
from conjunto.view import View

Members = TreeMembers | ForeignMembers | ExtendedMembers

_GROWERS: dict[type, Any] = {
    CARTClassifier: grow_trees,
    CARTRegressor: grow_trees,
    IGPTreeClassifier: grow_trees,
    C45Classifier: grow_c45_trees,
}


def is_native(learner: Any) -> bool:
    """Whether the core grows this learner itself. A subclass may do something else."""
    return type(learner) in _GROWERS


def tells_leaves(learner: Any) -> bool:
    """Whether the core tells from growing in which leaf every row ends; a row has several in C4.5."""
    return is_native(learner) and type(learner) is not C45Classifier


def fit_members(
    learner: Any, problem: Problem, views: Iterable[View], streams: Sequence[Stream], n_jobs: int, coded: bool = False
) -> Members:
    """Fit one member per view; views are drawn as they are needed. All of them need tables of their own, or none.

    Learners of other libraries are told labels or, `coded`, class codes.
    """
    views = iter(views)
    first = next(views)
    views = chain([first], views)
    if first.needs_own_table:
        return _fit_apart(learner, problem, views, streams, n_jobs, coded)
    if is_native(learner):
        members = np.array([stream.member for stream in streams], dtype=np.uint64)
        grow = _GROWERS[type(learner)]
        return TreeMembers(grow(learner, problem, streams[0].key, members, views, n_jobs), learner)
    kept = list(views)
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_fit_foreign)(learner, problem, view, stream, coded) for view, stream in zip(kept, streams, strict=True)
    )
    models, known = map(list, zip(*fitted, strict=True))
    return ForeignMembers(models, [_columns_of(view, problem) for view in kept], problem.classes, coded, known)


def _fit_foreign(
    learner: Any, problem: Problem, view: View, stream: Stream, coded: bool
) -> tuple[Any, NDArray[Any] | None]:
    """Fit a clone on the rows, labels and columns of a view; also the classes it knows, where codes had gaps.

    A learner that takes no weights gets rows repeated as often as their multiplicity says, or, where weights
    are not whole numbers, a sample of n rows drawn in proportion to them.
    """
    random = stream.generator(LEARNER)
    model = clone(learner)
    seeds = {name: int(random.integers(2**31 - 1)) for name in sorted(model.get_params()) if _is_seed(name)}
    model.set_params(**seeds)
    weights = np.ones(problem.n) if view.weights is None else view.weights
    if problem.weights is not None:
        weights = weights * problem.weights if (weights * problem.weights).any() else problem.weights
    y = problem.y if view.labels is None else view.labels
    if problem.classes is not None and not coded:
        y = problem.classes[y]
    rows = np.flatnonzero(weights)
    columns = _columns_of(view, problem)
    if problem.classes is not None and y.ndim == 1 and len(np.unique(y[rows])) < 2:
        # Many classifiers refuse to learn from one class; all that can be learned is to answer it.
        model = DummyClassifier(strategy="prior")
    given: dict[str, Any] = {}
    if has_fit_parameter(model, "sample_weight"):
        given["sample_weight"] = weights[rows].astype(float)
    elif np.array_equal(weights, np.rint(weights)):
        rows = np.repeat(np.arange(problem.n), weights.astype(np.intp))
    else:
        rows = random.choice(problem.n, size=problem.n, p=weights / weights.sum())
    seen = select(problem.source, rows, columns)
    known = np.unique(y[rows]) if coded and problem.classes is not None and y.ndim == 1 else None
    try:
        model.fit(seen, y[rows], **given)
    except ValueError:
        if known is None or len(known) == problem.n_classes:
            raise
        # Some learners (XGBoost) want codes without gaps, and this sample misses a class.
        model.fit(seen, np.searchsorted(known, y[rows]), **given)
        return model, known
    return model, None


def _columns_of(view: View, problem: Problem) -> NDArray[Any] | None:
    """The columns of a view; a DataFrame cannot hold one of them twice."""
    if view.columns is None or not is_frame(problem.source):
        return view.columns
    return np.unique(view.columns)


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _fit_apart(
    learner: Any, problem: Problem, views: Iterable[View], streams: Sequence[Stream], n_jobs: int, coded: bool
) -> Members:
    """Fit every member on a table of its own, in threads."""
    # The matrices of a member's own map are small: threads of the linear algebra would only wait for each other.
    with threadpool_limits(1, "blas"):
        fitted = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(_fit_one)(learner, problem, view, stream, coded)
            for view, stream in zip(views, streams, strict=True)
        )
    members: Members = fitted[0]
    members.reserve(len(fitted))
    for other in fitted[1:]:
        members.join(other)
    return members


def _fit_one(learner: Any, problem: Problem, view: View, stream: Stream, coded: bool) -> Members:
    """Fit one member on rows that are altered or further ones, or on columns that the view computes."""
    problem, view = with_rows(problem, view)
    if view.features is None:
        return fit_members(learner, problem, [view], [stream], 1, coded)
    wide = extended(problem, view.features, view.features_only)
    columns = view.columns
    if view.features_only and columns is not None:
        raise ValueError("a member that sees computed columns alone may use all of them: draw no columns")
    if columns is not None:
        columns = np.append(columns, np.arange(problem.m, wide.m))
    inner = fit_members(learner, wide, [replace(view, columns=columns, features=None)], [stream], 1, coded)
    assert not isinstance(inner, ExtendedMembers)
    return ExtendedMembers(inner, [view.features], view.features_only)


def with_rows(problem: Problem, view: View) -> tuple[Problem, View]:
    """The problem with the altered and further rows of a view, and the view without them."""
    if view.X is None and view.further is None:
        return problem, view
    X = problem.X if view.X is None else np.ascontiguousarray(view.X, dtype=np.float64)
    source = problem.source if view.X is None else problem.decoded(X)
    y = problem.y if view.labels is None else view.labels
    weights, sample_weight, ignored = view.weights, problem.weights, problem.ignored
    if (more := view.further) is not None:
        count = len(more.X)
        X = np.concatenate([X, more.X])
        source = append_rows(source, problem.decoded(more.X)) if is_frame(problem.source) else X
        y = np.concatenate([y, more.labels]).astype(y.dtype)
        added = np.ones(count, dtype=np.int64) if more.weights is None else more.weights
        weights = np.concatenate([np.ones(problem.n, dtype=np.int64) if weights is None else weights, added])
        sample_weight = None if sample_weight is None else np.concatenate([sample_weight, np.ones(count)])
        ignored = None if ignored is None else np.concatenate([ignored, np.zeros(count, dtype=bool)])
    elif not is_frame(problem.source):
        source = X
    apart = Problem(X, y, problem.columns, problem.classes, sample_weight, source, ignored)
    return apart, replace(view, X=None, further=None, labels=None, weights=weights)


def extended(problem: Problem, features: Any, only: bool) -> Problem:
    """The problem with computed columns beside its own, or in place of them."""
    computed = features(problem.X)
    encoded = computed if only else np.hstack([problem.X, computed])
    kinds = () if only else problem.columns.codes
    beside = is_frame(problem.source) and not only
    return Problem(
        np.ascontiguousarray(encoded),
        problem.y,
        Columns(kinds + (None,) * computed.shape[1]),
        problem.classes,
        problem.weights,
        append_columns(problem.source, computed) if beside else encoded,
        problem.ignored,
    )
