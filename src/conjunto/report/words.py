"""Numbers into words: one place that decides how many digits a reader sees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from conjunto.experiments.measures import MEASURES

DASH = "–"
"""The sign in place of a number that is missing."""
NO_BREAK = "\N{NO-BREAK SPACE}"
LEAST_WITH_TWO, MOST_DECIMALS = 0.001, 6
"""Percentages from a tenth of a percent on have two decimals; smaller ones have more, up to so many."""


@dataclass(frozen=True)
class Scale:
    """How the values of one measure are written, the same way in a whole column.

    Percentages have two decimals, and more where an error is so small that it would seem to be none; other measures
    have four significant digits of the middle value of the column.
    """

    percent: bool
    decimals: int
    exponent: bool = False

    @staticmethod
    def of(measure: str, values: Iterable[float]) -> Scale:
        """The scale for these values of a measure."""
        if MEASURES[measure].percent:
            shares = [value for value in values if math.isfinite(value)]
            # What is left to perfection is small, too.
            left = [1 - share for share in shares if MEASURES[measure].greater_is_better]
            return Scale(True, _decimals_of_percent(shares + left))
        sizes = sorted(abs(value) for value in values if math.isfinite(value) and value)
        if not sizes:
            return Scale(False, 3)
        size = math.floor(math.log10(sizes[len(sizes) // 2]))
        if not -5 <= size <= 8:
            return Scale(False, 3, exponent=True)
        return Scale(False, max(0, 3 - size))

    def write(self, value: float) -> str:
        """The number alone; the unit stands in the head of the column."""
        if value is None or not math.isfinite(value):
            return DASH
        if self.exponent:
            return f"{value:.{self.decimals}e}"
        text = f"{100 * value if self.percent else value:,.{self.decimals}f}"
        # A negative number that rounds to zero is zero.
        text = text.lstrip("-") if float(text.replace(",", "")) == 0 else text
        return text.replace("-", "\N{MINUS SIGN}")

    def full(self, value: float) -> str:
        """The number with its unit."""
        text = self.write(value)
        return f"{text}{NO_BREAK}%" if self.percent and text != DASH else text

    def spread(self, mean: float, sd: float) -> str:
        """Mean ± sd with the unit, for a sentence."""
        if not math.isfinite(sd):
            return self.full(mean)
        return f"{self.write(mean)}{NO_BREAK}±{NO_BREAK}{self.full(sd)}"

    def rounded(self, value: float) -> float:
        """The value as it is printed: equal in print is equal in rank."""
        if not math.isfinite(value) or self.exponent:
            return float(f"{value:.{self.decimals}e}")
        return round(value, self.decimals + 2 if self.percent else self.decimals)


def _decimals_of_percent(shares: Sequence[float]) -> int:
    """Two, or as many as show two digits of the smallest share; what six decimals cannot show is taken for zero."""
    smallest = min((share for share in shares if share > 0.5 * 10 ** -(MOST_DECIMALS + 2)), default=1.0)
    if smallest >= LEAST_WITH_TWO:
        return 2
    return min(MOST_DECIMALS, 1 - math.floor(math.log10(100 * smallest)))


def title(measure: str) -> str:
    """What a measure is called in the head of a column or on an axis."""
    name = MEASURES[measure].short or MEASURES[measure].title
    return f"{name} (%)" if MEASURES[measure].percent else name


def human_bytes(size: float) -> str:
    """`12.3 MB` for people."""
    if not math.isfinite(size):
        return DASH
    for unit in ("B", "kB", "MB"):
        if round(size) < 1000:
            return _three(size, unit)
        size /= 1000
    return _three(size, "GB")


def human_seconds(seconds: float) -> str:
    """`12 ms`, `3.4 s` or `2 min 5 s` for people."""
    if not math.isfinite(seconds):
        return DASH
    if seconds < 0.9995:
        return _three(1000 * seconds, "ms")
    if seconds < 59.95:
        return _three(seconds, "s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{NO_BREAK}min{NO_BREAK}{rest}{NO_BREAK}s"
    return f"{minutes // 60}{NO_BREAK}h{NO_BREAK}{minutes % 60}{NO_BREAK}min"


def _three(value: float, unit: str) -> str:
    """About three digits, no more than one decimal."""
    return f"{value:.1f}{NO_BREAK}{unit}" if value < 100 and unit != "B" else f"{value:.0f}{NO_BREAK}{unit}"


def p_value(p: float) -> str:
    """`p = 0.034`, and no false precision below a thousandth."""
    if not math.isfinite(p):
        return ""
    text = "p < 0.001" if p < 0.001 else "p > 0.999" if p > 0.999 else f"p = {p:.3f}"
    return text.replace(" ", NO_BREAK)


def verdict(word: str, p_partitions: float, p_rows: float) -> str:
    """`tied, p = 0.21`, by the test that decides: `worse, p < 0.001 by rows` where partitions are few."""
    if p := p_value(p_rows):
        return f"{word}, {p} by rows"
    return f"{word}, {p}" if (p := p_value(p_partitions)) else word


def evidence(p_partitions: float, p_rows: float) -> str:
    """The p-values there are, the one that decides first: `p < 0.001 over rows; p = 0.080 over partitions`."""
    rows, partitions = p_value(p_rows), p_value(p_partitions)
    if not rows:
        return partitions
    both = [f"{rows} over rows", *([f"{partitions} over partitions"] if partitions else [])]
    return "; ".join(text.replace(" ", NO_BREAK) for text in both)


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 cell`, `1,200 cells`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; with semicolons where a name has a comma itself: `a, b; c`."""
    names = [unbroken(name) for name in names]
    if any("," in name for name in names):
        return "; ".join(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def unbroken(name: str) -> str:
    """A name that does not break between a number and its percent sign."""
    return name.replace(" %", f"{NO_BREAK}%")


def parameters(values: dict[str, Any]) -> str:
    """`n_estimators = 100, balanced = True`."""
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "defaults"


def moment(stamp: str) -> str:
    """`2026-01-31 12:00 UTC` from the store's stamp."""
    return stamp.replace("T", " ")[:16] + " UTC" if stamp.endswith("Z") else stamp
