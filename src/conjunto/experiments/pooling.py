"""Two methods over the test rows of all partitions: a test that has power where partitions are few.

It asks whether these models differ on other rows like these; that other training rows would have given other models is
left out of account.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures import MEASURES, Losses
from conjunto.experiments.measures.resampled_ranks import RANKS, OfCounts
from conjunto.experiments.measures.scored import Scored
from conjunto.experiments.statistics import mcnemar, paired_t
from conjunto.experiments.store import Store

if TYPE_CHECKING:
    from conjunto.experiments.results import Results

RESAMPLES = 300
AT_ONCE = 4_000_000
"""Numbers held at a time: rows x resamples."""
Asked = dict[int, tuple[NDArray[np.intp], Scored]]
"""By repetition: the rows tested, and what a method said of them."""


def rows_p_value(
    results: Results, dataset: str, measure: str, methods: tuple[str, str], repetitions: Iterable[int]
) -> float:
    """The p-value of a paired test over rows; those of a row that was tested again are averaged.

    McNemar's test where rows are right or wrong, else the paired t-test of their losses; a paired bootstrap for areas
    under curves. NaN where there is no such test, or answers were not kept. A method that is none of
    the experiment is the constant.
    """
    losses = MEASURES[measure].losses
    if results.path is None or (losses is None and measure not in RANKS):
        return math.nan
    wanted = set(map(int, repetitions))
    if losses is None:
        return paired_p_value(*(_resampled(results, dataset, measure, method, wanted) for method in methods))
    asked = [_asked(results, dataset, method, wanted) for method in methods]
    if any(set(found) != wanted for found in asked):
        return math.nan
    pair = [_by_row(found, losses) for found in asked]
    if pair[0] is None or pair[1] is None:
        return math.nan
    return _test_losses(pair[0], pair[1])


def _asked(results: Results, dataset: str, method: str, wanted: set[int]) -> Asked:
    """What a method, or the constant, said about rows of the table."""
    if method in results.methods:
        return {
            repetition: (tested.rows, answers.scored(tested))
            for _, repetition, tested, answers in results.answers(dataset, [method])
            if repetition in wanted and len(tested.rows)
        }
    assert results.path is not None
    with Store(results.path) as store:
        rows = {repetition: store.tested(dataset, repetition) for repetition in wanted}
    return {
        repetition: (tested.rows, tested.constant().scored(tested))
        for repetition, tested in rows.items()
        if tested is not None and len(tested.rows)
    }


def _by_row(asked: Asked, losses: Losses) -> NDArray[np.float64] | None:
    """The mean of each row's losses, in the order of rows."""
    found = [(rows, losses(scored)) for rows, scored in asked.values()]
    values = [value for _, value in found if value is not None]
    if len(values) < len(found):
        return None
    rows = np.concatenate([rows for rows, _ in found])
    counts = np.bincount(rows)
    return np.asarray((np.bincount(rows, np.concatenate(values)) / np.maximum(counts, 1))[counts > 0])


def _test_losses(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """McNemar's test where losses are right or wrong, else the paired t-test."""
    if np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all():
        return mcnemar(a, b).p_value
    test = paired_t(a, b)
    return math.nan if test.degenerate and test.mean_difference != 0 else test.p_value


def _resampled(results: Results, dataset: str, measure: str, method: str, wanted: set[int]) -> NDArray[np.float64]:
    """(resamples,): the mean over partitions of a measure of rows drawn again, computed once for a method.

    Partitions are seeded by their number, so that two methods have the same resamples.
    """
    key = (dataset, measure, method, *sorted(wanted))
    if key not in results.resampled:
        total = np.zeros(RESAMPLES)
        asked = _asked(results, dataset, method, wanted)
        for repetition in sorted(wanted):
            of_counts = RANKS[measure](asked[repetition][1]) if repetition in asked else None
            total += math.nan if of_counts is None else _draw(of_counts, len(asked[repetition][0]), repetition)
        results.resampled[key] = total / len(wanted)
    return results.resampled[key]


def _draw(of_counts: OfCounts, n: int, seed: int) -> NDArray[np.float64]:
    """A measure of resamples, in which each row is taken as often as Poisson's distribution says."""
    random = np.random.default_rng(seed)
    step = max(1, AT_ONCE // n)
    sizes = [min(step, RESAMPLES - start) for start in range(0, RESAMPLES, step)]
    return np.concatenate([of_counts(random.poisson(1.0, (size, n)).astype(np.float64)) for size in sizes])


def paired_p_value(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Two-tailed, of a paired bootstrap: twice the smaller share of resamples on either side of no difference.

    One is added to each side, so that it is never 0; NaN where less than half of the resamples have a number.
    """
    differences = a - b
    known = differences[np.isfinite(differences)]
    if len(known) < len(differences) / 2:
        return math.nan
    below, above = (known <= 0).sum(), (known >= 0).sum()
    return float(min(1.0, 2 * (min(below, above) + 1) / (len(known) + 1)))
