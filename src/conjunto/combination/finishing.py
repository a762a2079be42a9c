"""How summed scores become decision functions and probabilities: one literal table, by name.

A fitted ensemble knows its finish by name, so that it can be stored, exported and read by other programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, softmax

Array = NDArray[Any]


class Finish(NamedTuple):
    """Functions of (n, K) summed scores and of the sum of the voters' weights."""

    decision: Callable[[Array, float], Array]
    probabilities: Callable[[Array, float], Array]


def _share_of_total(scores: Array, total: float) -> Array:
    """The share of all votes there could be."""
    return scores / total


def _share_of_cast(scores: Array, total: float) -> Array:
    """The share of the votes that were cast; all classes alike where there were none."""
    cast = scores.sum(axis=1, keepdims=True)
    return np.divide(scores, cast, out=np.full_like(scores, 1 / scores.shape[1], dtype=np.float64), where=cast > 0)


def _as_they_are(scores: Array, total: float) -> Array:
    return scores


def _samme_decision(scores: Array, total: float) -> Array:
    """A vote counts 1 for its class and -1 / (K - 1) for each other."""
    others = max(1, scores.shape[1] - 1)
    return (scores - (total - scores) / others) / total


def _samme(decision: Array) -> Array:
    """Zhu et al. (2009): classes are as probable as exp(score / (K - 1))."""
    return softmax(decision / max(1, decision.shape[1] - 1), axis=1)


FINISHES: dict[str, Finish] = {
    "share": Finish(_share_of_total, _share_of_total),
    "share-of-cast": Finish(_share_of_cast, _share_of_cast),
    "plausibility": Finish(_share_of_total, _share_of_cast),
    "samme": Finish(_samme_decision, lambda scores, total: _samme(_samme_decision(scores, total))),
    "samme.r": Finish(_share_of_total, lambda scores, total: _samme(scores / total)),
    # A score estimates half of the log-odds of its class (Friedman et al. 2000).
    "mean-half-log-odds": Finish(_share_of_total, lambda scores, total: softmax(log_expit(2 * scores), axis=1)),
    "half-log-odds": Finish(_as_they_are, lambda scores, total: softmax(log_expit(2 * scores), axis=1)),
    "logistic": Finish(_as_they_are, lambda scores, total: softmax(scores, axis=1)),
}
