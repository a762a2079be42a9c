"""Fitted ensembles into smaller ones: a permutation and a size, a subset, or one tree in their place."""

from conjunto.pruning.distil import distil
from conjunto.pruning.estimators import PrunedClassifier, PrunedRegressor
from conjunto.pruning.keep import Budget
from conjunto.pruning.prune import order, prune

__all__ = ["Budget", "PrunedClassifier", "PrunedRegressor", "distil", "order", "prune"]
