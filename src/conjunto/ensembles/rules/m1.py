"""AdaBoost.M1 (Freund and Schapire 1997): members must be right on more than half of the weight.

A member of error e votes with log((1 - e) / e); what it gets wrong weighs half of everything next. The factors are
exp(±vote / 2), so that the sum of the new weights is the factor of the training-error bound, 2 sqrt(e (1 - e)).
"""

from __future__ import annotations

import math

import numpy as np

from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem


class M1(BoostingRule):
    """Reweight wrong examples up, right ones down."""

    name = "m1"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.bound = 1.0

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """Wrong examples grow by exp(vote) relative to right ones."""
        factors = np.array([math.exp(-vote / 2), math.exp(vote / 2)])
        return weights * factors[(answers[0] != self.y).view(np.int8)]
