"""Counting votes: plurality, correctness, and the vote of every prefix of an ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.votes import Votes

# Values sorted at a time, for medians.
MEDIAN_CELLS = 1 << 22


def as_votes(votes: Votes | ArrayLike) -> Votes:
    """Accept a `Votes` or a plain (T, n) array: integers are class codes, floats are values."""
    if isinstance(votes, Votes):
        return votes
    array = np.asarray(votes)
    if array.dtype == bool or array.dtype.kind == "u":
        # Abstentions are -1.
        array = array.astype(np.int64)
    if array.ndim != 2:
        raise ValueError(f"votes must be a Votes or a (members, examples) array, got shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise ValueError(
            "a plain array of votes holds class codes (integers) or values (floats); labels go into a Votes"
        )
    return Votes(values=array) if array.dtype.kind == "f" else Votes(labels=array)


def as_codes(votes: Votes, y: ArrayLike) -> NDArray[np.intp]:
    """Class codes of y: labels of `votes.classes` where the votes have them, else codes already."""
    y = np.asarray(y)
    if len(y) != votes.n_examples:
        raise ValueError(f"y has {len(y)} examples, votes have {votes.n_examples}")
    if votes.classes is None:
        return y.astype(np.intp)
    order = np.argsort(votes.classes)
    try:
        codes = order[np.searchsorted(votes.classes, y, sorter=order).clip(0, len(order) - 1)]
    except TypeError:
        # Numbers cannot be looked up among texts.
        raise ValueError(f"y has the label {y.tolist()[0]!r}, which the members do not know") from None
    unknown = votes.classes[codes] != y
    if unknown.any():
        raise ValueError(f"y has the label {y[unknown].tolist()[0]!r}, which the members do not know")
    return codes


# Sums of real weights in another order differ by less than this share of them.
ROUNDING = 1e-10


# With at most so many classes a loop over them is faster than numpy's own reductions over short rows.
FEW_CLASSES = 32


def leaders(counts: NDArray[np.float64]) -> NDArray[np.intp]:
    """(n,): the class with the largest count; ties, and differences by rounding alone, go to the lowest code."""
    n, k = counts.shape
    if k > FEW_CLASSES:
        enough = counts.max(axis=1) - ROUNDING * np.abs(counts).max(axis=1)
        return (counts >= enough[:, None]).argmax(axis=1)
    most, least = counts[:, 0].copy(), counts[:, 0].copy()
    for column in counts.T[1:]:
        np.maximum(most, column, out=most)
        np.minimum(least, column, out=least)
    enough = most - ROUNDING * np.maximum(np.abs(most), np.abs(least))
    winners = np.full(n, k - 1, dtype=np.intp)
    for code in range(k - 2, -1, -1):
        winners[counts[:, code] >= enough] = code
    return winners


class Count(NamedTuple):
    """A running count of votes."""

    counts: NDArray[np.float64]
    """(n, K): weighted votes, or summed scores, by class."""
    voted: NDArray[np.bool_]
    """(n,): whether anybody has voted on the example."""

    def winners(self) -> NDArray[np.intp]:
        """(n,): the class with most votes, ties to the lowest code; -1 where nobody voted."""
        winners = leaders(self.counts)
        winners[~self.voted] = -1
        return winners


def vote_counts(votes: Votes) -> NDArray[np.float64]:
    """(n, K): weighted votes by class. Abstentions (-1, or NaN scores) count for none."""
    return count_votes(votes).counts


def count_votes(votes: Votes) -> Count:
    """Count the votes of all members."""
    *_, count = prefix_counts(votes)
    return count


def prefix_counts(votes: Votes) -> Iterator[Count]:
    """Yield the count of the first 1, 2, …, T members; one pair of arrays, updated in place."""
    if votes.values is not None:
        raise ValueError("votes of a regression cannot be counted")
    if votes.groups is not None:
        yield from _prefix_counts_of_groups(votes)
        return
    counts = np.zeros((votes.n_examples, max(1, votes.n_classes)))
    count = Count(counts, np.zeros(votes.n_examples, dtype=bool))
    for t, weight in enumerate(votes.member_weights()):
        _add(count, votes, t, weight)
        yield count


def _add(count: Count, votes: Votes, t: int, weight: float) -> None:
    """Add the vote of member t."""
    if votes.scores is not None:
        here = ~np.isnan(votes.scores[t]).any(axis=1)
        count.counts[here] += weight * votes.scores[t][here]
    else:
        assert votes.labels is not None
        here = votes.labels[t] >= 0
        count.counts[np.flatnonzero(here), votes.labels[t][here]] += weight
    count.voted[:] |= here


def _prefix_counts_of_groups(votes: Votes) -> Iterator[Count]:
    """The same where groups of members decide, each by its own votes, before the groups vote, one vote each."""
    assert votes.groups is not None
    shape = (votes.n_examples, max(1, votes.n_classes))
    count = Count(np.zeros(shape), np.zeros(votes.n_examples, dtype=bool))
    examples = np.arange(votes.n_examples)
    names, group = np.unique(votes.groups, return_inverse=True)
    inside = [Count(np.zeros(shape), np.zeros(votes.n_examples, dtype=bool)) for _ in names]
    decided = np.full((len(names), votes.n_examples), -1)
    for t, weight in enumerate(votes.member_weights()):
        _add(inside[group[t]], votes, t, weight)
        before, after = decided[group[t]], inside[group[t]].winners()
        for codes, vote in ((before, -1.0), (after, 1.0)):
            known = codes >= 0
            count.counts[examples[known], codes[known]] += vote
        count.voted[:] |= after >= 0
        decided[group[t]] = after
        yield count


def group_decisions(votes: Votes) -> tuple[NDArray[np.int32], list[NDArray[np.intp]]]:
    """(groups, n): what each group decides by its own votes, in the order of the groups' names, and who is in it."""
    assert votes.groups is not None
    names, group = np.unique(votes.groups, return_inverse=True)
    inside = [np.flatnonzero(group == g) for g in range(len(names))]
    decided = [count_votes(replace(votes.take(members), groups=None)).winners() for members in inside]
    return np.stack(decided).astype(np.int32), inside


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
            means = sums / totals
        yield means


