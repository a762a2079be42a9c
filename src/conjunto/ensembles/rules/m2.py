"""AdaBoost.M2 (Freund and Schapire 1997): weights on pairs (example, wrong class).

Members give plausibilities h(x, k) in [0, 1]. Their pseudo-loss `1/2 sum w(i, k) (1 - h(x_i, y_i) + h(x_i, k))` is 1/2
for any constant answer, so weak members suffice however many classes there are. A leaf of our trees answers with the
set of classes that makes its part of the pseudo-loss least (Freund and Schapire 1996): a class is in it where it is
the truth on more weight than it is an error. Other learners answer with class shares.
"""

from __future__ import annotations

import numpy as np

from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem
from conjunto.view import View


class M2(BoostingRule):
    """Tell the true class from each wrong one."""

    name = "m2"
    reads = "plausibilities"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.wrong = np.arange(self.n_classes) != self.y[:, None]
        self.bound = float(max(1, self.n_classes - 1))
        self._sets: list[Array] = []

    def start(self, weights: Array) -> Array:
        """Shared equally by the wrong classes."""
        if self.n_classes == 1:
            return weights[:, None]
        return self.wrong * weights[:, None] / max(1, self.n_classes - 1)

    def views(self, weights: Array) -> list[View]:
        """A row weighs what its pairs weigh."""
        return [View(weights.sum(axis=1))]

    def read(self, weights: Array, answers: Array) -> Array:
        """The plausibilities: sets of classes by leaf, or the shares of another learner."""
        if answers.ndim == 3:
            return answers
        leaves = answers[0]
        gain = np.where(self.wrong, -weights, weights.sum(axis=1, keepdims=True))
        sets = np.zeros((leaves.max() + 1, self.n_classes))
        np.add.at(sets, leaves, gain)
        self._sets.append((sets > 0).astype(np.float64))
        return self._sets[-1][leaves][None]

    def forget_last(self) -> None:
        """Forget the sets of the last tree."""
        del self._sets[-1:]

    def leaf_scores(self) -> Array | None:
        """The sets of all trees."""
        return np.concatenate(self._sets) if self._sets else None

    def error(self, weights: Array, answers: Array) -> float:
        """The pseudo-loss; a single class cannot be mistaken."""
        if self.n_classes == 1:
            return 0.0
        return 0.5 * float((weights * (1 - self._gap(answers))).sum())

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """Pairs that the member tells apart lose weight."""
        return weights * np.exp(-vote / 2 * self._gap(answers))

    def _gap(self, answers: Array) -> Array:
        """(n, K): h(x_i, y_i) - h(x_i, k)."""
        shares = answers[0]
        return shares[np.arange(len(shares)), self.y][:, None] - shares
