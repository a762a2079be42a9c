"""Arc-x4 (Breiman 1998): an example that m of the members so far got wrong weighs 1 + m^4; all votes are equal."""

from __future__ import annotations

import math

import numpy as np

from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem


class ArcX4(BoostingRule):
    """Weights from counts of errors alone."""

    name = "arc-x4"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = math.inf
        self._examples = np.ones(len(self.y))
        self._wrong = np.zeros(len(self.y))

    def start(self, weights: Array) -> Array:
        """The weights of the examples."""
        self._examples = weights
        self._wrong = np.zeros(len(weights))
        return weights

    def perfect(self, error: float) -> bool:
        """As long as nobody was ever wrong the weights do not change, nor do members, unless they see samples."""
        return error <= 0 and not self._wrong.any() and not self.resampled

    def vote(self, error: float) -> float:
        """All alike."""
        return 1.0

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """1 + m^4."""
        self._wrong += answers[0] != self.y
        return self._examples * (1 + self._wrong**4)
