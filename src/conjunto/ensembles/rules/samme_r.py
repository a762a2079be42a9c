"""SAMME.R (Zhu et al. 2009), for two classes Real AdaBoost (Friedman et al. 2000): members give probabilities.

Every member counts alike, with `(K - 1) (log p_k - mean log p)`; weights shrink where it was sure and right.
"""

from __future__ import annotations

import math

import numpy as np

from conjunto.ensembles._readings import log_shares
from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem


class SAMMER(BoostingRule):
    """The class-probability form of SAMME."""

    name = "samme.r"
    reads = "samme.r"
    needs_probabilities = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = math.inf

    def error(self, weights: Array, answers: Array) -> float:
        """The weight on which the most probable class is wrong."""
        return super().error(weights, answers.argmax(axis=2))

    def vote(self, error: float) -> float:
        """All alike: confidence is in the probabilities."""
        return 1.0

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """By exp(-(1 - 1/K) y' log p), where y codes the class as 1 and the others as -1 / (K - 1)."""
        logs = log_shares(answers[0])
        true, others = logs[np.arange(len(logs)), self.y], max(1, self.n_classes - 1)
        exponent = -vote * (1 - 1 / self.n_classes) * (true - (logs.sum(axis=1) - true) / others)
        return weights * np.exp(exponent - exponent.max())
