"""`View`: what one member of an ensemble sees of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

OWN_TABLE = ("X", "further", "features", "features_only")
"""The parts of a view for which the member is fitted on a table of its own."""


class ColumnMap:
    """A fitted map of (n, m) encoded rows to (n, k) columns of numbers; a frozen dataclass derives from it.

    Rows hold category codes, and NaN where a value is missing. The map must give equal rows equal columns to the last
    bit, wherever they stand, or trees would part them: a product of matrices does not.
    """

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns of rows."""
        raise NotImplementedError("a map of columns says what they are")


@dataclass(frozen=True, slots=True)
class FurtherRows:
    """Rows that a member learns from beside those of the problem, such as synthetic ones."""

    X: NDArray[np.float64]
    """(k, m) encoded rows."""
    labels: NDArray[Any]
    """(k,) class codes or targets."""
    weights: NDArray[Any] | None = None
    """(k,) weights; None is ones."""


@dataclass(frozen=True, slots=True)
class View:
    """What one member sees. None means: as in the problem."""

    weights: NDArray[Any] | None = None
    """(n,) row weights; integers are multiplicities, 0 is out of bag."""
    labels: NDArray[Any] | None = None
    """(n,) class codes or targets, possibly altered."""
    columns: NDArray[Any] | None = None
    """Numbers of the columns that the member may use."""
    halves: NDArray[Any] | None = None
    """(n,) 1 for rows of the half that grows the tree first (IGP); None: the learner draws two halves."""
    X: NDArray[Any] | None = None
    """(n, m) encoded rows that it learns from, altered; it is asked about rows as they are."""
    further: FurtherRows | None = None
    """Rows that it learns from beside those of the problem."""
    features: ColumnMap | None = None
    """Columns that are computed from the rows, which the member sees beside those of X."""
    features_only: bool = False
    """Whether it sees these columns in place of those of X (rotations); it may use all of them."""

    @property
    def needs_own_table(self) -> bool:
        """Whether the member is fitted on other rows or columns than those of the problem."""
        return self.X is not None or self.further is not None or self.features is not None
