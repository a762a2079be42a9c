"""Numbers of any size into numbers that can be squared, multiplied and added up.

Criteria compare ratios, which powers of two do not change; but the sum of two large doubles is infinite, and the square
of a small one is 0. Numbers of ordinary size stay as they are, to the last bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from conjunto.votes import Votes

# Squares and products of numbers up to this one, added up over any number of votes, are doubles; so are their inverses.
REACH = 2.0**200


def moderate_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same weights, at another scale if need be; one that is not 0 counts at least 1 / REACH of the largest.

    A weight that small decides nothing beside the largest one. Where it is alone, what matters is that it is not 0.
    """
    largest = weights.max(initial=0.0)
    weights = np.ldexp(weights, -_exponent(largest))
    return np.where(weights > 0, np.maximum(weights, weights.max(initial=0.0) / REACH), 0.0)


def moderate_votes(votes: Votes) -> Votes:
    """Votes on classes with weights and scores that can be added up; both are finite but for abstentions."""
    if votes.weights is not None:
        votes = replace(votes, weights=moderate_weights(votes.weights.astype(np.float64)))
    if votes.scores is not None:
        scores = np.ascontiguousarray(votes.scores, dtype=np.float64)
        exponent = _exponent(_largest(scores))
        votes = replace(votes, scores=scores if exponent == 0 else np.ldexp(scores, -exponent))
    return votes


def moderate_values(
    values: NDArray[np.float64], truth: NDArray[np.float64], sample_weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Predictions (T, n) and truth (n,) at one scale, that of the examples which count; the others are set to 0."""
    if sample_weight is not None and (sample_weight == 0).any():
        counts = sample_weight > 0
        values, truth = np.where(counts | np.isnan(values), values, 0.0), np.where(counts, truth, 0.0)
    exponent = _exponent(max(_largest(values), _largest(truth)))
    return (values, truth) if exponent == 0 else (np.ldexp(values, -exponent), np.ldexp(truth, -exponent))


def _largest(numbers: NDArray[np.float64]) -> float:
    # Two passes without a copy; of NaN alone there is no largest.
    return float(max(np.fmax.reduce(numbers, axis=None, initial=0.0), -np.fmin.reduce(numbers, axis=None, initial=0.0)))


def _exponent(largest: float) -> int:
    """The power of two by which numbers up to `largest` are divided; 0 where they are of ordinary size."""
    return 0 if largest == 0 or 1 / REACH <= largest <= REACH else int(np.frexp(largest)[1])
