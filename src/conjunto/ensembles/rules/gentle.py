"""Gentle AdaBoost (Friedman, Hastie and Tibshirani 2000): Newton steps on the exponential loss.

Members are least-squares regressions of the sides -1 and +1; nothing is divided by a small probability, hence gentle.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from conjunto.ensembles.rules._per_class import PerClass
from conjunto.ensembles.rules._rule import Array
from conjunto.problem import Problem
from conjunto.view import View


class Gentle(PerClass):
    """Regressions of the sides."""

    answer = "values"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = math.inf

    def members_problem(self) -> Problem:
        """Regression."""
        return replace(self.problem, y=self.sides[:, 0].copy(), classes=None)

    def views(self, weights: Array) -> list[View]:
        """For each class its own weights and sides."""
        return [View(*pair) for pair in zip(weights.T, self.sides.T, strict=True)]

    def error(self, weights: Array, said: Array) -> float:
        """The weight of the pairs whose sign is wrong."""
        self._away = float((np.abs(said.T - self.sides) * (weights > 0)).max())
        return float(weights[said.T * self.sides <= 0].sum())

    def perfect(self, error: float) -> bool:
        """Members that meet every side would be fitted again and again."""
        return self._away < 1e-9

    def vote(self, error: float) -> float:
        """All alike: the size of a step is in the values."""
        return 1.0

    def reweigh(self, weights: Array, said: Array, vote: float) -> Array:
        """By exp(-Y f)."""
        return weights * np.exp(-vote * self.sides * said.T)

    @classmethod
    def decision(cls, scores: Array, total: float) -> Array:
        """Half log-odds, as they are."""
        return scores
