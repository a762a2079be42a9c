"""SAMME (Zhu, Zou, Rosset and Hastie 2009): M1 for K classes, where better than one in K is good enough."""

from __future__ import annotations

import math

from conjunto.ensembles.rules._rule import Array, samme_probabilities
from conjunto.ensembles.rules.m1 import M1
from conjunto.problem import Problem


class SAMME(M1):
    """M1 with log(K - 1) more vote. Its bound holds, but with more than two classes need not shrink."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.limit = 1 - 1 / self.n_classes

    def vote(self, error: float) -> float:
        """M1's vote, shifted so that a random guess among K classes gets none."""
        return super().vote(error) + math.log(max(1, self.n_classes - 1))

    @classmethod
    def decision(cls, scores: Array, total: float) -> Array:
        """A vote counts 1 for its class and -1 / (K - 1) for each other."""
        others = max(1, scores.shape[1] - 1)
        return (scores - (total - scores) / others) / total

    @classmethod
    def probabilities(cls, scores: Array, total: float) -> Array:
        """From the exponential loss."""
        return samme_probabilities(cls.decision(scores, total))
