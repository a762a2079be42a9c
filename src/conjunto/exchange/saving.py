"""What stands for a model in a file: trees of scikit-learn as ours, which are checked when they are read."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.pipeline import Pipeline

from conjunto.ensembles._ensemble import ABOUT_PRUNING
from conjunto.exchange.from_sklearn import from_sklearn


def savable(estimator: Any) -> Any:
    """The model with `from_sklearn` of every ensemble of trees that it consists of; itself where that is none.

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
    inner = vars(estimator).get("estimator_")
    if type(estimator).__module__.startswith("conjunto.pruning.") and inner is not None:
        converted = savable(inner)
        if converted is inner:
            return estimator
        wrapper = copy.copy(estimator)
        wrapper.estimator_ = converted
        return wrapper
    try:
        converted = from_sklearn(estimator)
    except (TypeError, ValueError):
        return estimator
    if converted is not estimator:
        for name in ABOUT_PRUNING:
            if hasattr(estimator, name):
                setattr(converted, name, getattr(estimator, name))
    return converted
