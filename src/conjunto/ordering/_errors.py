"""The error of each voter by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ordering._reading import ClassBallot, ValueBallot


def member_errors(ballot: ClassBallot | ValueBallot, without_votes: float) -> NDArray[np.float64]:
    """(T,): share of wrong answers, or mean squared error, of each voter where it votes; `without_votes` if nowhere."""
    errors, example_weight = np.empty(len(ballot)), example_weights(ballot)
    # One voter at a time, to bound the memory.
    for t in range(len(ballot)):
        if isinstance(ballot, ClassBallot):
            voted = ballot.labels[t] >= 0
            losses: NDArray[Any] = voted & (ballot.labels[t] != ballot.truth)
        else:
            voted = ~np.isnan(ballot.values[t])
            losses = np.where(voted, (ballot.values[t] - ballot.truth) ** 2, 0.0)
        errors[t] = known_mean(losses, voted, example_weight, without_votes)
    return errors


def example_weights(ballot: ClassBallot | ValueBallot) -> NDArray[np.float64]:
    """(n,): the weight of each example; ones where all are equal."""
    return np.ones(len(ballot.truth)) if ballot.sample_weight is None else ballot.sample_weight


def known_mean(
    terms: NDArray[Any], known: NDArray[np.bool_], example_weight: NDArray[np.float64], default: float
) -> NDArray[np.float64]:
    """(…,): the mean over the examples, the last axis, whose terms are known, by their weights; or the default.

    Terms that are not known must be 0.
    """
    totals = known @ example_weight
    return np.divide(terms @ example_weight, totals, out=np.full(np.shape(totals), default), where=totals > 0)
