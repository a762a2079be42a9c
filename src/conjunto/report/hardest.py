"""`Hardest`: the rows of a table that most methods get wrong, or, in regression, are furthest from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.answers import Answers, HeldOut

MOST = 10
"""Rows that are shown."""


@dataclass(frozen=True)
class HardRow:
    """A row, what is true of it, and what was said."""

    row: int
    """Its position in the table, from 0."""
    truth: float
    """A class code, or a value."""
    said: float
    """The code that was said most often, of equals the lowest; or the mean of the values."""
    lost: float
    """The share of wrong answers, or the mean absolute error."""
    given: float
    """The mean probability that the true class was given; NaN where nobody gives probabilities."""
    answers: int


@dataclass(eq=False)
class Hardest:
    """Adds up the answers of many methods about many partitions."""

    regression: bool
    _parts: list[_Part] = field(default_factory=list)

    def add(self, tested: HeldOut, answers: Answers) -> None:
        """Take in what one method said about the rows of one partition."""
        # Of codes, which are small, half the size does.
        said = answers.predicted.astype(np.float64 if self.regression else np.int32)
        proba = answers.proba
        given = None if proba is None else proba[np.arange(len(proba)), tested.truth]
        self._parts.append(_Part(tested.rows, tested.truth, said, given))

    @property
    def tested(self) -> int:
        """How many rows have answers."""
        return int((self._totals()[1] > 0).sum()) if self._parts else 0

    def worst(self) -> tuple[list[HardRow], int]:
        """The hardest rows, and how many are answered wrong more often than right (all that are shown and more).

        The larger loss comes first; of equal ones that whose true class was thought less likely, then the first of the
        table.
        """
        if not self._parts:
            return [], 0
        lost, _, given = self._totals()
        hard = np.flatnonzero(lost > (0 if self.regression else 0.5))
        likely = np.nan_to_num(given[hard], nan=1.0)
        order = hard[np.lexsort((hard, likely, -lost[hard]))][:MOST]
        rows = [self._row(int(row), float(lost[row]), float(given[row])) for row in order]
        return rows, 0 if self.regression else len(hard)

    def _totals(self) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
        """By row of the table: the mean loss, the number of answers, the mean probability of the true class."""
        size = 1 + max(int(part.rows.max()) for part in self._parts)
        lost, given = np.zeros(size), np.zeros(size)
        asked, likely = np.zeros(size, dtype=np.intp), np.zeros(size, dtype=np.intp)
        for part in self._parts:  # a row is tested once in a partition
            lost[part.rows] += np.abs(part.said - part.truth) if self.regression else part.said != part.truth
            asked[part.rows] += 1
            if part.given is not None:
                given[part.rows] += part.given
                likely[part.rows] += 1
        nothing = np.full(size, np.nan)
        mean = np.divide(lost, asked, out=np.zeros(size), where=asked > 0)
        # Sums in another order must not make equal rows unequal.
        return mean.round(12), asked, np.divide(given, likely, out=nothing, where=likely > 0).round(6)

    def _row(self, row: int, lost: float, given: float) -> HardRow:
        """What is true of a row, and what was said about it."""
        found = [(part, place) for part in self._parts for place in np.flatnonzero(part.rows == row)]
        said = np.array([part.said[place] for part, place in found])
        answer = said.mean() if self.regression else np.bincount(said).argmax()
        first, place = found[0]
        return HardRow(row, float(first.truth[place]), float(answer), lost, given, len(said))


@dataclass(frozen=True, eq=False)
class _Part:
    """What one method said about one partition."""

    rows: NDArray[Any]
    truth: NDArray[Any]
    said: NDArray[Any]
    given: NDArray[np.float32] | None
    """The probabilities of the true classes, where there are any."""
