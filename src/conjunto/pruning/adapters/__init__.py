"""Fitted ensembles of any library as voters that can be taken apart: one file per family."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from conjunto.pruning.adapters._adapter import Adapter
from conjunto.pruning.adapters.lightgbm_forest import LightGBMForest
from conjunto.pruning.adapters.model_list import ModelList
from conjunto.pruning.adapters.own import OwnEnsemble, is_own
from conjunto.pruning.adapters.pipeline import PipelineAdapter
from conjunto.pruning.adapters.sklearn_adaboost import SklearnAdaBoost
from conjunto.pruning.adapters.sklearn_bagging import SklearnBagging
from conjunto.pruning.adapters.sklearn_forest import SklearnForest
from conjunto.pruning.adapters.sklearn_voting import SklearnVoting
from conjunto.pruning.model_list import ModelListClassifier, ModelListRegressor

FAMILIES: tuple[tuple[tuple[type, ...], type[Adapter]], ...] = (
    ((RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor), SklearnForest),
    ((BaggingClassifier, BaggingRegressor), SklearnBagging),
    ((AdaBoostClassifier, AdaBoostRegressor), SklearnAdaBoost),
    ((VotingClassifier, VotingRegressor), SklearnVoting),
)
GRADIENT_BOOSTING = (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
# Libraries of gradient boosting, known by name: none of them need be installed.
BOOSTING_LIBRARIES = ("lightgbm", "xgboost", "catboost")
WHAT_CAN_BE_TAKEN = (
    "an ensemble of conjunto; of scikit-learn RandomForest, ExtraTrees, Bagging, AdaBoost and Voting, classifiers and "
    'regressors; of LightGBM boosting_type="rf"; a Pipeline that ends in one of these; or a list of fitted models'
)


def adapt(fitted: Any) -> Adapter:
    """Return a fitted ensemble as voters that can be taken apart.

    Parameters
    ----------
    fitted : estimator, or list or tuple of fitted models
        An ensemble of conjunto, scikit-learn or LightGBM, a pipeline that ends in one, or models of any kind.

    Returns
    -------
    Adapter
        Votes, class shares and training rows of the members, and parts of the ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from conjunto.pruning.adapters import adapt
    >>> X, y = load_iris(return_X_y=True)
    >>> voters = adapt(RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y))
    >>> voters.votes(X).labels.shape
    (20, 150)
    >>> len(voters.take([7, 3, 11]))
    3
    """
    if isinstance(fitted, type):
        raise TypeError(f"got the class {fitted.__name__}, and a fitted ensemble is needed: {WHAT_CAN_BE_TAKEN}")
    if isinstance(fitted, (list, tuple)):
        return ModelList(fitted)
    if isinstance(fitted, (ModelListClassifier, ModelListRegressor)):
        check_is_fitted(fitted)
        return ModelList(fitted)
    if isinstance(fitted, Pipeline):
        return PipelineAdapter(fitted, adapt(fitted.steps[-1][1]))
    if is_own(fitted):
        return OwnEnsemble(fitted)
    for kinds, family in FAMILIES:
        if isinstance(fitted, kinds):
            return family(fitted)
    if _library(fitted) == "lightgbm" and _is_forest(fitted):
        return LightGBMForest(fitted)
    raise TypeError(_why_not(fitted))


def _why_not(fitted: Any) -> str:
    name, library = type(fitted).__name__, _library(fitted)
    if library in BOOSTING_LIBRARIES and _is_forest(fitted):
        return (
            f"{name} keeps its trees in one model of {library}, which has no public way to take some of them out: fit "
            "the forest with conjunto or scikit-learn"
        )
    if isinstance(fitted, GRADIENT_BOOSTING) or library in BOOSTING_LIBRARIES:
        return (
            f"{name} cannot be taken apart: in gradient boosting every member corrects the residuals of those before "
            "it, so that members are no voters; distil replaces it by one tree"
        )
    if hasattr(fitted, "best_estimator_") or name.endswith("SearchCV"):
        return f"{name} is a search, not an ensemble: give its best_estimator_"
    if hasattr(fitted, "calibrated_classifiers_"):
        return f"{name} calibrates other models: prune the ensemble first, then calibrate it"
    if hasattr(fitted, "estimator_") and hasattr(fitted, "order_"):
        return f"{name} wraps another model: give its estimator_"
    return f"{name} cannot be taken apart into voters. What can: {WHAT_CAN_BE_TAKEN}"


def _library(fitted: Any) -> str:
    return type(fitted).__module__.split(".")[0]


def _is_forest(fitted: Any) -> bool:
    return getattr(fitted, "boosting_type", None) == "rf" or type(fitted).__name__.startswith("XGBRF")


__all__ = ["Adapter", "adapt"]
