"""`Count`: what voters have said together, before it is turned into an answer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunto.ties import leaders


class Count(NamedTuple):
    """What some voters have said together; while votes are added its arrays are updated in place."""

    counts: NDArray[np.float64]
    """(n, K): what each class has; in regression (n,): the combined values."""
    voted: NDArray[np.bool_]
    """(n,): whether anybody has voted on the row."""

    def winners(self) -> NDArray[np.intp]:
        """(n,): the class that has most, ties to the lowest code; -1 where nobody voted."""
        winners = leaders(self.counts)
        winners[~self.voted] = -1
        return winners

    def answers(self) -> NDArray[Any]:
        """(n,): class codes, -1 where nobody voted, or values, NaN there."""
        return self.winners() if self.counts.ndim == 2 else np.where(self.voted, self.counts, np.nan)
