"""AdaBoost.R (Freund and Schapire 1997): a weight *function* of the answer for every example.

With targets scaled to [0, 1] each example is a question for every y: "is the target at most y?". Its weight starts as
|y - y_i| and is multiplied by beta outside the interval between the target and a member's answer, so it is |y - y_i|
times a function that is constant between the answers so far. Breakpoints and constants are kept, and integrals are
exact. The training error in these questions, which is the squared error, is bounded as M1's error is.
"""

from __future__ import annotations

import numpy as np

from conjunto.ensembles.rules._rule import Array, BoostingRule
from conjunto.problem import Problem

# Above this, exp overflows; only pieces of no width have such factors.
LARGEST_LEVEL = 700.0


class R(BoostingRule):
    """Piecewise linear weight functions."""

    name = "r"
    reads = "medians"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.start(np.full(problem.n, 1 / problem.n))

    def _unit(self, values: Array) -> Array:
        return ((values - self._low) / self._range).clip(0, 1)

    def start(self, weights: Array) -> Array:
        """|y - y_i|, normalised. What an example weighs for its members is the integral of its function."""
        n, seen = len(weights), self.y[weights > 0]
        self._low, self._high = self.limits = (float(seen.min()), float(seen.max()))
        self._range = self._high - self._low or 1.0
        self._target = self._unit(self.y)
        self._first = 0.5 * (self._target**2 + (1 - self._target) ** 2)
        self._total = float((weights * self._first).sum())
        self._examples = weights
        # Row by row: breakpoints 0, target, 1, and the logarithm of the factor on each piece between them.
        self._breaks = np.stack([np.zeros(n), self._target, np.ones(n)], axis=1)
        self._levels = np.full((n, 2), -np.log(self._total))
        self._mass = weights * self._first / self._total
        with np.errstate(over="ignore"):
            self.bound = float(2 * self._total * np.square(self._range))
        return self._mass.copy()

    def read(self, weights: Array, answers: Array) -> Array:
        """No target lies beyond those that were seen."""
        return answers.clip(self._low, self._high)

    def error(self, weights: Array, answers: Array) -> float:
        """The mass between target and answer."""
        self._answer = self._unit(answers[0])
        low, high = np.minimum(self._answer, self._target), np.maximum(self._answer, self._target)
        breaks = self._breaks.clip(low[:, None], high[:, None]) - self._target[:, None]
        pieces = 0.5 * np.abs(np.diff(breaks**2, axis=1)) * np.exp(np.minimum(self._levels, LARGEST_LEVEL))
        self._inside = self._examples * pieces.sum(axis=1)
        return float(self._inside.sum())

    def perfect(self, error: float) -> bool:
        """Answers that meet the targets do so up to rounding, and errors are squares."""
        return error <= 1e-20

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """Cut every function at the answer, raise what lies inside, lower what lies outside."""
        self._insert(self._answer)
        low, high = np.minimum(self._answer, self._target), np.maximum(self._answer, self._target)
        inside = (self._breaks[:, :-1] >= low[:, None]) & (self._breaks[:, 1:] <= high[:, None])
        self._levels += np.where(inside, vote / 2, -vote / 2)
        self._mass = np.exp(vote / 2) * self._inside + np.exp(-vote / 2) * (self._mass - self._inside)
        self._sum = float(self._mass.sum())
        self._levels -= np.log(self._sum)
        self._mass /= self._sum
        return self._mass.copy()

    def normaliser(self, total: float) -> float:
        """The sum over all questions, not over examples."""
        return self._sum

    def _insert(self, answer: Array) -> None:
        """A breakpoint at the answer of each row; the piece that it cuts keeps its factor on both sides."""
        n, pieces = self._levels.shape
        at = (self._breaks[:, 1:-1] < answer[:, None]).sum(axis=1)
        breaks, levels = np.arange(pieces + 2), np.arange(pieces + 1)
        # The new breakpoint stands behind number `at`; those after it move by one.
        source = breaks - (breaks > (at + 1)[:, None])
        self._breaks = np.take_along_axis(self._breaks, source.clip(max=pieces), axis=1)
        self._breaks[np.arange(n), at + 1] = answer
        self._levels = np.take_along_axis(self._levels, levels - (levels > at[:, None]), axis=1)
