"""Ours beside the published value: does it agree?

A number *agrees* when |ours - published| <= 2 x combined standard error + rounding; otherwise it is *better* or
*worse*, or it *differs* where neither more nor less is better. Where a document prints no standard deviation, ours
stands for both sides. A statement of the text holds or does not when that would hardly change with other runs;
otherwise it is undecided. What the document itself leaves in doubt is shown beside ours and *not judged*, with the
reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from conjunto.experiments.reproduce.published import rounding
from conjunto.experiments.statistics import paired_t

if TYPE_CHECKING:
    import pandas as pd

    from conjunto.experiments.results import Results

VERDICTS = ("agrees", "better", "worse", "differs", "not judged", "not run")
# A statement holds when it does so in this share of the tables that other runs might have given.
SURE = 0.9
_RESAMPLED = 200


@dataclass(frozen=True)
class Target:
    """A published number, and where ours is found."""

    dataset: str
    column: str
    printed: str
    runs: int
    """How many runs the published mean is over."""
    measure: str = "error"
    method: str = ""
    sd: float | None = None
    reason: str = ""
    """Why it cannot be run, where it cannot."""


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
    """A statement of the text, and whether our numbers bear it out; None where they do not decide it."""

    statement: str
    holds: bool | None
    found: str


def judge_targets(
    targets: Sequence[Target], results: Results, datasets: Sequence[str], skipped: Mapping[str, str]
) -> list[Line]:
    """A line for every published percentage of the data sets that were run or had to be skipped."""
    lines = []
    for target in targets:
        reason = target.reason or skipped.get(target.dataset, "")
        if reason:
            lines.append(Line(target.dataset, target.column, float(target.printed), reason=reason))
        elif target.dataset in datasets:
            lines.append(_judge_target(target, results))
    return lines


def _judge_target(target: Target, results: Results) -> Line:
    scores = results.scores(target.dataset, target.measure)[target.method or target.column]
    line = judge(
        target.dataset,
        target.column,
        float(target.printed),
        100 * scores.dropna(),
        published_runs=target.runs,
        rounding=rounding(target.printed),
        published_sd=target.sd,
    )
    return replace(line, reason="its runs failed") if len(scores) and scores.isna().all() else line


def judge(
    dataset: str,
    column: str,
    published: float,
    values: ArrayLike,
    *,
    published_runs: int,
    rounding: float,
    published_sd: float | None = None,
    greater_is_better: bool = False,
) -> Line:
    """Compare the mean of our values with a published mean, such as that of an error: smaller is better.

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
    # The standard deviation of a few runs may be far too small: Student's quantile in place of 2.
    few = max(1.0, float(stats.t.isf(0.025, len(ours) - 1)) / 2)
    error = math.sqrt((few * sd) ** 2 / len(ours) + theirs**2 / published_runs)
    line = Line(dataset, column, published, float(ours.mean()), error, len(ours))
    return decide(line, rounding, greater_is_better=greater_is_better)


def judge_printed(
    dataset: str,
    column: str,
    printed: str,
    values: pd.Series,
    *,
    published_runs: int = 1,
    reason: str = "",
    digits: int = 2,
    greater_is_better: bool = False,
) -> Line:
    """Compare the mean of our values, NaN where a run failed, with a number as printed.

    With a `reason` both are shown and not judged; ours with `digits` decimals.
    """
    line = judge(
        dataset,
        column,
        float(printed),
        values.dropna(),
        published_runs=published_runs,
        rounding=rounding(printed),
        greater_is_better=greater_is_better,
    )
    line = replace(line, published_text=printed)
    if not line.runs:
        return replace(line, reason="its runs failed") if len(values) and values.isna().all() else line
    ours = f"{line.ours:.{digits}f} ± {2 * line.standard_error:.{digits}f}"
    return replace(line, ours_text=ours, verdict="not judged" if reason else line.verdict, reason=reason)


def judge_p_value(
    dataset: str,
    column: str,
    printed: str,
    errors: pd.DataFrame,
    *,
    ahead: bool,
    published_runs: int,
) -> Line:
    """Compare a published p-value of a paired t-test with ours.

    Both are turned into the mean difference in units of its standard deviation over runs, t / sqrt(runs), which does
    not depend on how many runs there are; it is positive where the first column of `errors` is better than the second,
    as it is in the document where `ahead` is True.
    """
    pair = errors.dropna()
    if len(pair) < 2:
        return Line(dataset, column, float(printed), reason="two runs of both methods at least are needed")
    test = paired_t(pair.iloc[:, 1], pair.iloc[:, 0])
    effect = float(stats.t.isf(float(printed) / 2, published_runs - 1)) / math.sqrt(published_runs)
    published = effect if ahead else -effect
    found = test.statistic / math.sqrt(len(pair))
    variance = (1 + published**2 / 2) / published_runs + (1 + found**2 / 2) / len(pair)
    line = Line(
        dataset,
        column,
        published,
        found,
        math.sqrt(variance),
        len(pair),
        published_text=f"{printed}{'' if ahead else ' (worse)'}",
        ours_text=f"{test.p_value:.2g}{'' if found >= 0 else ' (worse)'}",
    )
    return decide(line, 0.0, greater_is_better=True)


def decide(line: Line, rounding: float, *, greater_is_better: bool = False) -> Line:
    """Fill in the verdict."""
    difference = line.ours - line.published
    if abs(difference) <= 2 * line.standard_error + rounding:
        return replace(line, verdict="agrees")
    return replace(line, verdict="better" if (difference > 0) == greater_is_better else "worse")


def neutral(line: Line) -> Line:
    """The line of a number of which neither more nor less is better."""
    return replace(line, verdict="differs") if line.verdict in ("better", "worse") else line


def resampled_means(samples: Sequence[NDArray[np.float64]]) -> Iterator[list[NDArray[np.float64]]]:
    """The means that other runs might have given: for every data set the runs are drawn again with replacement."""
    random = np.random.default_rng(0)
    for _ in range(_RESAMPLED):
        yield [sample[random.integers(0, len(sample), len(sample))].mean(axis=0) for sample in samples]


def conclude(
    statement: str, holds: Callable[[list[NDArray[np.float64]]], bool], samples: Sequence[ArrayLike], found: str
) -> Conclusion:
    """Whether a statement about means holds, and would hold with other runs.

    `samples` has runs x columns for every data set; `holds` gets the means of the columns. A statement
    is decided where nearly all of the resampled tables agree on it.
    """
    runs = [np.asarray(sample, dtype=float) for sample in samples]
    if any(len(sample) < 2 or np.isnan(sample).any() for sample in runs):
        return Conclusion(statement, None, "not all of it was run")
    share = np.mean([holds(means) for means in resampled_means(runs)])
    true = holds([sample.mean(axis=0) for sample in runs])
    sure = share >= SURE if true else share <= 1 - SURE
    return Conclusion(statement, true if sure else None, found)
