"""Pruning as an estimator, for pipelines and grid search: fit an ensemble, then prune it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from conjunto.callbacks import has_callbacks
from conjunto.ensembles.bagging import BaggingClassifier, BaggingRegressor
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.problem import Problem, as_rows, read_problem, read_weights, select
from conjunto.pruning.choosing import check_criterion
from conjunto.pruning.keep import check_keep
from conjunto.pruning.prune import prune_voters
from conjunto.pruning.selection import check_selection, split
from conjunto.voters import as_voters

# Before the fit the number of members is not known: any number to keep will do.
MOST_MEMBERS = 10**9


def _has(name: str) -> Any:
    def check(self: Any) -> bool:
        inner = getattr(self, "estimator_", None)
        return hasattr(self._unfitted() if inner is None else inner, name)

    return check


class _Pruned(MetaEstimatorMixin, BaseEstimator):
    estimator_: Any
    _classification: bool
    draws_per_row = True
    """As the ensembles that it fits by default do."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Any = "margin_distance",
        keep: Any = 0.2,
        selection: Any = "train",
        report: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.keep = keep
        self.selection = selection
        self.report = report
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _unfitted(self) -> Any:
        """The ensemble to fit: the parameter, or bagging of 100 pruned trees."""
        raise NotImplementedError("the task says what ensemble is the default")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble and prune it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, m)
            Rows.
        y : array-like of shape (n,), or (n, targets)
            Labels or targets; several where the ensemble takes them.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, for the ensemble and for the selection.
        """
        check_selection(self.selection)
        check_criterion(self.method)
        check_keep(self.keep, MOST_MEMBERS)
        ensemble = clone(self._unfitted())
        self._check_kind(ensemble)
        X, y, weights, problem = self._read(ensemble, as_rows(X), y, sample_weight)
        selection: Any = self.selection
        if not isinstance(selection, str | tuple):
            outside, inside = split(y, float(selection), self._classification, self.random_state)
            selection = (select(X, outside), y[outside], None if weights is None else weights[outside])
            X, y, weights, problem = select(X, inside), y[inside], None if weights is None else weights[inside], None
        if problem is not None and hasattr(ensemble, "fit_problem") and not has_callbacks(ensemble):
            # One of ours: what was read for the check is what it is fitted on, and what its members are asked about.
            ensemble.fit_problem(problem, self)
            rows = problem.rows()
        else:
            ensemble.fit(X, y, **({} if weights is None else {_weight_name(ensemble): weights}))
            rows = None
        self.estimator_ = self._prune(ensemble, X, y, selection, weights, rows)
        self.order_ = self.estimator_.order_
        for name in ("curve_", "pruning_report_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if self._classification:
            self.classes_ = self.estimator_.classes_
        return self

    def _check_kind(self, ensemble: Any) -> None:
        right, kind = (is_classifier, "classifier") if self._classification else (is_regressor, "regressor")
        if not hasattr(ensemble, "fit") or not right(ensemble):
            raise TypeError(f"estimator must be an ensemble that is a {kind}, got {ensemble!r}")

    def _read(
        self, ensemble: Any, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64] | None, Problem | None]:
        """Check what the ensemble will get; of sparse rows, or those of a pipeline, it makes what it can itself."""
        if isinstance(ensemble, Pipeline) or issparse(X):
            y = np.asarray(y) if np.ndim(y) == 2 and np.shape(y)[1] > 1 else column_or_1d(y, warn=True)
            return X, y, read_weights(sample_weight, len(y)), None
        problem = read_problem(self, X, y, sample_weight, classification=self._classification)
        return X, np.asarray(y).reshape(problem.y.shape), problem.weights, problem

    def _prune(self, ensemble: Any, X: Any, y: Any, selection: Any, sample_weight: Any, rows: Any) -> Any:
        """The pruned ensemble; one that ended with a single member, as boosting may, stays as it is."""
        voters = as_voters(ensemble)
        if len(voters) == 1:
            ensemble.order_ = np.zeros(1, dtype=np.intp)
            return ensemble
        return prune_voters(
            voters,
            X,
            y,
            method=self.method,
            keep=self.keep,
            selection=selection,
            sample_weight=sample_weight,
            report=self.report,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            rows=rows,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the members kept."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    @available_if(_has("staged_predict"))  # type: ignore[untyped-decorator]
    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions of the first 1, 2, … members kept, in their order."""
        check_is_fitted(self)
        yield from self.estimator_.staged_predict(X)

    @property
    def estimators_(self) -> Any:
        """The members kept, in their order."""
        check_is_fitted(self)
        last = self.estimator_[-1] if isinstance(self.estimator_, Pipeline) else self.estimator_
        return last.estimators_

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(as_voters(self.estimator_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._unfitted()
        if hasattr(inner, "__sklearn_tags__") and not isinstance(inner, type):
            takes = inner.__sklearn_tags__()
            tags.input_tags.allow_nan, tags.input_tags.sparse = takes.input_tags.allow_nan, takes.input_tags.sparse
            tags.target_tags.multi_output = takes.target_tags.multi_output and inner is self.estimator
        return tags


def _weight_name(ensemble: Any) -> str:
    """The parameter of `fit` that takes weights; a pipeline hands them to its last step."""
    name, last = ensemble.steps[-1] if isinstance(ensemble, Pipeline) else ("", ensemble)
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(f"{type(last).__name__} takes no sample_weight: leave it out")
    return f"{name}__sample_weight" if name else "sample_weight"


class PrunedClassifier(ClassifierMixin, _Pruned):
    """A classifier that fits an ensemble and keeps the members that matter.

    Parameters
    ----------
    estimator : ensemble, default=None
        What is fitted and pruned: an ensemble of conjunto or scikit-learn, or a pipeline that ends in one. None is
        bagging of 100 trees that are pruned by cross-validation, whose order gains most.
    method, keep
        As in `prune`.
    selection : "train", "oob", float or (X, y), default="train"
        As in `prune`; a share of the rows is set aside, and the ensemble is fitted on the others.
    report : bool, default=False
        Measure error curves, bytes and time (`curve_`, `pruning_report_`).
    n_jobs : int, default=None
        Threads for ordering.
    random_state : int, RandomState or None, default=None
        For the split of a share and methods that are random; the ensemble has its own.

    Attributes
    ----------
    estimator_ : fitted ensemble
        The members kept.
    order_ : ndarray
        All members in their order; the first are those kept.
    classes_ : ndarray
        The labels.
    curve_, pruning_report_ : dict
        As in `prune`; only with `report=True`.

    Examples
    --------
    >>> from conjunto import PrunedClassifier, RandomForestClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> model = PrunedClassifier(RandomForestClassifier(100, random_state=0), selection="oob").fit(X, y)
    >>> len(model)
    20
    """

    _classification = True

    def _unfitted(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return BaggingClassifier(CARTClassifier(prune="cv"), n_estimators=100, random_state=self.random_state)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the members kept, (n, K), of several targets a list."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the members kept."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))


class PrunedRegressor(RegressorMixin, _Pruned):
    """A regressor that fits an ensemble and keeps the members that matter. Parameters as in `PrunedClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import BaggingRegressor, PrunedRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = PrunedRegressor(BaggingRegressor(n_estimators=50, random_state=0), keep=10)
    >>> len(model.fit(X, np.sin(6 * X[:, 0])))
    10
    """

    _classification = False

    def _unfitted(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return BaggingRegressor(CARTRegressor(prune="cv"), n_estimators=100, random_state=self.random_state)
