"""Boosting of IGP trees (Martinez-Munoz 2006, figure 3.4): each half of the data is reweighted by its own error.

Inside half k, of weighted error e_k, wrong examples are divided by 2 e_k and right ones by 2 (1 - e_k), which leaves
the weight of the half as it is; a half whose error is 0, or one half and more, goes back to its first weights.
"""

from __future__ import annotations

import numpy as np

from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem
from conjunto.streams import Stream
from conjunto.view import View

# An error of one half, as of a member that makes the same mistakes again, may be rounded to less.
SLACK = 1e-12


class IGP(BoostingRule):
    """Members are IGP trees on one pair of halves."""

    name = "igp"
    reads = "labels-cast"

    def __init__(self, problem: Problem, weighted: bool = False) -> None:
        super().__init__(problem)
        self.weighted = weighted
        """Whether members vote with the logarithm of their odds; the figure counts votes."""

    def draw_once(self, stream: Stream) -> None:
        """Draw the halves of a run."""
        present = np.ones(len(self.y)) if self.problem.weights is None else self.problem.weights
        self.halves = stream.halves(self.y, present > 0, self.n_classes)

    def start(self, weights: Array) -> Array:
        """The weights that a half goes back to."""
        self.first = weights
        return weights

    def views(self, weights: Array) -> list[View]:
        """All examples, in their halves."""
        return [View(weights, halves=self.halves)]

    def vote(self, error: float) -> float:
        """One vote each, unless votes are weighted."""
        return super().vote(error) if self.weighted else 1.0

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """Wrong examples of a half have half of its weight next."""
        wrong = answers[0] != self.y
        out = weights.copy()
        for half in (0, 1):
            mine = self.halves == half
            total, lost = weights[mine].sum(), weights[mine & wrong].sum()
            error = lost / total if total > 0 else 0.0
            if 0 < error < 0.5 - SLACK:
                out[mine] /= np.where(wrong[mine], 2 * error, 2 * (1 - error))
            else:
                out[mine] = self.first[mine]
        return out
