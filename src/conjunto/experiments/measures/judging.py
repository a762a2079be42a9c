"""`judge`: measures of one model on rows that it was not trained on, each with an interval.

Shares of rows, such as the error, have Wilson's interval (1927), which holds for few rows and for shares near 0 too.
Everything else has the percentile interval of the bootstrap over rows (Efron 1979): rows are drawn with replacement,
all classes together, because how many of each class come is part of what is uncertain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from conjunto.checks import suggest
from conjunto.experiments.answers import Answers
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.measures.resampled_ranks import RANKS, OfCounts
from conjunto.experiments.measures.resampled_tables import OF_TABLES, rate_counts, tables
from conjunto.experiments.measures.scored import Scored

MOST_DRAWN = 15_000_000
"""Rows times classes (but one) times resamples: larger tables have fewer resamples."""
FEWEST = 100
"""Of resamples, however large the table is: beyond it the interval is so narrow that its ends need no digits."""
ENOUGH = 0.9
"""The share of resamples in which a measure must exist."""

# Rows of so many resamples are drawn at once, to bound the memory.
_AT_ONCE = 500_000
# Means of a loss of every row: what a resample adds up to is one product of matrices.
_MEANS = ("log-loss", "brier", "mse", "mae")
# A resample has no larger error than the rows that it is drawn of: the bootstrap says nothing about a maximum.
_NO_INTERVAL = ("max-error",)


def judge(
    scored: Scored, measures: Sequence[str], *, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, tuple[float, float, float]]:
    """Each measure with the ends of its interval.

    Parameters
    ----------
    scored : Scored
        What a model says about rows with known answers.
    measures : sequence of str
        Names of `MEASURES` that answers are enough for.
    resamples : int, default=1000
        How often rows are drawn, the same for all measures. Of tables with more than 15,000 rows fewer: rows times
        resamples (times the number of classes less one) is at most `MOST_DRAWN`, and resamples at least `FEWEST`.
    seed : int, default=0
        Of the resamples: the same rows and seed give the same intervals.
    level : float, default=0.95
        How often such intervals hold the truth.

    Returns
    -------
    dict of name to (value, low, high)
        Where a measure cannot be taken, the value is NaN. Resamples in which it cannot be taken are left out; with
        less than `ENOUGH` of them there is no interval, and its ends are NaN. An interval always holds its value: of a
        measure that noise can only increase, such as the calibration error, resamples alone may not.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto.experiments.measures.judging import judge
    >>> from conjunto.experiments.measures.scored import Scored
    >>> y = np.repeat([0, 1], 50)
    >>> scored = Scored(None, None, y, np.where(np.arange(100) % 10 == 0, 1 - y, y), np.array([0, 1]))
    >>> [round(number, 3) for number in judge(scored, ["error"])["error"]]
    [0.1, 0.055, 0.174]
    """
    _check(scored, measures, level, resamples)
    scored = _coded(scored)
    values = {name: MEASURES[name].of(scored) for name in measures}
    ends = dict.fromkeys(measures, (math.nan, math.nan))
    rates = _rates(scored, values)
    drawn = []
    for name, value in values.items():
        if name in rates:
            ends[name] = wilson(*rates[name], level)
        elif math.isfinite(value) and name not in _NO_INTERVAL:
            drawn.append(name)
    for name, found in _resampled(scored, drawn, resamples, seed).items():
        there = found[np.isfinite(found)]
        if len(there) >= ENOUGH * len(found):
            low, high = np.quantile(there, [(1 - level) / 2, (1 + level) / 2])
            ends[name] = min(float(low), values[name]), max(float(high), values[name])
    return {name: (value, *ends[name]) for name, value in values.items()}


def wilson(meant: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share, `meant` of `n`; NaN where there are no rows."""
    if n == 0:
        return math.nan, math.nan
    z = float(ndtri((1 + level) / 2))
    share = meant / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # What rounding leaves beyond 0 and 1, or of an end that is one of them, is not shown.
    low = 0.0 if meant == 0 else (middle - reach) / (1 + z * z / n)
    high = 1.0 if meant == n else (middle + reach) / (1 + z * z / n)
    return max(0.0, low), min(1.0, high)


