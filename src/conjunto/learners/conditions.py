"""Conditions: what a row must satisfy to take one branch of a tree.

An `Interval` speaks of a number, a `Subset` of a category, a `Combination` of several columns at once. Each says
whether it holds for a row, and what is left when it meets another condition on the same subject. A value is missing
where the row has None or NaN, or a category that training never saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conjunto.problem import is_missing


@dataclass(frozen=True)
class Interval:
    """`low < value <= high` of a numeric column; `missing` tells whether a missing value satisfies it too."""

    column: int
    low: float = -math.inf
    high: float = math.inf
    missing: bool = False

    @property
    def subject(self) -> Any:
        """What is spoken of: conditions on one subject can be merged."""
        return self.column

    @property
    def empty(self) -> bool:
        """Whether no known value satisfies it."""
        return not self.low < self.high

    def holds(self, row: Sequence[Any]) -> bool:
        """Whether a row, values in the order of the columns, satisfies it."""
        value = row[self.column]
        return self.missing if is_missing(value) else bool(self.low < value <= self.high)

    def meet(self, other: Interval) -> Interval:
        """Both at once."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(self.column, low, high, self.missing and other.missing)


@dataclass(frozen=True)
class Subset:
    """A categorical column has one of `categories`; `known` are all categories that training saw."""

    column: int
    categories: tuple[Any, ...]
    known: tuple[Any, ...] = field(repr=False)
    missing: bool = False

    @property
    def subject(self) -> Any:
        """What is spoken of: conditions on one subject can be merged."""
        return self.column

    @property
    def empty(self) -> bool:
        """Whether no known value satisfies it."""
        return not self.categories

    def holds(self, row: Sequence[Any]) -> bool:
        """Whether a row, values in the order of the columns, satisfies it."""
        value = row[self.column]
        return self.missing if is_missing(value) or value not in self.known else value in self.categories

    def meet(self, other: Subset) -> Subset:
        """Both at once."""
        allowed = set(other.categories)
        both = tuple(name for name in self.categories if name in allowed)
        return Subset(self.column, both, self.known, self.missing and other.missing)


@dataclass(frozen=True)
class Term:
    """`coefficient * value` of a numeric column, or `coefficient * [the category is in the subset]`."""

    coefficient: float
    column: int
    subset: Subset | None = None

    def value(self, row: Sequence[Any]) -> float:
        """The term for one row; NaN where the value is missing."""
        value = row[self.column]
        if is_missing(value) or (self.subset is not None and value not in self.subset.known):
            return math.nan
        return self.coefficient * (float(value) if self.subset is None else self.subset.holds(row))


@dataclass(frozen=True)
class Combination:
    """`low < sum of terms <= high`; `missing` tells where a row goes that lacks one of the values."""

    terms: tuple[Term, ...]
    low: float = -math.inf
    high: float = math.inf
    missing: bool = False

    @property
    def subject(self) -> Any:
        """What is spoken of: conditions on one subject can be merged."""
        return self.terms

    @property
    def empty(self) -> bool:
        """Whether no known value satisfies it."""
        return not self.low < self.high

    def holds(self, row: Sequence[Any]) -> bool:
        """Whether a row, values in the order of the columns, satisfies it."""
        total = 0.0
        for term in self.terms:  # in the order of the core, and not by `sum`, which rounds in another way
            total += term.value(row)
        return self.missing if math.isnan(total) else self.low < total <= self.high

    def meet(self, other: Combination) -> Combination:
        """Both at once."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Combination(self.terms, low, high, self.missing and other.missing)


Condition: TypeAlias = Interval | Subset | Combination


def merge(path: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions of a path with one for each subject, in the order in which subjects first appear."""
    merged: dict[Any, Any] = {}
    for condition in path:
        subject = condition.subject
        merged[subject] = merged[subject].meet(condition) if subject in merged else condition
    return tuple(merged.values())
