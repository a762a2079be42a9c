"""Gentle AdaBoost (Friedman, Hastie and Tibshirani 2000): Newton steps on the exponential loss.

Members are regressions of the sides -1 and +1, one per class (one in all for two classes); nothing is divided by a
small probability, hence gentle.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from conjunto.ensembles.rules._rule import Array
from conjunto.ensembles.rules.mh import MH
from conjunto.problem import Problem
from conjunto.view import View


class Gentle(MH):
    """MH with least squares instead of labels."""

    answer = "values"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = math.inf
        self.bound = None

    def members_problem(self) -> Problem:
        """Regression on the sides."""
        return replace(self.problem, y=self.sides[:, 0].copy(), classes=None)

    def views(self, weights: Array) -> list[View]:
        """For each class its own weights and sides."""
        return [View(*pair) for pair in zip(weights.T, self.sides.T, strict=True)]

    def error(self, weights: Array, said: Array) -> float:
        """The weight of the pairs whose sign is wrong."""
        self._away = float((np.abs(said.T - self.sides) * (weights > 0)).max())
        return float(weights[said.T * self.sides <= 0].sum())

    def perfect(self, error: float, said: Array) -> bool:
        """A member that meets every side exactly would be fitted again and again."""
        return self._away < 1e-9

    def vote(self, error: float) -> float:
        """All alike: the size of a step is in the values."""
        return 1.0

    def reweigh(self, weights: Array, said: Array, vote: float) -> Array:
        """By exp(-Y f)."""
        return weights * np.exp(-vote * self.sides * said.T)

    @classmethod
    def worth(cls, said: Array, n_classes: int) -> Array:
        """The value."""
        return said

    @classmethod
    def decision(cls, scores: Array, total: float) -> Array:
        """Half log-odds, as they are."""
        return scores