def best_constant(scored: Scored) -> Scored:
    """What a model would score that knows how the answers of these very rows are distributed and no attribute.

    The most frequent class with the shares of the classes as probabilities, or the mean of the values. Nothing is known
    of the rows that a saved model was trained on; this constant is at least as good as theirs, up to chance.
    """
    n = len(scored.y)
    if scored.classes is None:
        return Scored(None, None, scored.y, np.full(n, scored.y.mean()))
    shares = np.bincount(scored.codes, minlength=len(scored.classes)) / n
    said = np.tile(shares, (n, 1))
    predicted = np.full(n, scored.classes[shares.argmax()])
    return Scored(None, None, scored.y, predicted, scored.classes, said, scored.positive)


def check_measures(measures: Sequence[str], task: str) -> None:
    """Refuse names of measures that cannot be taken of what a model says about new rows."""
    possible = [name for name, measure in MEASURES.items() if measure.of_answers and measure.task in (task, "any")]
    for name in measures:
        if name not in MEASURES:
            raise ValueError(f"measures: there is none named {name!r}; {suggest(name, possible)}")
        if name not in possible:
            why = f"is not for {task}" if MEASURES[name].task not in (task, "any") else "is not one of new rows"
            raise ValueError(f"measures: {name!r} {why}; {suggest(name, possible)}")


def _check(scored: Scored, measures: Sequence[str], level: float, resamples: int) -> None:
    check_measures(measures, "regression" if scored.classes is None else "classification")
    if not len(scored.y):
        raise ValueError("scored: there are no rows to judge a model by")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples!r}")


def _coded(scored: Scored) -> Scored:
    """The same with codes for classes: labels may be texts, which are slow to compare."""
    if scored.classes is None:
        y, predicted = (np.asarray(values, dtype=np.float64) for values in (scored.y, scored.predicted))
        return Scored(None, None, y, predicted)
    codes = Answers.of(Scored(None, None, scored.y, scored.predicted, scored.classes)).predicted.astype(np.intp)
    return Scored(None, None, scored.codes, codes, np.arange(len(scored.classes)), scored.proba, scored.positive)


def _rates(scored: Scored, values: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Measures that are shares of rows: of how many, and how many of them."""
    if scored.classes is None:
        return {}
    n = len(scored.y)
    found = rate_counts(tables(scored)(np.ones((1, n)))[0], scored.positive)
    if math.isfinite(values.get("top-2-accuracy", math.nan)):
        found["top-2-accuracy"] = float(round(values["top-2-accuracy"] * n)), float(n)
    return found


def _resampled(scored: Scored, names: list[str], resamples: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Each measure in every resample; those that have a quick way take it, others are called with the rows."""
    if not names:
        return {}
    n = len(scored.y)
    work = n * (1 if scored.classes is None else max(1, len(scored.classes) - 1))
    resamples = min(resamples, max(FEWEST, MOST_DRAWN // work))
    table = tables(scored) if any(name in OF_TABLES for name in names) else None
    quick = {name: of for name in names if (of := _quick(scored, name)) is not None}
    random = np.random.default_rng(seed)
    found: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    step = max(1, _AT_ONCE // n)
    for start in range(0, resamples, step):
        rows = random.integers(n, size=(min(step, resamples - start), n))
        places = rows + n * np.arange(len(rows))[:, None]
        counts = np.bincount(places.ravel(), minlength=rows.size).reshape(rows.shape).astype(np.float64)
        taken = None if table is None else table(counts)
        for name in names:
            if name in OF_TABLES:
                assert taken is not None
                found[name].append(OF_TABLES[name](taken, scored.positive))
            elif name in quick:
                found[name].append(quick[name](counts))
            else:
                found[name].append(np.array([MEASURES[name].of(_take(scored, chosen)) for chosen in rows]))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _quick(scored: Scored, name: str) -> OfCounts | None:
    """The measure as a function of how often rows are taken; None where there is no such way."""
    if name in RANKS:
        return RANKS[name](scored)
    losses = MEASURES[name].losses
    of_rows = losses(scored) if losses is not None and name in _MEANS else None
    return None if of_rows is None else lambda counts: np.asarray(counts @ of_rows / len(of_rows))


def _take(scored: Scored, rows: NDArray[np.intp]) -> Scored:
    """A model on some of the rows; the positive class stays the one of all."""
    proba = None if scored.proba is None else scored.proba[rows]
    rarer = None if scored.classes is None else scored.positive
    return Scored(None, None, scored.y[rows], scored.predicted[rows], scored.classes, proba, rarer)
