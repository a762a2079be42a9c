"""`View`: what one member of an ensemble sees of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


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
    features: Any = None
    """A fitted map of (n, m) encoded rows to (n, k) further columns, which the member sees beside its own."""
