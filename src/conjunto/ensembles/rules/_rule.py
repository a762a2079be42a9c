"""A rule of boosting: what vote does a member get, and what does the next one see?

The loop in `_sequential.py` keeps the weights, normalises and floors them, fits members and decides when to stop. A
rule answers its questions, in every round in this order: `views`, `heard`, `error`, `perfect`, `vote`, `reweigh`; it
may keep what it found for the next question. Weights have one row per example and, where pairs are weighed, one column
per class.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from conjunto.learners.rounds import Answer
from conjunto.problem import Problem
from conjunto.streams import Stream
from conjunto.view import View

Array = NDArray[Any]


class Rule:
    """One member per round, told the true labels; its answer is a label. A method says what differs."""

    answer: ClassVar[Answer] = "labels"
    """What members are asked for; "values" needs regressors, "leaves" are shares where the learner has none."""
    per_class: ClassVar[bool] = False
    """Whether a round has one member per class (one in all where there are two)."""
    needs_probabilities: ClassVar[bool] = False
    """Whether labels alone will not do in place of shares."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.y = problem.y
        self.n_classes = problem.n_classes
        self.resampled = False
        """Whether members see samples, drawn by weight; the loop says so."""
        self.limit = 0.5
        """Errors from here on are no better than chance."""
        self.bound: float | None = None
        """The bound of the training error before the first round, where the theory gives one."""
        self.limits: tuple[float, float] | None = None
        """The least and the largest value that counts as an answer."""

    def deal(self, stream: Stream) -> None:
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

    def heard(self, weights: Array, said: Array) -> Array:
        """The answers of a round, (members, n[, K]), as the ensemble takes them."""
        return said

    def dropped(self) -> None:
        """The members of the last round are forgotten."""

    def leaf_scores(self) -> Array | None:
        """(leaves, K): what the leaves of all trees are worth, where the rule decides that and not the tree."""
        return None

    def error(self, weights: Array, said: Array) -> float:
        """The error of a round under its weights."""
        return float((weights * (said[0] != self.y)).sum())

    def perfect(self, error: float) -> bool:
        """Whether nothing is left to learn."""
        return error <= 0

    def vote(self, error: float) -> float:
        """The vote of a round, before the learning rate."""
        return math.log((1 - error) / error)

    def reweigh(self, weights: Array, said: Array, vote: float) -> Array:
        """The weights of the next round, up to their sum."""
        raise NotImplementedError("a rule defines reweigh")

    def normaliser(self, total: float) -> float:
        """The factor of the bound, from the sum of the new weights."""
        return total

    # What follows is all that a fitted model needs: it depends on nothing but the number of classes.

    @classmethod
    def width(cls, n_classes: int) -> int:
        """Members per round."""
        return n_classes if cls.per_class and n_classes > 2 else 1

    @classmethod
    def worth(cls, said: Array, n_classes: int) -> Array:
        """What an answer adds to the scores, per unit of vote: shares to all classes, a value to its own."""
        return said

    @classmethod
    def decision(cls, scores: Array, total: float) -> Array:
        """(n, K) summed scores, as the decision function shows them; `total` is the sum of the votes."""
        return scores / total

    @classmethod
    def probabilities(cls, scores: Array, total: float) -> Array:
        """(n, K) class probabilities: the share of the vote, unless the method knows better."""
        return scores / total


def add_scores(rule: type[Rule], scores: Array, said: Array, vote: float) -> None:
    """Add what the members of one round say, (members, n[, K]), to (n, K) scores."""
    n_classes = scores.shape[1]
    if rule.answer == "labels" and not rule.per_class:
        scores[np.arange(len(scores)), said[0]] += vote
        return
    worth = vote * rule.worth(said, n_classes)
    if rule.answer in ("shares", "leaves"):
        scores += worth[0]
    elif len(said) > 1:
        scores += worth.T
    else:
        scores += both_sides(worth[0])[:, -n_classes:]


def both_sides(scores: Array) -> Array:
    """(n, 2): with two classes what speaks for the second speaks against the first."""
    return np.stack([-scores, scores], axis=1)


def samme_probabilities(decision: Array) -> Array:
    """Zhu et al.: classes are as probable as exp(score / (K - 1))."""
    return softmax(decision / max(1, decision.shape[1] - 1), axis=1)
