"""Individual error: the best members first, whatever the others do. A baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.ordering._errors import member_errors
from conjunto.ordering._reading import ValueBallot, read
from conjunto.votes import Votes


def individual_error(
    votes: Votes | ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None, n_jobs: int | None = None
) -> NDArray[np.intp]:
    """Order members by their own error on the examples that they vote on.

    A baseline: good members that are alike mend nothing for each other; prefixes are hardly better than random ones.

    Parameters
    ----------
    votes, y, sample_weight
        As in `reduce_error`.
    n_jobs : ignored

    Returns
    -------
    ndarray of shape (T,)
        All members; equal ones as they stand.

    Examples
    --------
    >>> from conjunto.ordering import individual_error
    >>> individual_error([[0, 0, 0], [0, 1, 1], [0, 1, 0]], [0, 1, 1])
    array([1, 2, 0])
    """
    ballot = read(votes, y, sample_weight)
    errors = member_errors(ballot, np.inf if isinstance(ballot, ValueBallot) else 1.0)
    # What rounding leaves of a squared difference depends on the unit of the values; shares of wrong answers have none.
    scale = errors[np.isfinite(errors)].max(initial=0.0) if isinstance(ballot, ValueBallot) else 1.0
    return ballot.permutation(np.argsort((errors / (scale or 1.0)).round(12), kind="stable"))
