"""LogitBoost (Friedman, Hastie and Tibshirani 2000): Newton steps on the logistic loss.

Members are regressions of the working response `(y - p) / (p (1 - p))` with weights `p (1 - p)`. Subtracting the mean
over classes from the scores changes neither probabilities nor decisions, and is left out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from conjunto.ensembles.rules._rule import Array
from conjunto.ensembles.rules.gentle import Gentle
from conjunto.problem import Problem
from conjunto.view import View

# Responses of nearly certain examples explode; the authors advise a limit between 2 and 4.
LARGEST_RESPONSE = 4.0
LEAST_WEIGHT = 2 * np.finfo(np.float64).eps


class Logit(Gentle):
    """One regression of the working response per class and round."""

    name = "logit"
    reads = "half-steps"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._examples = np.ones(len(self.y))
        self._scores = np.zeros_like(self.sides)

    def start(self, weights: Array) -> Array:
        """All classes equally probable."""
        self._examples = weights
        self._scores = np.zeros_like(self.sides)
        return self._respond()

    def views(self, weights: Array) -> list[View]:
        """For each class its own weights and responses."""
        return [View(*pair) for pair in zip(weights.T, self._responses.T, strict=True)]

    def perfect(self, error: float) -> bool:
        """Probabilities never reach 0 and 1: there is always something left."""
        return False

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """Move the scores and take probabilities anew."""
        self._scores += vote * self.reading.to_scores(answers, self.n_classes).T
        return self._respond()

    def _respond(self) -> Array:
        p = softmax(self._scores, axis=1) if self._scores.shape[1] > 1 else expit(2 * self._scores)
        variance = np.maximum(p * (1 - p), LEAST_WEIGHT)
        self._responses = (((self.sides > 0) - p) / variance).clip(-LARGEST_RESPONSE, LARGEST_RESPONSE)
        return self._examples[:, None] * variance
