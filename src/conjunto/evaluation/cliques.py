"""Which neighbours in rank are too close to tell apart: the bars of a critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence


def close_runs(ranks: Sequence[float], difference: float) -> list[slice]:
    """The longest runs of ascending ranks whose ends are less than the difference apart; single ones are left out.

    Examples
    --------
    >>> close_runs([1.0, 2.0, 3.0, 3.5], 1.25)
    [slice(0, 2, None), slice(1, 3, None), slice(2, 4, None)]
    """
    runs, reached = [], 0
    for start, first in enumerate(ranks):
        end = start + sum(rank - first < difference for rank in ranks[start:])
        if end > max(reached, start + 1):
            runs.append(slice(start, end))
            reached = end
    return runs
