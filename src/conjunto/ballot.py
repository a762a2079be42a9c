"""Counting votes: plurality, correctness, and the vote of every prefix of an ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.votes import Votes


def as_votes(votes: Votes | ArrayLike) -> Votes:
    """Accept a `Votes` or a plain (T, n) array: integers are class codes, floats are values."""
    if isinstance(votes, Votes):
        return votes
    array = np.asarray(votes)
    if array.ndim != 2:
        raise ValueError(f"votes must be a Votes or a (members, examples) array, got shape {array.shape}")
    return Votes(values=array) if array.dtype.kind == "f" else Votes(labels=array)


def as_codes(votes: Votes, y: ArrayLike) -> NDArray[np.intp]:
    """Class codes of y: labels of `votes.classes` where the votes have them, else codes already."""
    y = np.asarray(y)
    if len(y) != votes.n_examples:
        raise ValueError(f"y has {len(y)} examples, votes have {votes.n_examples}")
    if votes.classes is None:
        return y.astype(np.intp)
    codes = np.searchsorted(votes.classes, y).clip(0, len(votes.classes) - 1)
    unknown = votes.classes[codes] != y
    if unknown.any():
        raise ValueError(f"y has the label {y[unknown][0]!r}, which the members do not know")
    return codes


def vote_counts(votes: Votes) -> NDArray[np.float64]:
    """(n, K): weighted votes by class. Abstentions (-1, or NaN scores) count for none."""
    if votes.labels is None and votes.scores is None:
        raise ValueError("votes of a regression cannot be counted")
    *_, counts = prefix_counts(votes)
    return counts


def prefix_counts(votes: Votes) -> Iterator[NDArray[np.float64]]:
    """Yield the (n, K) counts of the first 1, 2, …, T members; one array, updated in place."""
    counts = np.zeros((votes.n_examples, votes.n_classes))
    examples = np.arange(votes.n_examples)
    for t, weight in enumerate(votes.member_weights()):
        if votes.scores is not None:
            counts += weight * np.nan_to_num(votes.scores[t])
        else:
            assert votes.labels is not None
            said = votes.labels[t]
            here = said >= 0
            counts[examples[here], said[here]] += weight
        yield counts


def prefix_means(votes: Votes) -> Iterator[NDArray[np.float64]]:
    """Yield the (n,) weighted means of the first 1, 2, …, T members' values; NaN where all abstain."""
    assert votes.values is not None
    sums = np.zeros(votes.n_examples)
    totals = np.zeros(votes.n_examples)
    for weight, values in zip(votes.member_weights(), votes.values, strict=True):
        here = ~np.isnan(values)
        sums[here] += weight * values[here]
        totals[here] += weight
        with np.errstate(invalid="ignore"):
            yield sums / totals


def mean_values(votes: Votes) -> NDArray[np.float64]:
    """(n,): weighted mean of the members' values; NaN where all abstain."""
    *_, means = prefix_means(votes)
    return means


def correctness(votes: Votes | ArrayLike, y: ArrayLike) -> NDArray[np.int8]:
    """(T, n): +1 where a member is right, -1 where it is wrong, 0 where it abstains."""
    votes = as_votes(votes)
    if votes.labels is None:
        raise ValueError("correctness needs votes of class labels")
    right = np.where(votes.labels == as_codes(votes, y), 1, -1).astype(np.int8)
    right[votes.labels < 0] = 0
    return right


def plurality(counts: NDArray[Any]) -> NDArray[np.intp]:
    """(n,): the class with most votes, ties to the lowest code; -1 where nobody voted."""
    winner = counts.argmax(axis=1)
    winner[counts.max(axis=1) <= 0] = -1
    return winner


def decide(votes: Votes | ArrayLike) -> NDArray[Any]:
    """(n,): the class with most votes (ties: the lowest code), or the weighted mean of the values."""
    votes = as_votes(votes)
    if votes.values is not None:
        return mean_values(votes)
    codes = vote_counts(votes).argmax(axis=1)
    return codes if votes.classes is None else votes.classes[codes]
