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
    """(resamples,): the mean over partitions of a measure of rows drawn again, computed once for a method."""
    key = (dataset, measure, method, *sorted(wanted))
    if key not in results.resampled:
        asked = _asked(results, dataset, method, wanted)
        parts = [(RANKS[measure](scored), rows) for rows, scored in asked.values()]
        known = [(of_counts, rows) for of_counts, rows in parts if of_counts is not None]
        results.resampled[key] = _draw(known) if len(known) == len(wanted) else np.full(RESAMPLES, math.nan)
    return results.resampled[key]


def _draw(parts: list[tuple[OfCounts, NDArray[np.intp]]]) -> NDArray[np.float64]:
    """The mean over partitions of a measure of resamples, in which rows are taken as often as Poisson's law says.

    A row of the table is taken as often in every partition that tests it: it is one row, however often it was tested.
    """
    n = int(max(rows.max() for _, rows in parts)) + 1
    random = np.random.default_rng(0)
    step = max(1, AT_ONCE // n)
    found = []
    for start in range(0, RESAMPLES, step):
        counts = random.poisson(1.0, (min(step, RESAMPLES - start), n)).astype(np.float64)
        found.append(np.mean([of_counts(counts[:, rows]) for of_counts, rows in parts], axis=0))
    return np.concatenate(found)


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
