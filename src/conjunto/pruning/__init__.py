"""A permutation and a size into a smaller estimator."""

from conjunto.pruning.estimators import PrunedClassifier, PrunedRegressor
from conjunto.pruning.keep import Budget
from conjunto.pruning.prune import order, prune

__all__ = ["Budget", "PrunedClassifier", "PrunedRegressor", "order", "prune"]
