"""How the answers of members become votes: one literal table, by name.

A voter is one member, or one member per class (a round of AdaBoost.MH). Its members are asked for labels, class shares
or values, and what they answer is a vote for a class, or adds something to the scores of every class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conjunto.learners.rounds import Answer
from conjunto.votes import Kind

Array = NDArray[Any]

# A leaf without examples of a class is no proof against it, and log 0 would decide everything: with the machine's
# epsilon in place of 1 %, resampled stumps on twonorm (180 rows) end at a test error of 25 % instead of 7 %.
LEAST_SHARE = 0.01


def log_shares(shares: Array) -> Array:
    """Logarithms of class shares, none of them below 1 %."""
    return np.log(np.maximum(shares, LEAST_SHARE))


def _symmetric_logarithm(shares: Array, n_classes: int) -> Array:
    logs = log_shares(shares)
    return (n_classes - 1) * (logs - logs.mean(axis=-1, keepdims=True))


def _sides(labels: Array, n_classes: int) -> Array:
    """-1 or +1."""
    return 2.0 * labels - 1


def _half_step(values: Array, n_classes: int) -> Array:
    """The step (K - 1) / K f of LogitBoost, which is f / 2 for two classes."""
    return max(1, n_classes - 1) / max(2, n_classes) * values


def _itself(answers: Array, n_classes: int) -> Array:
    return answers


@dataclass(frozen=True)
class Reading:
    """What members are asked for, and what their answers mean."""

    answer: Answer = "labels"
    """What members are asked for; "values" needs regressors, "leaves" are shares where the learner has none."""
    kind: Kind = "labels"
    """What the votes are."""
    to_scores: Callable[[Array, int], Array] = _itself
    """What an answer adds to the scores of the classes, per unit of weight."""
    per_class: bool = False
    """Whether a voter has one member per class (one in all where there are two)."""
    member_classes: Literal["own", "sides", "none"] = "own"
    """What members decide between: the classes, two sides of them (0 and 1), or nothing, where they are regressors."""
    rule: str = ""
    """How the votes are combined; "" is the default of their kind."""
    finish: str = "share"
    """How summed scores become probabilities, by its name in `combination.FINISHES`."""

    def width(self, n_classes: int) -> int:
        """Members per voter."""
        return n_classes if self.per_class and n_classes > 2 else 1


READINGS: dict[str, Reading] = {
    "labels": Reading(),
    "labels-cast": Reading(finish="share-of-cast"),
    "shares": Reading("shares", "scores"),
    "code": Reading(kind="scores", member_classes="sides", finish="share-of-cast"),
    "samme": Reading(finish="samme"),
    "samme.r": Reading("shares", "scores", _symmetric_logarithm, finish="samme.r"),
    "plausibilities": Reading("leaves", "scores", finish="plausibility"),
    "sides": Reading(
        kind="scores", to_scores=_sides, per_class=True, member_classes="sides", finish="mean-half-log-odds"
    ),
    "steps": Reading("values", "scores", per_class=True, member_classes="none", finish="half-log-odds"),
    "half-steps": Reading("values", "scores", _half_step, per_class=True, member_classes="none", finish="logistic"),
    "values": Reading("values", "values", member_classes="none", rule="mean"),
    "medians": Reading("values", "values", member_classes="none", rule="weighted-median"),
}


def scores_of(reading: Reading, answers: Array, n_classes: int) -> Array:
    """(n, K): what the members of one voter, whose answers are (members, n[, K]), add to the classes."""
    scores = reading.to_scores(answers, n_classes)
    if reading.answer in ("shares", "leaves"):
        return scores[0]
    return scores.T if len(answers) > 1 else both_sides(scores[0])[:, -n_classes:]


def both_sides(scores: Array) -> Array:
    """(n, 2): with two classes what speaks for the second speaks against the first."""
    return np.stack([-scores, scores], axis=1)
