"""A rule of boosting: what vote does a member get, and what does the next one see?

The run in `_boosting.py` keeps the weights, normalises and floors them, fits members and decides when to stop. A rule
answers its questions, in every round in this order: `views`, `read`, `error`, `perfect`, `vote`, `reweigh`; it may keep
what it found for the next question. Weights have one row per example and, where pairs are weighed, one column per
class. What the answers of members mean to a fitted ensemble is a `Reading`, which depends on nothing of this.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from numpy.typing import NDArray

from conjunto.ensembles._readings import READINGS, Reading
from conjunto.problem import Problem
from conjunto.streams import Stream
from conjunto.view import View

Array = NDArray[Any]


class BoostingRule:
    """One member per round, told the true labels; its answer is a label. A method says what differs."""

    name: ClassVar[str]
    """As users know it."""
    reads: ClassVar[str] = "labels"
    """How the members' answers become votes, by its name in `READINGS`."""
    needs_probabilities: ClassVar[bool] = False
    """Whether labels alone will not do in place of shares."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.y = problem.y
        self.n_classes = problem.n_classes
        self.width = self.reading.width(problem.n_classes)
        """Members per round."""
        self.resampled = False
        """Whether members see samples, drawn by weight; the loop says so."""
        self.limit = 0.5
        """Errors from here on are no better than chance."""
        self.bound: float | None = None
        """The bound of the training error before the first round, where the theory gives one."""
        self.limits: tuple[float, float] | None = None
        """The least and the largest value that counts as an answer."""

    @property
    def reading(self) -> Reading:
        """How the members' answers become votes."""
        return READINGS[self.reads]

    def draw_once(self, stream: Stream) -> None:
        """Draw what a run, or a committee, draws once."""

    def start(self, weights: Array) -> Array:
        """The first weights, from those of the examples, which sum to 1."""
        return weights

    def members_problem(self) -> Problem:
        """The problem that members solve; sample weights are part of what the loop weighs."""
        return self.problem

    def views(self, weights: Array) -> list[View]:
        """What the members of a round see."""
        return [View(weights)]

    def read(self, weights: Array, answers: Array) -> Array:
        """The answers of a round, (members, n[, K]), as the ensemble takes them."""
        return answers

    def forget_last(self) -> None:
        """The members of the last round are dropped."""

    def leaf_scores(self) -> Array | None:
        """(leaves, K): what the leaves of all trees say, where the rule decides that and not the tree."""
        return None

    def error(self, weights: Array, answers: Array) -> float:
        """The error of a round under its weights."""
        return float((weights * (answers[0] != self.y)).sum())

    def perfect(self, error: float) -> bool:
        """Whether nothing is left to learn."""
        return error <= 0

    def vote(self, error: float) -> float:
        """The vote of a round, before the learning rate."""
        return math.log((1 - error) / error)

    def reweigh(self, weights: Array, answers: Array, vote: float) -> Array:
        """The weights of the next round, up to their sum."""
        raise NotImplementedError("a rule defines reweigh")

    def normaliser(self, total: float) -> float:
        """The factor of the bound, from the sum of the new weights."""
        return total
