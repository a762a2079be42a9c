"""Gentle AdaBoost (Friedman, Hastie and Tibshirani 2000): Newton steps on the exponential loss.

Members are least-squares regressions of the sides -1 and +1; nothing is divided by a small probability, hence gentle.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from conjunto.ensembles.rules._per_class import shared_equally, sides_of
from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem
from conjunto.view import View


class Gentle(BoostingRule):
    """Regressions of the sides."""

    name = "gentle"
    reads = "steps"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = math.inf
        self.sides = sides_of(self.y, self.n_classes, self.width)

    def start(self, weights: Array) -> Array:
        """Shared equally by the classes."""
        return shared_equally(weights, self.width)

    def members_problem(self) -> Problem:
        """Regression."""
        return replace(self.problem, y=self.sides[:, 0].copy(), classes=None)

    def views(self, weights: Array) -> list[View]:
        """For each class its own weights and sides."""
        return [View(*pair) for pair in zip(weights.T, self.sides.T, strict=True)]

    def error(self, weights: Array, answers: Array) -> float:
        """The weight of the pairs whose sign is wrong."""
        self._away = float((np.abs(answers.T - self.sides) * (weights > 0)).max())
        return float(weights[answers.T * self.sides <= 0].sum())

    def perfect(self, error: float) -> bool:
        """Members that meet every side would be fitted again and again."""
        return self._away < 1e-9

    def vote(self, error: float) -> float:
        """All alike: the size of a step is in the values."""
        return 1.0

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """By exp(-Y f)."""
        return weights * np.exp(-vote * self.sides * answers.T)
