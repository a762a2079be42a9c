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

from conjunto.learners.c45 import C45Classifier, grow_c45_trees
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.extended import ExtendedMembers
from conjunto.learners.growing import grow_trees
from conjunto.learners.igp import IGPTreeClassifier
from conjunto.learners.members import ForeignMembers, TreeMembers
from conjunto.problem import Columns, Problem, append_columns, is_frame, select
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
    learner: Any, problem: Problem, views: Iterable[View], streams: Sequence[Stream], n_jobs: int
) -> Members:
    """Fit one member per view; views are drawn as they are needed. All of them compute columns, or none."""
    views = iter(views)
    first = next(views)
    views = chain([first], views)
    if first.features is not None:
        return _fit_extended(learner, problem, views, streams, n_jobs)
    if is_native(learner):
        stacked = stack_views(views, len(streams))
        members = np.array([stream.member for stream in streams], dtype=np.uint64)
        grow = _GROWERS[type(learner)]
        return TreeMembers(grow(learner, problem, streams[0].key, members, threads=n_jobs, **stacked), learner)
    kept = list(views)
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_fit_foreign)(learner, problem, view, stream) for view, stream in zip(kept, streams, strict=True)
    )
    return ForeignMembers(list(fitted), [_columns_of(view, problem) for view in kept], problem.classes)


def stack_views(views: Iterable[View], count: int) -> dict[str, NDArray[Any]]:
    """(T, n) weights, labels and halves and (T, c) columns of the views, as far as the views have them.

    Multiplicities are kept in bytes as long as they fit: a batch of views is the largest thing that a fit holds.
    """
    stacked: dict[str, NDArray[Any]] = {}
    for t, view in enumerate(views):
        for name in ("weights", "labels", "columns", "halves"):
            part = getattr(view, name)
            if part is None:
                continue
            array = stacked.get(name)
            if array is None:
                array = np.empty((count, len(part)), dtype=_stacked_type(name, part))
            elif array.dtype == np.uint8 and part.max(initial=0) > 255:
                array = array.astype(np.float64)
            array[t] = part
            stacked[name] = array
    return stacked


def _stacked_type(name: str, part: NDArray[Any]) -> Any:
    if name == "columns":
        return np.uint32
    if name == "weights":
        return np.uint8 if part.dtype.kind in "iu" and part.max(initial=0) <= 255 else np.float64
    return part.dtype


def _fit_foreign(learner: Any, problem: Problem, view: View, stream: Stream) -> Any:
    """Fit a clone on the rows, labels and columns of a view.

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
    if problem.classes is not None:
        y = problem.classes[y]
    rows = np.flatnonzero(weights)
    columns = _columns_of(view, problem)
    if problem.classes is not None and len(np.unique(y[rows])) < 2:
        # Many classifiers refuse to learn from one class; all that can be learned is to answer it.
        model = DummyClassifier(strategy="prior")
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(select(problem.source, rows, columns), y[rows], sample_weight=weights[rows].astype(float))
    if np.array_equal(weights, np.rint(weights)):
        rows = np.repeat(np.arange(problem.n), weights.astype(np.intp))
    else:
        rows = random.choice(problem.n, size=problem.n, p=weights / weights.sum())
    return model.fit(select(problem.source, rows, columns), y[rows])


def _columns_of(view: View, problem: Problem) -> NDArray[Any] | None:
    """The columns of a view; a DataFrame cannot hold one of them twice."""
    if view.columns is None or not is_frame(problem.source):
        return view.columns
    return np.unique(view.columns)


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _fit_extended(
    learner: Any, problem: Problem, views: Iterable[View], streams: Sequence[Stream], n_jobs: int
) -> ExtendedMembers:
    """Fit one member per view on the columns of the problem and those that the view computes."""
    fitted = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_fit_one)(learner, problem, view, stream) for view, stream in zip(views, streams, strict=True)
    )
    members: ExtendedMembers = fitted[0]
    members.reserve(len(fitted))
    for other in fitted[1:]:
        members.join(other)
    return members


def _fit_one(learner: Any, problem: Problem, view: View, stream: Stream) -> ExtendedMembers:
    computed = view.features(problem.X)
    encoded = np.hstack([problem.X, computed])
    wide = Problem(
        encoded,
        problem.y,
        Columns(problem.columns.codes + (None,) * computed.shape[1]),
        problem.classes,
        problem.weights,
        append_columns(problem.source, computed) if is_frame(problem.source) else encoded,
    )
    columns = None if view.columns is None else np.append(view.columns, np.arange(problem.m, wide.m))
    inner = fit_members(learner, wide, [replace(view, columns=columns, features=None)], [stream], 1)
    assert not isinstance(inner, ExtendedMembers)
    return ExtendedMembers(inner, [view.features])
