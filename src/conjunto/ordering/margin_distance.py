"""Margin distance minimisation: keep the mean correctness near a point with small, equal margins (eq. 5.7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto import _core
from conjunto.checks import check_number
from conjunto.ordering._reading import ValueBallot, read, threads_of
from conjunto.ordering.reduce_error import reduce_error
from conjunto.votes import Votes


def margin_distance(
    votes: Votes | ArrayLike,
    y: ArrayLike,
    *,
    p: float = 0.075,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.intp]:
    """Order members so that the mean correctness of each prefix comes nearest to (p, …, p).

    Correctness is +1 where a member is right, -1 where it is wrong. Each step takes the member k that makes
    `|| o - (c_k + sum of the chosen c) / T ||` least, `o = (p, …, p)`. Because p is small, examples that most members
    get right soon have no more pull, and the hard ones decide.

    A vote counts by its member's weight. Where members abstain, T is for each example the weight of those that vote on
    it. In regression the margin is the residual of the mean and the point is 0, which makes this `reduce_error`.

    Parameters
    ----------
    votes, y, sample_weight, n_jobs
        As in `reduce_error`.
    p : float in (0, 1), default=0.075
        The margin to aim at; from 0.05 to 0.25 results are alike, with larger p more members are needed.

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
    >>> from conjunto.ordering import margin_distance
    >>> margin_distance([[0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0]], [0, 1, 1, 0])
    array([0, 1, 2])
    """
    p = check_number("p", p, 0, 1, open_low=True, open_high=True)
    ballot = read(votes, y, sample_weight)
    if isinstance(ballot, ValueBallot):
        return reduce_error(votes, y, sample_weight=sample_weight, n_jobs=n_jobs)
    order = _core.order_margin_distance(
        ballot.labels, ballot.truth, ballot.n_classes, ballot.weights, ballot.sample_weight, p, threads_of(n_jobs)
    )
    return ballot.permutation(order)
