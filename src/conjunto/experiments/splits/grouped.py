"""Folds and parts of whole groups: rows that belong together, such as those of one customer, are never parted.

Both deal groups out in a random order by one rule: a group goes where the class shares come nearest to those of all
rows. The unevenness of folds is sum_fk (n_fk / N_k)^2, n_fk the rows of class k in fold f and N_k those in all: for
given totals it is least where each fold has the same share of every class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def assign_group_folds(
    groups: NDArray[np.intp], strata: NDArray[np.intp], folds: int, random: np.random.Generator
) -> NDArray[np.intp]:
    """The fold of every row, the same for all rows of a group.

    `groups` and `strata` are codes from 0 on. Large groups are dealt out first, each to the fold where it adds least to
    the unevenness of the strata, at a tie to the smaller fold, then to the first. Only folds that stay within the size
    of the largest group of the smallest fold are considered, so that sizes never differ by more than that.
    """
    counts = _count_strata(groups, strata)
    sizes = counts.sum(axis=1)
    # Large is meant to within a factor of two: in the exact order of size every repetition would deal the same folds.
    order = random.permutation(len(sizes))
    magnitudes = np.frexp(sizes.astype(np.float64))[1]
    order = order[np.lexsort((counts[order].argmax(axis=1), -magnitudes[order]))]
    weights = counts / counts.sum(axis=0, dtype=np.float64) ** 2
    fold_of_group = np.empty(len(sizes), dtype=np.intp)
    held = np.zeros((counts.shape[1], folds))
    held_rows = np.zeros(folds, dtype=np.int64)
    largest = sizes.max()
    for group in order:
        size = sizes[group]
        inside = np.flatnonzero(counts[group])
        # Added up row by row, not by a product of matrices: equal folds must give equal sums for ties to be ties.
        added = (held[inside] * weights[group, inside, None]).sum(axis=0)
        added[held_rows + size > held_rows.min() + largest] = np.inf
        tied = np.flatnonzero(added == added.min())
        fold = tied[held_rows[tied].argmin()]
        held[inside, fold] += counts[group, inside]
        held_rows[fold] += size
        fold_of_group[group] = fold
    return fold_of_group[groups]


def draw_groups(
    groups: NDArray[np.intp], strata: NDArray[np.intp], sizes: tuple[int, int], random: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test rows of about the given sizes that have no group in common.

    The test groups are drawn first; where both sizes make up all rows, what is left is for training.
    """
    n_train, n_test = sizes
    counts = _count_strata(groups, strata)
    every = np.arange(len(counts))
    tested = _draw_about(every, counts, n_test, random)
    trained = np.setdiff1d(every, tested)
    if n_train + n_test < len(groups):
        # There is nobody to leave a group for.
        trained = _draw_about(trained, counts, n_train, random, most=len(trained))
    return np.flatnonzero(np.isin(groups, trained)), np.flatnonzero(np.isin(groups, tested))


def _count_strata(groups: NDArray[np.intp], strata: NDArray[np.intp]) -> NDArray[np.int64]:
    """(groups, strata): rows of each stratum in each group."""
    shape = int(groups.max()) + 1, int(strata.max()) + 1
    flat = np.bincount(groups * shape[1] + strata, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.int64)


def _draw_about(
    among: NDArray[np.intp],
    counts: NDArray[np.int64],
    size: int,
    random: np.random.Generator,
    most: int | None = None,
) -> NDArray[np.intp]:
    """Groups, drawn at random, whose rows come as near as possible to `size` with the strata in proportion.

    A group that is drawn is kept if the rows come nearer by it. There is at least one, and there are at most `most`;
    None leaves one over.
    """
    most = len(among) - 1 if most is None else most
    # The rows in all count more than all strata together: the size is what was asked for.
    counts = np.column_stack([counts, counts.sum(axis=1)])
    totals = np.maximum(counts[among].sum(axis=0, dtype=np.float64), 1)
    importance: NDArray[Any] = np.append(np.ones(len(totals) - 1), 10.0 * len(totals))
    parts = counts / totals * importance
    lacking = size / totals[-1] * importance
    drawn: list[int] = []
    order = random.permutation(among)
    # A group of share p comes nearer to a lack l where |l - p|^2 < |l|^2, that is where p . (2 l - p) > 0.
    for group in order.tolist():
        if len(drawn) < most and parts[group] @ (2 * lacking - parts[group]) > 0:
            drawn.append(group)
            lacking = lacking - parts[group]
    if not drawn:
        drawn = [int(order[((lacking - parts[order]) ** 2).sum(axis=1).argmin()])]
    return np.sort(np.array(drawn, dtype=np.intp))
