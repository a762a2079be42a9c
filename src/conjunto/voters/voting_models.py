"""Fitted models of any kind as one estimator: a plurality of labels, or a mean of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_regressor
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from conjunto.classes import Classes
from conjunto.combination import combine
from conjunto.ties import leaders
from conjunto.voters.checking import one_answer
from conjunto.votes import Votes


class _ModelList(BaseEstimator):
    estimators_: list[Any]

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = models

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.estimators_)

    def __getitem__(self, t: int) -> Any:
        check_is_fitted(self)
        return self.estimators_[t]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    @property
    def n_features_in_(self) -> int:
        """Columns that the first model expects."""
        return int(self._first().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where the first model knows them."""
        return self._first().feature_names_in_

    def _first(self) -> Any:
        if not hasattr(self, "estimators_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.estimators_[0]

    def _fit_models(self, X: Any, y: Any) -> None:
        if not len(self.models):
            raise ValueError("models must hold at least one model")
        for t, model in enumerate(self.models):
            if not (hasattr(model, "fit") and hasattr(model, "get_params")):
                raise TypeError(f"models[{t}] cannot be fitted again: {model!r} has no fit and get_params")
        self.estimators_ = [clone(model).fit(X, y) for model in self.models]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        models = [get_tags(model).input_tags for model in self.models if hasattr(model, "__sklearn_tags__")]
        tags.input_tags.sparse = all(model.sparse for model in models)
        tags.input_tags.allow_nan = all(model.allow_nan for model in models)
        return tags


class ModelListClassifier(ClassifierMixin, _ModelList):
    """Classifiers that vote, one vote each; ties go to the lowest class.

    Parameters
    ----------
    models : list of classifiers
        What `fit` fits clones of.

    Attributes
    ----------
    estimators_ : list
        The fitted models.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from conjunto.voters.voting_models import ModelListClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y) for depth in (1, 2, 3)]
    >>> vote = ModelListClassifier.of_fitted(models)
    >>> vote.predict_proba(X[[100]]).round(2)
    array([[0.  , 0.33, 0.67]])
    """

    classes_: NDArray[Any]

    @classmethod
    def of_fitted(cls, models: Sequence[Any], classes: NDArray[Any] | None = None) -> Self:
        """Return a fitted estimator of models that are fitted already; they are shared, not copied."""
        self = cls(list(models))
        self.estimators_ = list(models)
        found = classes_of(models) if classes is None else classes
        if found is None:
            raise TypeError("models must be classifiers: use ModelListRegressor")
        self.classes_ = found
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of every model."""
        y = _one_column(y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._fit_models(X, y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes; ties go to the lowest class."""
        check_is_fitted(self)
        return self.classes_[leaders(self._counts(X))]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of votes for each class."""
        check_is_fitted(self)
        return self._counts(X) / len(self)

    def _counts(self, X: Any) -> NDArray[np.float64]:
        labels = np.stack(
            [
                encode_answers(model.predict(X), self.classes_, f"models[{t}]")
                for t, model in enumerate(self.estimators_)
            ]
        )
        return combine(Votes(labels=labels, classes=self.classes_)).counts


class ModelListRegressor(RegressorMixin, _ModelList):
    """Regressors that are averaged.

    Parameters
    ----------
    models : list of regressors
        What `fit` fits clones of.

    Attributes
    ----------
    estimators_ : list
        The fitted models.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from conjunto.voters.voting_models import ModelListRegressor
    >>> X, y = np.zeros((3, 1)), np.array([0.0, 1.0, 5.0])
    >>> models = [DummyRegressor(strategy=strategy).fit(X, y) for strategy in ("mean", "median")]
    >>> ModelListRegressor.of_fitted(models).predict(X[:1])
    array([1.5])
    """

    @classmethod
    def of_fitted(cls, models: Sequence[Any]) -> Self:
        """Return a fitted estimator of models that are fitted already; they are shared, not copied."""
        self = cls(list(models))
        if classes_of(models) is not None:
            raise TypeError("models must be regressors: use ModelListClassifier")
        self.estimators_ = list(models)
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of every model."""
        self._fit_models(X, _one_column(y))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of what the models predict."""
        check_is_fitted(self)
        answers = [one_answer(model.predict(X), f"models[{t}]") for t, model in enumerate(self.estimators_)]
        return combine(Votes(values=np.stack(answers).astype(np.float64))).counts


def _one_column(y: Any) -> NDArray[Any]:
    return check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=None, input_name="y")


def encode_answers(answers: Any, classes: NDArray[Any], who: str) -> NDArray[np.int32]:
    """The code of each label that a model predicts; refuses others, since a code of -1 would be an abstention."""
    return Classes(classes).encode(one_answer(answers, who), who=f"{who} predicts")


def classes_of(models: Sequence[Any]) -> NDArray[Any] | None:
    """The labels that any of the models knows; None where all are regressors."""
    if not len(models):
        raise ValueError("a list of models must hold at least one model")
    kinds = [_kind(t, model) for t, model in enumerate(models)]
    if "classifier" not in kinds:
        return None
    if "regressor" in kinds:
        raise TypeError(
            f"a list of models holds classifiers or regressors, not both: models[{kinds.index('classifier')}] is a "
            f"classifier and models[{kinds.index('regressor')}] a regressor"
        )
    for t, model in enumerate(models):
        if isinstance(model.classes_, list) or np.ndim(model.classes_) != 1:
            raise TypeError(f"models[{t}] has several outputs, and models vote on one")
    labels = [np.asarray(model.classes_) for model in models]
    if len({each.dtype.kind in "OUST" for each in labels}) > 1:
        raise TypeError("a list of models must agree on the labels: some know text, others numbers")
    return np.unique(np.concatenate(labels))


def _kind(t: int, model: Any) -> str:
    name = f"models[{t}], {(model if isinstance(model, type) else type(model)).__name__},"
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TypeError(f"{name} is no fitted model: it must be an object with predict")
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if hasattr(model, "classes_"):
        return "classifier"
    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        return "regressor"
    raise TypeError(
        f"{name} is known neither as a classifier nor as a regressor: give a classifier the attribute classes_ with "
        "its labels, and derive a regressor from sklearn.base.RegressorMixin and BaseEstimator"
    )
