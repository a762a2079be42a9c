"""Errors of many subsets of voters at once.

A subset is wrong on an example where the votes for the truth, less those for some other class, are negative, or zero
and the other class has the lower code. These margins add up over the voters, so that one matrix product, subsets times
voters' margins, judges all subsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunto.ordering._reading import ClassBallot
from conjunto.ties import ROUNDING

# Margins held at a time.
CELLS = 1 << 22


class VoterMargins(NamedTuple):
    """What each voter adds to the margin of the truth over every other class, on a block of examples."""

    each: NDArray[Any]
    """(T, K - 1, n)"""
    others: NDArray[np.intp]
    """(K - 1, n): the codes of the other classes."""
    sign: NDArray[Any]
    """(K - 1, n): 1 where the other class has the lower code and wins a tie, else -1."""
    voted: NDArray[np.bool_]
    """(T, n)"""
    weight: NDArray[np.float64]
    """(n,): the weight of each example."""


def voter_margins(ballot: ClassBallot, examples: slice | NDArray[np.intp], dtype: Any = np.float64) -> VoterMargins:
    """The margins of the voters on some of the examples."""
    labels, truth = ballot.labels[:, examples], ballot.truth[examples]
    others = np.arange(ballot.n_classes - 1)[:, None]
    others = others + (others >= truth)
    voted = labels >= 0
    if ballot.scores is None:
        each = (labels == truth)[:, None].astype(dtype)
        each = each - (labels[:, None] == others)
    else:
        scores = np.where(voted[:, None], ballot.scores[:, examples].swapaxes(1, 2), 0.0)
        rows = np.arange(len(truth))
        each = scores[:, truth, rows][:, None] - scores[:, others, rows]
    if ballot.weights is not None:
        each = each * ballot.weights[:, None, None]
    sign = np.where(others < truth, 1, -1).astype(dtype)
    weight = np.ones(len(truth)) if ballot.sample_weight is None else ballot.sample_weight[examples]
    return VoterMargins(each, others, sign, voted, weight)


def is_counted(ballot: ClassBallot) -> bool:
    """Whether margins are whole numbers: votes for labels, all of the same weight."""
    return ballot.scores is None and ballot.weights is None


class SubsetErrors:
    """The error of subsets of voters: the share of wrong answers where at least one of them votes; 1 if none does."""

    def __init__(self, ballot: ClassBallot, most: int = 1) -> None:
        """Prepare to judge up to about `most` subsets at a time."""
        self._ballot = ballot
        self._n = len(ballot.truth)
        self._step = max(1, CELLS // (max(most, len(ballot)) * max(1, ballot.n_classes - 1)))
        # Counts stay far below 2^24, up to which float32 is exact.
        self._dtype = np.float32 if is_counted(ballot) else np.float64
        self._reach = _reach(ballot)
        self._kept = [self._block(0)] if self._step >= self._n else None

    def __call__(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(P,): the errors of P subsets, the rows of `chosen` (P, T)."""
        tie = self._tie(chosen @ self._reach)
        factors, flags = chosen.astype(self._dtype), chosen.astype(np.float32)
        wrong, covered = np.zeros(len(chosen)), np.zeros(len(chosen))
        for block in self._blocks():
            shape = (len(chosen), *block.each.shape[1:])
            sums = (factors @ block.each.reshape(len(block.each), -1)).reshape(shape)
            if block.voted.all():
                voted = np.broadcast_to(chosen.any(axis=1, keepdims=True), (len(chosen), len(block.weight)))
            else:
                voted = flags @ block.voted.astype(np.float32) > 0
            _judge(block, sums, voted, tie, wrong, covered)
        return _share(wrong, covered)

    def after_adding(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(T,): the errors of one subset (T,) after adding voter 0, 1, …, T - 1."""
        tie = self._tie(self._reach + chosen @ self._reach)
        wrong, covered = np.zeros(len(chosen)), np.zeros(len(chosen))
        for block in self._blocks():
            sums = block.each + block.each[chosen].sum(axis=0)
            voted = block.voted | block.voted[chosen].any(axis=0)
            _judge(block, sums, voted, tie, wrong, covered)
        return _share(wrong, covered)

    def _blocks(self) -> Iterator[VoterMargins]:
        if self._kept is not None:
            yield from self._kept
        else:
            yield from map(self._block, range(0, self._n, self._step))

    def _block(self, first: int) -> VoterMargins:
        return voter_margins(self._ballot, slice(first, first + self._step), self._dtype)

    def _tie(self, reach: NDArray[np.float64]) -> NDArray[Any]:
        """(P, 1, 1): how far from zero a margin may be in a tie. The tiny part: votes without weight tie, too."""
        tie = np.full(len(reach), 0.5) if is_counted(self._ballot) else ROUNDING * reach + np.finfo(float).tiny
        return tie.astype(self._dtype)[:, None, None]


def _judge(
    block: VoterMargins,
    sums: NDArray[Any],
    voted: NDArray[np.bool_],
    tie: NDArray[Any],
    wrong: NDArray[np.float64],
    covered: NDArray[np.float64],
) -> None:
    """Add the weights of the examples that P subsets with these sums (P, K - 1, n) get wrong and vote on."""
    wrong += ((sums < block.sign * tie).any(axis=1) & voted) @ block.weight
    covered += voted @ block.weight


def _share(wrong: NDArray[np.float64], covered: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(wrong, covered, out=np.ones(len(wrong)), where=covered > 0)


def _reach(ballot: ClassBallot) -> NDArray[np.float64]:
    """(T,): the most that a voter adds to a class, the scale of rounding."""
    weights = np.ones(len(ballot)) if ballot.weights is None else ballot.weights
    if ballot.scores is None:
        return weights
    return weights * np.abs(np.nan_to_num(ballot.scores)).max(axis=(1, 2))
