"""What stands for a model in a file: trees of scikit-learn as ours, boosters of other libraries as their text."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from conjunto.ensembles._ensemble import ABOUT_PRUNING
from conjunto.exchange.boosters import is_booster, store_booster
from conjunto.exchange.from_sklearn import from_sklearn
from conjunto.learners.coded import CodedClassifier

# What scikit-learn keeps of training and does not need to predict, and skops does not trust.
_LEFT_OUT = {"MLPClassifier": ("_optimizer",), "MLPRegressor": ("_optimizer",)}
_UNCHECKED = "scikit-learn keeps its trees in arrays that nobody checks when they are read"
NO_SAFE_FORMAT = {
    "GradientBoostingClassifier": _UNCHECKED,
    "GradientBoostingRegressor": _UNCHECKED,
    "HistGradientBoostingClassifier": _UNCHECKED,
    "HistGradientBoostingRegressor": _UNCHECKED,
}
"""Estimators of scikit-learn that have no format that is safe to read, and why."""


def savable(estimator: Any) -> Any:
    """The model with what can be saved in place of every part that cannot; itself where there is nothing to replace.

    A pipeline keeps its steps, and a wrapper such as `PrunedClassifier` its parameters.
    """
    if isinstance(estimator, Pipeline):
        last = estimator.steps[-1][1]
        converted = savable(last)
        if converted is last:
            return estimator
        pipeline = copy.copy(estimator)
        pipeline.steps = [*estimator.steps[:-1], (estimator.steps[-1][0], converted)]
        return pipeline
    if is_booster(estimator):
        return store_booster(estimator)
    if isinstance(estimator, TransformedTargetRegressor) and hasattr(estimator, "regressor_"):
        wrapper = copy.copy(estimator)
        wrapper.regressor_ = savable(estimator.regressor_)
        return wrapper
    inner = vars(estimator).get("estimator_")
    wraps = type(estimator).__module__.startswith("conjunto.pruning.") or isinstance(estimator, CodedClassifier)
    if wraps and inner is not None:
        converted = savable(inner)
        if converted is inner and not is_booster(estimator.estimator):
            return estimator
        wrapper = copy.copy(estimator)
        wrapper.estimator_ = converted
        if isinstance(estimator, CodedClassifier):
            wrapper.estimator = converted  # in place of an unfitted booster, which has no text
        return wrapper
    if left_out := [name for name in _LEFT_OUT.get(type(estimator).__name__, ()) if hasattr(estimator, name)]:
        estimator = copy.copy(estimator)
        for name in left_out:
            delattr(estimator, name)
        return estimator
    try:
        converted = from_sklearn(estimator)
    except (TypeError, ValueError):
        return estimator
    if converted is not estimator:
        for name in ABOUT_PRUNING:
            if hasattr(estimator, name):
                setattr(converted, name, getattr(estimator, name))
    return converted


def parts_of(estimator: Any) -> list[Any]:
    """An estimator and all that are nested in its parameters, such as the steps of a pipeline."""
    nested = [part for part in estimator.get_params(deep=True).values() if hasattr(part, "get_params")]
    return [estimator, *(part for part in nested if not isinstance(part, type))]


def without_boosters(estimator: Any) -> Any:
    """An unfitted copy without the boosters that `savable` turns into text: alone, or last in a pipeline."""
    if isinstance(estimator, Pipeline):
        last = without_boosters(estimator.steps[-1][1])
        return Pipeline([*((name, clone(step)) for name, step in estimator.steps[:-1]), (estimator.steps[-1][0], last)])
    if is_booster(estimator) or (isinstance(estimator, CodedClassifier) and is_booster(estimator.estimator)):
        return "passthrough"
    return clone(estimator)
