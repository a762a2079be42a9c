"""SAMME (Zhu, Zou, Rosset and Hastie 2009): M1 for K classes, where better than one in K is good enough."""

from __future__ import annotations

import math

from conjunto.ensembles.rules.m1 import M1
from conjunto.problem import Problem


class SAMME(M1):
    """M1 with log(K - 1) more vote. Its bound holds, but with more than two classes need not shrink."""

    name = "samme"
    reads = "samme"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = 1 - 1 / self.n_classes

    def vote(self, error: float) -> float:
        """M1's vote, shifted so that a random guess among K classes gets none."""
        return super().vote(error) + math.log(max(1, self.n_classes - 1))