def mean_values(votes: Votes) -> NDArray[np.float64]:
    """(n,): weighted mean of the members' values; NaN where all abstain."""
    *_, means = prefix_means(votes)
    return means


def weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,): the least value that at least half of the weight lies at or below; NaN (abstention) has no weight."""
    medians = np.empty(values.shape[1])
    step = max(1, MEDIAN_CELLS // len(values))
    for first in range(0, len(medians), step):
        block = values[:, first : first + step]
        order = block.argsort(axis=0)
        block = np.take_along_axis(block, order, axis=0)
        below = np.where(np.isnan(block), 0.0, weights[order]).cumsum(axis=0)
        place = (below >= 0.5 * below[-1]).argmax(axis=0)
        medians[first : first + step] = np.take_along_axis(block, place[None], axis=0)[0]
    return medians


def prefix_values(votes: Votes) -> Iterator[NDArray[np.float64]]:
    """Yield the (n,) means, or by the rule "median" weighted medians, of the first 1, 2, …, T members' values."""
    if votes.rule != "median":
        yield from prefix_means(votes)
        return
    assert votes.values is not None
    weights = votes.member_weights()
    for t in range(1, len(votes) + 1):
        yield weighted_median(votes.values[:t], weights[:t])


def correctness(votes: Votes | ArrayLike, y: ArrayLike) -> NDArray[np.int8]:
    """(T, n): +1 where a member is right, -1 where it is wrong, 0 where it abstains."""
    votes = as_votes(votes)
    if votes.labels is None:
        raise ValueError("correctness needs votes of class labels")
    right = np.where(votes.labels == as_codes(votes, y), 1, -1).astype(np.int8)
    right[votes.labels < 0] = 0
    return right


def decide(votes: Votes | ArrayLike) -> NDArray[Any]:
    """(n,): the class with most votes (ties: the lowest code), or the weighted mean (rule "median": median) of values.

    Where everybody abstains the code is -1 and the mean NaN; such examples have no label, so votes with `classes`
    must have none.
    """
    votes = as_votes(votes)
    if votes.values is not None:
        return weighted_median(votes.values, votes.member_weights()) if votes.rule == "median" else mean_values(votes)
    codes = count_votes(votes).winners()
    if votes.classes is None:
        return codes
    if (codes < 0).any():
        raise ValueError(f"nobody votes on {(codes < 0).sum()} of the {len(codes)} examples: leave them out")
    return votes.classes[codes]
