"""Stacking: a level-1 model learns from what members say about rows that they did not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack, issparse
from sklearn.base import TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice
from conjunto.combiners._asking import Answer, Question
from conjunto.combiners._combiner import ClassCombiner, Combiner, ValueCombiner
from conjunto.combiners._fitting import Unseen
from conjunto.combiners._named import weighed
from conjunto.combiners.level_one import level_one_model
from conjunto.outputs import logarithm
from conjunto.problem import append_columns, is_frame, select

Array = NDArray[Any]

METHODS: dict[str, Answer] = {"predict_proba": "shares", "decision_function": "decisions", "predict": "labels"}


def _final_has(method: str) -> Any:
    """Whether the level-1 model, fitted or as it would be, has a method."""

    def check(self: Any) -> bool:
        final = getattr(self, "final_estimator_", None)
        final = level_one_model(self.final_estimator, self.task) if final is None else final
        getattr(final, method)
        return True

    return check


def _is_regressor(model: Any) -> bool:
    """Whether a model says that it is one; models of no library say nothing."""
    return hasattr(model, "__sklearn_tags__") and bool(is_regressor(model))


class _Stacking(TransformerMixin, Combiner):
    """What stacking of classes and of values have in common."""

    final_estimator: Any
    stack_method: str
    passthrough: bool

    def _is_prefit(self) -> bool:
        return bool(self.prefit) or (isinstance(self.cv, str) and self.cv == "prefit")

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        check_choice("passthrough", self.passthrough, (True, False))
        final = level_one_model(self.final_estimator, self.task)
        fits = is_classifier if self.task == "classification" else is_regressor
        if not hasattr(final, "fit") or not fits(final):
            kind = "classifier" if self.task == "classification" else "regressor"
            raise ValueError(f"'final_estimator' parameter should be a {kind}. Got {final}")
        self._methods(models)

    def _learn(self, unseen: Unseen) -> None:
        self.level_one_rows_ = unseen.rows
        if unseen.weight is not None and unseen.n_classes > len(np.unique(unseen.y)) == 1:
            raise ValueError("sample_weight leaves rows of one class alone: level 1 has nothing to learn")
        blocks = self._blocks(unseen.answers)
        self._widths = [block.shape[1] for block in blocks]
        rows = self._joined(blocks, unseen.X)
        final = clone(level_one_model(self.final_estimator, self.task))
        arguments = {} if unseen.weight is None else weighed("final_estimator", final, unseen.weight)
        self.final_estimator_ = final.fit(rows, unseen.y, **arguments)

    def _seat(self, members: Sequence[tuple[str, Any]], classes: Array | None, *, coded: bool) -> None:
        super()._seat(members, classes, coded=coded)
        self.stack_method_ = self._methods(members)

    def _methods(self, models: Sequence[tuple[str, Any]]) -> list[str]:
        """What each member is asked for."""
        return ["predict"] * len(models)

    def _blocks(self, answers: Sequence[Array]) -> list[Array]:
        """What each member says as attributes of level 1."""
        return [self._attributes(answer, method) for answer, method in zip(answers, self.stack_method_, strict=True)]

    def _level_one(self, X: Any) -> Any:
        """The rows of level 1."""
        return self._joined(self._blocks(self._said(X)), X)

    def _joined(self, blocks: list[Array], X: Any) -> Any:
        """What members say, with `passthrough` the columns of X behind."""
        said = np.hstack(blocks)
        if not self.passthrough:
            return said
        if issparse(X):
            return hstack([said, X], format=X.format)
        if is_frame(X):
            # A DataFrame stays one: its columns may be categories.
            whole, m = append_columns(X, said), X.shape[1]
            return select(whole, columns=np.r_[m : m + said.shape[1], :m])
        return np.hstack([said, X])

    def _attributes(self, answer: Array, method: str) -> Array:
        """(n, columns): what one member says as attributes of level 1."""
        return answer.reshape(len(answer), -1)

    def transform(self, X: Any) -> Any:
        """Return the rows of level 1: what each member says, with `passthrough` the columns of X behind."""
        check_is_fitted(self)
        return self._level_one(X)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return what the members, fitted on all rows, say about them."""
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of level 1."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        names: list[Any] = []
        for name, width in zip(self._names, self._widths, strict=True):
            names += [f"{prefix}_{name}"] if width == 1 else [f"{prefix}_{name}{k}" for k in range(width)]
        if self.passthrough:
            default = [f"x{j}" for j in range(self.n_features_in_)]
            names += list(getattr(self, "feature_names_in_", default) if input_features is None else input_features)
        return np.array(names, dtype=object)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata members, splitter and level-1 model ask for."""
        final = getattr(self, "final_estimator_", level_one_model(self.final_estimator, self.task))
        mapping = MethodMapping().add(caller="predict", callee="predict")
        return super().get_metadata_routing().add(final_estimator_=final, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class StackingClassifier(ClassCombiner, _Stacking):
    """Classifiers whose answers are combined by a model that was fitted on out-of-fold answers.

    Every member is fitted in folds, and what it says about the rows that it did not see are the attributes of level 1,
    which the final model learns from; then the members are fitted on all rows. scikit-learn's parameters.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Members of level 0 and their names. One that is "drop" is left out. Regressors will do too.
    final_estimator : classifier or str, default=None
        The model of level 1: `LogisticRegression` for None; "linear", "non-negative" or "ridge" for multi-response
        linear regression of that kind; another `StackingClassifier` makes a level more.
    cv : int, splitter, iterable or "prefit", default=None
        The folds; None is 5. Any splitter will do: rows that are in no test fold (time series) are left out of level 1,
        of rows that are in several the mean answer is taken. `LeaveOneOut` is one.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What members are asked for; "auto" is the first of these that a member has. Labels of more than two classes
        become one column per class.
    prefit : bool, default=False
        Whether the members are fitted already, by whichever library; X and y of `fit` are then rows that none of them
        saw. The same as `cv="prefit"`.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    passthrough : bool, default=False
        Whether the final model also sees the columns of X.
    verbose : int, default=0
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The members, fitted on all rows; those fitted here know class codes, as in scikit-learn.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : classifier
        The fitted model of level 1.
    classes_ : ndarray
        The labels.
    stack_method_ : list of str
        What each member is asked for.
    level_one_rows_ : ndarray
        The numbers of the rows that level 1 was learned from.

    References
    ----------
    Wolpert (1992). Stacked generalization. Neural Networks 5, 241-259.
    Ting, Witten (1999). Issues in stacked generalization. Journal of Artificial Intelligence Research 10, 271-289.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from conjunto import CARTClassifier, StackingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [("tree", CARTClassifier(max_depth=2)), ("normal", GaussianNB())]
    >>> model = StackingClassifier(models, final_estimator="non-negative").fit(X, y)
    >>> model.transform(X).shape, model.predict(X[[100]])
    ((150, 6), array([2]))
    """

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        prefit: bool = False,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    @available_if(_final_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> NDArray[Any]:
        """Return the class that the model of level 1 predicts."""
        check_is_fitted(self)
        codes = self.final_estimator_.predict(self._level_one(X), **predict_params)
        return self.classes_[np.asarray(codes, dtype=np.intp)]

    @available_if(_final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of the model of level 1."""
        check_is_fitted(self)
        shares = self.final_estimator_.predict_proba(self._level_one(X))
        known = np.asarray(self.final_estimator_.classes_, dtype=np.intp)
        if len(known) == len(self.classes_):
            return shares
        # Rows without an out-of-fold answer may be all that there are of a class.
        whole = np.zeros((len(shares), len(self.classes_)))
        whole[:, known] = shares
        return whole

    @available_if(_final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return logarithm(self.predict_proba(X))

    @available_if(_final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decision function of the model of level 1."""
        check_is_fitted(self)
        return self.final_estimator_.decision_function(self._level_one(X))

    def _check_answers(self, models: Sequence[tuple[str, Any]]) -> None:
        """Members are asked for what they have."""

    def _check_kind(self, name: str, model: Any) -> None:
        # A regressor of class codes is a member too: level 1 learns what its values mean.
        if not _is_regressor(model):
            super()._check_kind(name, model)

    def _methods(self, models: Sequence[tuple[str, Any]]) -> list[str]:
        check_choice("stack_method", self.stack_method, ("auto", *METHODS))
        tried = tuple(METHODS) if self.stack_method == "auto" else (self.stack_method,)
        found = []
        for name, model in models:
            has = [method for method in tried if hasattr(model, method)]
            if not has:
                raise ValueError(f"Underlying estimator {name} does not implement the method {self.stack_method}.")
            found.append(has[0])
        return found

    def _questions(self, models: Sequence[tuple[str, Any]], n_classes: int) -> list[Question]:
        methods = zip(models, self._methods(models), strict=True)
        return [
            Question("values" if _is_regressor(model) else METHODS[method], n_classes) for (_, model), method in methods
        ]

    def _attributes(self, answer: Array, method: str) -> Array:
        k = len(self.classes_)
        # Of two columns that sum to 1 one is enough, but not for regressions without an intercept.
        spare = k == 2 and not isinstance(self.final_estimator, str)
        if method == "predict" and answer.dtype.kind == "i":
            # An abstention is no class.
            one_hot = (answer[:, None] == np.arange(k)).astype(np.float64)
            return one_hot[:, 1:] if spare else one_hot
        if method == "predict_proba" and spare:
            return answer[:, 1:]
        return answer.reshape(len(answer), -1)


class StackingRegressor(ValueCombiner, _Stacking):
    """Regressors whose answers are combined by a model that was fitted on out-of-fold answers.

    Parameters
    ----------
    estimators : list of (str, regressor)
        Members of level 0 and their names. One that is "drop" is left out.
    final_estimator : regressor or str, default=None
        The model of level 1: `RidgeCV` for None; "non-negative" or "ridge" for Breiman's stacked regressions, "linear"
        for plain least squares, all three without an intercept.
    cv, prefit, n_jobs, passthrough, verbose
        As in `StackingClassifier`.

    Attributes
    ----------
    estimators_, named_estimators_, final_estimator_, stack_method_, level_one_rows_
        As in `StackingClassifier`.

    References
    ----------
    Breiman (1996). Stacked regressions. Machine Learning 24, 49-64.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from conjunto import RandomForestRegressor, StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("forest", RandomForestRegressor(random_state=0)), ("linear", LinearRegression())]
    >>> StackingRegressor(models, "non-negative").fit(X, y).final_estimator_.coef_.round(1)
    array([0.2, 0.8])
    """

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        prefit: bool = False,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    @available_if(_final_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Return what the model of level 1 predicts."""
        check_is_fitted(self)
        return self.final_estimator_.predict(self._level_one(X), **predict_params)
