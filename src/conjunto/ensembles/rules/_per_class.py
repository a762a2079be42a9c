"""Rules that ask of every example and every class "is it this one?": a weight per pair, a member per class.

With two classes one member is enough: what speaks for the second class speaks against the first.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_expit, softmax

from conjunto.ensembles.rules._rule import Array, Rule
from conjunto.problem import Problem


class PerClass(Rule):
    """One member per class and round."""

    per_class = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.sides = _sides(self.y, self.n_classes, self.width(self.n_classes))
        """(n, members): +1 where the row is of the member's class, -1 elsewhere."""

    def start(self, weights: Array) -> Array:
        """Shared equally by the classes."""
        return np.repeat(weights[:, None], self.sides.shape[1], axis=1) / self.sides.shape[1]

    @classmethod
    def probabilities(cls, scores: Array, total: float) -> Array:
        """A score estimates half of the log-odds of its class (Friedman et al. 2000)."""
        return softmax(log_expit(2 * scores), axis=1)


def _sides(y: Array, n_classes: int, width: int) -> Array:
    if n_classes == 1:
        return -np.ones((len(y), 1))
    classes = np.arange(n_classes) if width > 1 else np.array([1])
    return np.where(y[:, None] == classes, 1.0, -1.0)
