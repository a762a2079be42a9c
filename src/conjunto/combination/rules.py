"""The rules by which votes are combined: one literal table of running counts.

A rule takes in one voter after another and can be asked for the count at any time. What needs all answers so far (the
medians, the trimmed mean) keeps them.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from conjunto.combination.count import Count
from conjunto.ties import levels

Array = NDArray[Any]

# Values sorted at a time, for medians.
MEDIAN_CELLS = 1 << 22
# The share of the answers that a trimmed mean leaves out at either end.
TRIMMED = 0.1


class Running(Protocol):
    """A count that goes on."""

    def __init__(self, n: int, k: int) -> None:
        """Begin with no votes on n rows of k classes; 0 in regression."""

    def add(self, answer: Array, weight: float) -> None:
        """Take in what one voter says, (n,) or (n, K)."""

    def count(self) -> Count:
        """What all voters so far have said together."""


class _Base:
    def __init__(self, n: int, k: int) -> None:
        self.counts = np.zeros((n, k) if k else n)
        self.voted = np.zeros(n, dtype=bool)

    def count(self) -> Count:
        return Count(self.counts, self.voted)


class Plurality(_Base):
    """Every voter has one class, and the weights of the votes for each are added up."""

    def __init__(self, n: int, k: int) -> None:
        super().__init__(n, k)
        self._rows = np.arange(n)

    def add(self, answer: Array, weight: float) -> None:
        """A code of -1 votes for none."""
        here = answer >= 0
        if here.all():
            self.counts[self._rows, answer] += weight
            self.voted[:] = True
            return
        self.counts[self._rows[here], answer[here]] += weight
        self.voted |= here


class Sum(_Base):
    """Scores of the classes are added up."""

    def add(self, answer: Array, weight: float) -> None:
        """NaN in a row is an abstention."""
        # One number tells that nobody abstains; looking row by row takes longer than adding.
        if not np.isnan(answer.sum()):
            self.counts += answer if weight == 1.0 else weight * answer
            self.voted[:] = True
            return
        here = ~np.isnan(answer).any(axis=1)
        self.counts[here] += weight * answer[here]
        self.voted |= here


class Mean(_Base):
    """Values, or scores, are averaged over the voters that have a say."""

    def __init__(self, n: int, k: int) -> None:
        super().__init__(n, k)
        self._total = np.zeros(n)

    def add(self, answer: Array, weight: float) -> None:
        """NaN is an abstention."""
        here = ~np.isnan(answer) if answer.ndim == 1 else ~np.isnan(answer).any(axis=1)
        self.counts[here] += weight * answer[here]
        self._total[here] += weight
        self.voted |= here

    def count(self) -> Count:
        """The means so far."""
        total = self._total if self.counts.ndim == 1 else self._total[:, None]
        with np.errstate(invalid="ignore"):
            return Count(self.counts / total, self.voted)


class Product(Sum):
    """Scores are multiplied; the counts are logarithms of the products, and weights are exponents."""

    def add(self, answer: Array, weight: float) -> None:
        """A score of 0 is a veto."""
        if (answer < 0).any():
            raise ValueError("a product is of scores that are not negative, such as probabilities")
        with np.errstate(divide="ignore"):
            # The logarithm of a veto is finite: a sum of vetoes must stay a number.
            logs = np.maximum(np.log(answer), np.log(np.finfo(np.float64).tiny))
        super().add(logs, weight)


class Borda(Sum):
    """Every voter ranks the classes: each has a point for every class below it, and half of one for every equal."""

    def add(self, answer: Array, weight: float) -> None:
        """NaN in a row is an abstention."""
        silent: NDArray[np.bool_] = np.asarray(np.isnan(answer).any(axis=1))
        points = rankdata(levels(np.where(silent[:, None], 0.0, answer)), axis=1) - 1
        super().add(np.where(silent[:, None], np.nan, points), weight)


class _Extreme(_Base):
    _better: Any

    def add(self, answer: Array, weight: float) -> None:
        here = ~np.isnan(answer) if answer.ndim == 1 else ~np.isnan(answer).any(axis=1)
        first, again = here & ~self.voted, here & self.voted
        self.counts[first] = answer[first]
        self.counts[again] = self._better(self.counts[again], answer[again])
        self.voted |= here


class Least(_Extreme):
    """The least score of each class, or value; weights play no part."""

    _better = np.minimum


class Most(_Extreme):
    """The largest score of each class, or value; weights play no part."""

    _better = np.maximum


class _Kept(_Base):
    """What needs all answers so far."""

    def __init__(self, n: int, k: int) -> None:
        super().__init__(n, k)
        self._answers: list[Array] = []
        self._weights: list[float] = []

    def add(self, answer: Array, weight: float) -> None:
        self._answers.append(np.array(answer, dtype=np.float64))
        self._weights.append(weight)
        self.voted |= ~np.isnan(answer) if answer.ndim == 1 else ~np.isnan(answer).any(axis=1)


class Median(_Kept):
    """The median of the scores of each class, or of values; weights play no part."""

    def count(self) -> Count:
        """The medians so far."""
        if not self._answers:
            return super().count()
        answers = np.stack(self._answers)
        medians = np.full(answers.shape[1:], np.nan if answers.ndim == 2 else 0.0)
        medians[self.voted] = np.nanmedian(answers[:, self.voted], axis=0)
        return Count(medians, self.voted)


class WeightedMedian(_Kept):
    """The least value that at least half of the weight lies at or below."""

    def count(self) -> Count:
        """The weighted medians so far."""
        if not self._answers:
            return super().count()
        return Count(weighted_median(np.stack(self._answers), np.array(self._weights)), self.voted)


class TrimmedMean(_Kept):
    """The mean without the lowest and the highest tenth of the answers, at least one of each where there are three."""

    def count(self) -> Count:
        """The trimmed means so far."""
        if not self._answers:
            return super().count()
        means = trimmed_mean(np.stack(self._answers), np.array(self._weights))
        return Count(np.where(np.isnan(means) & (means.ndim == 2), 0.0, means), self.voted)


RULES: dict[str, type[Running]] = {
    "plurality": Plurality,
    "sum": Sum,
    "mean": Mean,
    "product": Product,
    "min": Least,
    "max": Most,
    "median": Median,
    "trimmed-mean": TrimmedMean,
    "borda": Borda,
    "weighted-median": WeightedMedian,
}


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


def trimmed_mean(answers: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean over the first axis of what is left of the answers; NaN (abstention) is none of them."""
    # Who has no weight has no place among the lowest and the highest either.
    answers = np.where((weights > 0).reshape(-1, *(1,) * (answers.ndim - 1)), answers, np.nan)
    order = answers.argsort(axis=0, kind="stable")
    ordered = np.take_along_axis(answers, order, axis=0)
    cast = (~np.isnan(ordered)).sum(axis=0)
    cut = np.where(cast >= 3, np.maximum(1, (TRIMMED * cast).astype(np.intp)), 0)
    place = np.arange(len(answers)).reshape(-1, *(1,) * (answers.ndim - 1))
    counted = np.where((place >= cut) & (place < cast - cut), weights[order], 0.0)
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = (counted * np.nan_to_num(ordered)).sum(axis=0) / counted.sum(axis=0)
    return mean
