"""AdaBoost.MH (Schapire and Singer 1999): one run on the pairs (example, class), asking "is it this class?".

Each round fits one binary member per class under a weight per pair, with one vote for all of them. The bound of the
error is K / 2 times the product of the normalisers: a wrong decision costs at least 2 among its K pairs.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from conjunto.ensembles.rules._per_class import shared_equally, sides_of
from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem
from conjunto.view import View


class MH(BoostingRule):
    """Binary members."""

    name = "mh"
    reads = "sides"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.sides = sides_of(self.y, self.n_classes, self.width)
        self._labels = (self.sides > 0).astype(np.int32)
        self.bound = max(1.0, self.n_classes / 2)

    def start(self, weights: Array) -> Array:
        """Shared equally by the classes."""
        return shared_equally(weights, self.width)

    def members_problem(self) -> Problem:
        """Members say 1 for "this class" and 0 for "another"."""
        return replace(self.problem, y=self._labels[:, 0], classes=np.array([0, 1]))

    def views(self, weights: Array) -> list[View]:
        """For each class its own weights and labels."""
        return [View(*pair) for pair in zip(weights.T, self._labels.T, strict=True)]

    def error(self, weights: Array, answers: Array) -> float:
        """The weight of the pairs that are wrong."""
        return float(weights[self._labels != answers.T].sum())

    def vote(self, error: float) -> float:
        """Half of M1's: answers are -1 and +1."""
        return 0.5 * math.log((1 - error) / error)

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """By exp(-vote Y h)."""
        return weights * np.exp(-vote * self.sides * (2 * answers.T - 1))
