"""AdaBoost.M2 (Freund and Schapire 1997): weights on pairs (example, wrong class).

Members give plausibilities h(x, k) in [0, 1], here class shares. Their pseudo-loss
`1/2 sum w(i, k) (1 - h(x_i, y_i) + h(x_i, k))` is 1/2 for any constant answer, so weak members suffice however many
classes there are.
"""

from __future__ import annotations

import numpy as np

from conjunto.ensembles.rules._rule import Array, Rule
from conjunto.problem import Problem
from conjunto.view import View


class M2(Rule):
    """Tell the true class from each wrong one."""

    answer = "shares"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.wrong = np.arange(self.n_classes) != self.y[:, None]
        self.bound = float(max(1, self.n_classes - 1))

    def start(self, weights: Array) -> Array:
        """Shared equally by the wrong classes."""
        return self.wrong * weights[:, None] / max(1, self.n_classes - 1)

    def views(self, weights: Array) -> list[View]:
        """A row weighs what its pairs weigh."""
        return [View(weights.sum(axis=1))]

    def error(self, weights: Array, said: Array) -> float:
        """The pseudo-loss."""
        return 0.5 * float((weights * (1 - self._gap(said))).sum())

    def reweigh(self, weights: Array, said: Array, vote: float) -> Array:
        """Pairs that the member tells apart lose weight."""
        return weights * np.exp(-vote / 2 * self._gap(said))

    def _gap(self, said: Array) -> Array:
        """(n, K): h(x_i, y_i) - h(x_i, k)."""
        shares = said[0]
        return shares[np.arange(len(shares)), self.y][:, None] - shares

    @classmethod
    def probabilities(cls, scores: Array, total: float) -> Array:
        """The mean plausibility."""
        return scores / scores.sum(axis=1, keepdims=True)
