"""Which family of ensembles a fitted model belongs to: `as_voters`."""

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

from conjunto.voters.adapter import Adapter
from conjunto.voters.lightgbm_forest import LightGBMForest
from conjunto.voters.model_list import ModelList
from conjunto.voters.pipeline import PipelineAdapter
from conjunto.voters.protocol import Voters
from conjunto.voters.sklearn_adaboost import SklearnAdaBoost
from conjunto.voters.sklearn_bagging import SklearnBagging
from conjunto.voters.sklearn_forest import SklearnForest
from conjunto.voters.sklearn_voting import SklearnVoting

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


def as_voters(fitted: Any) -> Voters:
    """Return a fitted ensemble as voters that can be taken apart.

    Parameters
    ----------
    fitted : estimator, or list or tuple of fitted models
        An ensemble of conjunto, scikit-learn or LightGBM, a pipeline that ends in one, or models of any kind.

    Returns
    -------
    Voters
        The ensemble itself where it is one of conjunto's; else an adapter with the same methods.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from conjunto.voters import as_voters
    >>> X, y = load_iris(return_X_y=True)
    >>> voters = as_voters(RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y))
    >>> voters.votes(X).scores.shape
    (20, 150, 3)
    >>> len(voters.take([7, 3, 11]))
    3
    """
    if isinstance(fitted, type):
        raise TypeError(f"got the class {fitted.__name__}, and a fitted ensemble is needed: {WHAT_CAN_BE_TAKEN}")
    if isinstance(fitted, (list, tuple)):
        return ModelList(fitted)
    if isinstance(fitted, Pipeline):
        return PipelineAdapter(fitted, as_voters(fitted.steps[-1][1]))
    if isinstance(fitted, Voters):
        return _own(fitted)
    for kinds, family in FAMILIES:
        if isinstance(fitted, kinds):
            return family(fitted)
    if _library(fitted) == "lightgbm" and _is_forest(fitted):
        return LightGBMForest(fitted)
    raise TypeError(_why_not(fitted))


def _own(fitted: Any) -> Voters:
    """An ensemble that meets the protocol itself; one that cannot be taken apart says why."""
    check_is_fitted(fitted)
    if why := getattr(fitted, "indivisible", ""):
        raise TypeError(f"{type(fitted).__name__} cannot be taken apart: {why}")
    voters: Voters = fitted
    return voters


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
    if why := getattr(fitted, "indivisible", ""):
        return f"{name} cannot be taken apart: {why}"
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


__all__ = ["as_voters"]
