"""AdaBoost.R2 (Drucker 1997): the loss of an example is its share of the largest error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem

LOSSES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda share: share,
    "square": np.square,
    "exponential": lambda share: 1 - np.exp(-share),
}


class R2(BoostingRule):
    """M1 with losses between 0 and 1 instead of right and wrong."""

    name = "r2"
    reads = "medians"

    def __init__(self, problem: Problem, loss: str = "linear") -> None:
        super().__init__(problem)
        self._loss = loss

    def error(self, weights: Array, answers: Array) -> float:
        """The mean loss."""
        away = np.abs(answers[0] - self.y)
        seen = weights > 0
        largest = away[seen].max()
        # A tree that meets every target does so up to rounding.
        perfect = largest <= 1e-12 * np.abs(self.y[seen]).max()
        self._losses = np.zeros(len(away)) if perfect else LOSSES[self._loss](np.minimum(away / largest, 1.0))
        return float((weights * self._losses).sum())

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """By beta^(1 - loss)."""
        return weights * np.exp(-vote * (1 - self._losses))
