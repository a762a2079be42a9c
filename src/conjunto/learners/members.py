"""Members: many fitted models as one object, whatever learner they come from.

Our trees are grown by one native call and stay packed in one `Forest`; any other scikit-learn estimator is
fitted view by view with joblib. The loops above see no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from conjunto.learners.c45 import C45Classifier, grow_c45_trees
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.growing import grow_trees
from conjunto.learners.igp import IGPTreeClassifier
from conjunto.problem import Problem, is_frame, select
from conjunto.streams import LEARNER, Stream
from conjunto.view import View

if TYPE_CHECKING:
    from conjunto.learners.extended import Members


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to predict: encoded, and as the user gave them."""

    encoded: NDArray[np.float64]
    source: Any

    def take(self, rows: NDArray[Any]) -> Rows:
        """Some of the rows."""
        return Rows(self.encoded[rows], select(self.source, rows))


class TreeMembers:
    """Our own trees, packed: a `Forest`, or a `C45Forest`, which answers the same questions but for leaves."""

    native = True

    def __init__(self, forest: Any, learner: Any) -> None:
        self.forest = forest
        self.learner = learner

    def __len__(self) -> int:
        return len(self.forest)

    def labels(self, X: Rows, threads: int) -> NDArray[np.int32]:
        """(T, n) class codes."""
        return self.forest.labels(X.encoded, threads)

    def values(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(T, n) predicted values."""
        return self.forest.values(X.encoded, threads)

    def counts(self, X: Rows, soft: bool, threads: int) -> NDArray[np.float64]:
        """(n, K) sum of the members' votes, or of their class shares."""
        return (self.forest.share_sums if soft else self.forest.vote_counts)(X.encoded, threads)

    def shares(self, t: int, X: Rows) -> NDArray[np.float64]:
        """(n, K) class shares of one member."""
        return self.forest.take(np.array([t])).share_sums(X.encoded)

    def sums(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(n,) sum of the members' values."""
        return self.forest.value_sums(X.encoded, threads)

    def reserve(self, factor: float) -> None:
        """Make room for so many times as many trees, which spares copies while trees are added."""
        self.forest.reserve(factor)

    def join(self, other: Any) -> None:
        """Take in the trees of another object."""
        self.forest.append(other.forest)

    def take(self, members: NDArray[Any]) -> TreeMembers:
        """Some of the trees."""
        return TreeMembers(self.forest.take(np.asarray(members, dtype=np.int64)), self.learner)

    def estimators(self, like: Any) -> list[Any]:
        """The trees as estimators of their own kind."""
        return [self._estimator(like, t) for t in range(len(self))]

    def _estimator(self, like: Any, t: int) -> Any:
        tree = clone(self.learner)
        tree.tree_ = self.forest.take(np.array([t]))
        take_over(tree, like)
        return tree


class ForeignMembers:
    """Estimators of another library, each with the columns it was fitted on."""

    native = False

    def __init__(self, fitted: list[Any], columns: list[NDArray[np.intp] | None], classes: NDArray[Any] | None) -> None:
        self.fitted = fitted
        self.columns = columns
        self.classes = classes

    def __len__(self) -> int:
        return len(self.fitted)

    def _each(self, X: Rows) -> list[tuple[Any, Any]]:
        pairs = zip(self.fitted, self.columns, strict=True)
        return [(model, select(X.source, columns=columns)) for model, columns in pairs]

    def labels(self, X: Rows, threads: int) -> NDArray[np.int32]:
        """(T, n) class codes."""
        assert self.classes is not None
        out = np.empty((len(self), len(X.encoded)), dtype=np.int32)
        for t, (model, rows) in enumerate(self._each(X)):
            out[t] = np.searchsorted(self.classes, model.predict(rows))
        return out

    def values(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(T, n) predicted values."""
        return np.stack([np.asarray(model.predict(rows), dtype=np.float64) for model, rows in self._each(X)])

    def counts(self, X: Rows, soft: bool, threads: int) -> NDArray[np.float64]:
        """(n, K) sum of the members' votes, or of their class shares."""
        assert self.classes is not None
        out = np.zeros((len(X.encoded), len(self.classes)))
        if soft and all(hasattr(model, "predict_proba") for model in self.fitted):
            for model, rows in self._each(X):
                # A member whose sample missed a class has no column for it.
                out[:, np.searchsorted(self.classes, model.classes_)] += model.predict_proba(rows)
            return out
        for said in self.labels(X, threads):
            out[np.arange(len(said)), said] += 1
        return out

    def shares(self, t: int, X: Rows) -> NDArray[np.float64]:
        """(n, K) class shares of one member."""
        one = ForeignMembers([self.fitted[t]], [self.columns[t]], self.classes)
        return one.counts(X, True, 1)

    def sums(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(n,) sum of the members' values."""
        return self.values(X, threads).sum(axis=0)

    def reserve(self, factor: float) -> None:
        """Nothing to do for a list."""

    def join(self, other: Any) -> None:
        """Take in the models of another object."""
        self.fitted += other.fitted
        self.columns += other.columns

    def take(self, members: NDArray[Any]) -> ForeignMembers:
        """Some of the models."""
        return ForeignMembers([self.fitted[t] for t in members], [self.columns[t] for t in members], self.classes)

    def estimators(self, like: Any) -> list[Any]:
        """The models themselves."""
        return list(self.fitted)


def take_over(model: Any, like: Any) -> None:
    """Give a member made on demand what it needs to read a user's X, and the classes that it decides between."""
    for name in ("_columns", "n_features_in_", "feature_names_in_", "classes_"):
        if hasattr(like, name):
            setattr(model, name, getattr(like, name))


def check_learner(learner: Any, *, classification: bool, use: str = "") -> None:
    """Refuse what cannot be a member; `use` goes on with the message, as in " for 'r2'"."""
    kind = "classifier" if classification else "regressor"
    if not (hasattr(learner, "fit") and hasattr(learner, "get_params")) or isinstance(learner, type):
        raise TypeError(
            f"estimator must be a scikit-learn {kind} (an object with fit, predict and get_params), got {learner!r}"
        )
    if not (is_classifier if classification else is_regressor)(learner):
        raise TypeError(f"estimator must be a {kind}{use}, got {learner!r}")


_GROWERS: dict[type, Any] = {
    CARTClassifier: grow_trees,
    CARTRegressor: grow_trees,
    IGPTreeClassifier: grow_trees,
    C45Classifier: grow_c45_trees,
}


def is_native(learner: Any) -> bool:
    """Whether the core grows this learner itself."""
    return type(learner) in _GROWERS


def fit_members(
    learner: Any, problem: Problem, views: Iterable[View], streams: Sequence[Stream], n_jobs: int
) -> Members:
    """Fit one member per view; views are drawn as they are needed. All of them compute columns, or none."""
    from conjunto.learners.extended import fit_extended  # which fits its members with this function

    views = iter(views)
    first = next(views)
    views = chain([first], views)
    if first.features is not None:
        return fit_extended(learner, problem, views, streams, n_jobs)
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


__all__ = ["ForeignMembers", "Rows", "TreeMembers", "check_learner", "fit_members", "is_native", "take_over"]
