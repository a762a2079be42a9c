"""`Scoring`: a fitted ensemble of binary trees as data.

A row falls into one leaf of every tree; each leaf adds something to the scores of the row; the sum, from a base, is
finished by name (`combination.FINISHES`, or "mean" and "sum" for values). Whoever predicts, exports or explains trees
reads this one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conjunto import _core

Array = NDArray[Any]
# Leaves of so many trees and rows are held at a time.
LEAF_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Scoring:
    """Trees, what each of their leaves adds, and how the sum becomes an answer."""

    forest: _core.Forest
    width: int
    """Scores of a row: one per class (or one in all, for the second of two), per committee and class, or one value."""
    adds: Literal["votes", "shares", "values"] | None = None
    """What leaves add where they add what the trees themselves say: one vote, their class shares, their value."""
    amounts: Array | None = None
    """(leaves,) or (leaves, width): what each leaf adds, numbered over the forest, where the ensemble decides that."""
    places: NDArray[np.int32] | None = None
    """(leaves,): the score that each of (leaves,) amounts is added to."""
    base: Array | None = None
    """(width,): what the sum starts from; None is zeros."""
    finish: str = "share"

    def sums(self, X: NDArray[np.float64], threads: int = 1) -> NDArray[np.float64]:
        """(n, width): the summed scores of encoded rows."""
        if self.adds == "votes":
            sums = self.forest.vote_counts(X, threads)
        elif self.adds == "shares":
            sums = self.forest.share_sums(X, threads)
        elif self.adds == "values":
            sums = self.forest.value_sums(X, threads).reshape(-1, self.width)
        elif self.places is not None:
            assert self.amounts is not None
            sums = self.forest.leaf_sums(X, self.amounts, self.places, self.width, threads)
        else:
            assert self.amounts is not None
            sums = self.forest.leaf_row_sums(X, self.amounts, threads)
        return sums if self.base is None else sums + self.base

    def table(self) -> NDArray[np.float64]:
        """(leaves, width): what each leaf adds, in full; for exports and explanations."""
        forest = self.forest
        if self.adds == "shares":
            return forest.leaf_shares()
        if self.adds == "values":
            return forest.leaf_values().reshape(-1, self.width)
        if self.amounts is not None and self.places is None:
            return self.amounts.reshape(-1, self.width)
        if self.adds == "votes" and forest.outputs:
            parts = [forest.of_output(o) for o in range(len(forest.outputs))]
            return np.hstack([replace(self, forest=part, width=part.classes).table() for part in parts])
        places = forest.leaf_labels() if self.places is None else self.places
        table = np.zeros((len(places), self.width))
        table[np.arange(len(places)), places] = 1.0 if self.amounts is None else self.amounts
        return table


def leaf_rows(
    forest: _core.Forest,
    table: Array | None,
    of_leaves: Callable[[Array], Array],
    X: NDArray[np.float64],
    trees: Array,
    threads: int,
) -> Iterator[Array]:
    """What the leaf of every row says in each of some trees, (n, …): a function of the leaves' rows in a table.

    Without a table, of their class shares. Walking many trees at once is several times faster than one by one; their
    leaves are held a part at a time.
    """
    counts = forest.leaf_counts()
    starts = counts.cumsum() - counts
    if table is None and X.shape[0] < counts.mean():
        # Few rows: what they fall into is less than all leaves.
        for t in np.asarray(trees, dtype=np.int64):
            yield of_leaves(forest.take(np.array([t])).share_sums(X))
        return
    step = max(1, LEAF_CELLS // max(X.shape[0], int(counts.mean()) * max(1, forest.classes)))
    whole = None if table is None else of_leaves(table)
    for first in range(0, len(trees), step):
        numbers = np.asarray(trees[first : first + step], dtype=np.int64)
        part = forest.take(numbers)
        leaves = part.leaves(X, threads)
        if whole is None:
            says, begin = of_leaves(part.leaf_shares()), part.leaf_counts().cumsum() - part.leaf_counts()
        else:
            says, begin = whole, starts[numbers]
        for t, start in enumerate(begin):
            yield says[start + leaves[:, t]]
