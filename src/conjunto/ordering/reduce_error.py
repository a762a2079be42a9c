"""Reduce-error: add the member with which the sub-ensemble errs least (Margineantu and Dietterich 1997)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto import _core
from conjunto.checks import check_optional_count
from conjunto.ordering._reading import ValueBallot, read, threads_of
from conjunto.votes import Votes


def reduce_error(
    votes: Votes | ArrayLike,
    y: ArrayLike,
    *,
    backfit: int | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.intp]:
    """Order members so that each prefix errs as little as one more member allows.

    The first is the member of least error. Errors are those of the answer that the sub-ensemble would give: plurality
    with weighted votes, ties to the lowest class; in regression the squared error of the mean (or weighted median).
    Only examples on which somebody in the sub-ensemble votes count; in regression the others have the error of the
    whole ensemble. It follows the selection data closely, so it overfits them more than orders that aim at margins.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say: class codes (-1 abstains) or, as floats, values (NaN abstains).
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, codes, or values.
    backfit : int, default=None
        Go back to earlier choices while the sub-ensemble grows to this size: each member in turn is replaced by the one
        that makes the error least, until nothing changes. The first `backfit` members are then that sub-ensemble;
        smaller prefixes are not. Classification only.
    sample_weight : array-like of shape (n,), default=None
        Weights of the examples.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (T,)
        All members; of equally good ones the lowest index comes first.

    References
    ----------
    Margineantu, Dietterich (1997). Pruning adaptive boosting. ICML, 211-218.
    Martínez-Muñoz (2006). Clasificación mediante conjuntos. Thesis, Universidad Autónoma de Madrid, eq. 5.2.

    Examples
    --------
    >>> from conjunto.ordering import reduce_error
    >>> reduce_error([[0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0]], [0, 1, 1, 0])
    array([0, 2, 1])
    """
    ballot = read(votes, y, sample_weight)
    size = check_optional_count("backfit", backfit)
    if size is not None and size > len(ballot):
        raise ValueError(f"backfit must be at most the number of members, {len(ballot)}, got {size}")
    shared = (ballot.weights, ballot.sample_weight)
    if isinstance(ballot, ValueBallot):
        if size is not None:
            raise ValueError("backfit is for votes on classes; leave it out for values of a regression")
        order = _core.order_reduce_squared_error(
            ballot.values, ballot.truth, ballot.median, *shared, threads_of(n_jobs)
        )
    else:
        order = _core.order_reduce_error(
            ballot.labels, ballot.truth, ballot.n_classes, *shared, ballot.scores, size or 0, threads_of(n_jobs)
        )
    return ballot.permutation(order)
