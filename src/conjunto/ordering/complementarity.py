"""Complementarity: add the member that is right where the sub-ensemble is not (eq. 5.3 of the thesis)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto import _core
from conjunto.ordering._reading import ValueBallot, read, threads_of
from conjunto.votes import Votes


def complementarity(
    votes: Votes | ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None, n_jobs: int | None = None
) -> NDArray[np.intp]:
    """Order members by how many of the sub-ensemble's errors each would get right.

    The first is the member of least error. An example on which nobody in the sub-ensemble votes counts as one of its
    errors. In regression a member counts the examples on which it would bring the mean (or weighted median) nearer.

    Parameters
    ----------
    votes, y, sample_weight, n_jobs
        As in `reduce_error`.

    Returns
    -------
    ndarray of shape (T,)
        All members; of equally good ones the lowest index comes first.

    References
    ----------
    Martínez-Muñoz, Suárez (2004). Aggregation ordering in bagging. IASTED International Conference on Artificial
    Intelligence and Applications, 258-263.

    Examples
    --------
    >>> from conjunto.ordering import complementarity
    >>> complementarity([[0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0]], [0, 1, 1, 0])
    array([0, 1, 2])
    """
    ballot = read(votes, y, sample_weight)
    shared = (ballot.weights, ballot.sample_weight)
    if isinstance(ballot, ValueBallot):
        order = _core.order_complementarity_of_values(
            ballot.values, ballot.truth, ballot.median, *shared, threads_of(n_jobs)
        )
    else:
        order = _core.order_complementarity(
            ballot.labels, ballot.truth, ballot.n_classes, *shared, ballot.scores, threads_of(n_jobs)
        )
    return ballot.permutation(order)
