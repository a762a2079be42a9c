"""Ours beside the published value: does it agree?

*agrees*: |ours - published| <= 2 x combined standard error + rounding; otherwise *better* or *worse*. Where a
document prints no standard deviation, ours stands for both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

VERDICTS = ("agrees", "better", "worse", "not run")


@dataclass(frozen=True)
class Line:
    """One cell of a published table beside ours."""

    dataset: str
    column: str
    published: float
    ours: float = math.nan
    standard_error: float = math.nan
    """Of the difference."""
    runs: int = 0
    verdict: str = "not run"
    reason: str = ""
    published_text: str = ""
    ours_text: str = ""


@dataclass(frozen=True)
class Conclusion:
    """A statement of the text, and whether our numbers bear it out; None where they cannot tell."""

    statement: str
    holds: bool | None
    found: str


def judge(
    dataset: str,
    column: str,
    published: float,
    values: ArrayLike,
    *,
    published_runs: int,
    rounding: float,
    published_sd: float | None = None,
) -> Line:
    """Compare the mean of our values with a published mean of an error: smaller is better.

    Examples
    --------
    >>> judge("waveform", "bagging", 19.4, [19.0, 20.1, 19.6], published_runs=100, rounding=0.05).verdict
    'agrees'
    """
    ours = np.asarray(values, dtype=float)
    if len(ours) < 2:
        reason = "two runs at least are needed for a standard error" if len(ours) else ""
        return Line(dataset, column, published, reason=reason)
    sd = float(ours.std(ddof=1))
    theirs = sd if published_sd is None else published_sd
    error = math.sqrt(sd**2 / len(ours) + theirs**2 / published_runs)
    return decide(Line(dataset, column, published, float(ours.mean()), error, len(ours)), rounding)


def decide(line: Line, rounding: float) -> Line:
    """Fill in the verdict."""
    from dataclasses import replace

    difference = line.ours - line.published
    if abs(difference) <= 2 * line.standard_error + rounding:
        return replace(line, verdict="agrees")
    return replace(line, verdict="better" if difference < 0 else "worse")
