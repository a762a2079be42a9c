"""Orientation ordering: by the angle between a member's correctness and what the ensemble lacks (Martínez-Muñoz 2006).

`c_ref = o + lambda c_ens`, `o = (1, …, 1)`, `lambda = -o . c_ens / |c_ens|^2`: the diagonal, projected on what is
perpendicular to the ensemble's mean correctness.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.ordering._reading import ClassBallot, read_classes
from conjunto.ordering.individual_error import individual_error
from conjunto.votes import Votes

# |c_ref| / |o|, the sine of the angle between c_ens and the diagonal: below the first, c_ref points anywhere; below the
# second a few members more or less can turn it round.
NO_DIRECTION = 1e-6
UNSTABLE = 0.05
# Correctness of so many votes is held as numbers at a time: as many as stay in a cache.
BLOCK_CELLS = 1 << 17


def orientation(
    votes: Votes | ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None, n_jobs: int | None = None
) -> NDArray[np.intp]:
    """Order members by the angle between their correctness and the reference vector; linear in the number of members.

    The reference vector is the diagonal less its part along the ensemble's mean correctness: it points to the examples
    that the ensemble finds hard. Where members abstain, the mean is over those that vote, and a member's angle is taken
    among the examples that it votes on. Not for boosting, where such members are right on hard examples alone: cut to a
    fifth by this order, AdaBoost's error rose by 21 points on average (docs/pruning.md).

    Parameters
    ----------
    votes, y, sample_weight
        As in `reduce_error`; votes on classes only.
    n_jobs : ignored

    Returns
    -------
    ndarray of shape (T,)
        All members; equal ones as they stand.

    Warns
    -----
    UserWarning
        If the ensemble is right on nearly everything: the reference vector is then unstable.

    References
    ----------
    Martínez-Muñoz, Suárez (2006). Pruning in ordered bagging ensembles. ICML, 609-616.

    Examples
    --------
    >>> from conjunto.ordering import orientation
    >>> orientation([[0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0], [0, 1, 1, 1]], [0, 1, 1, 0])
    array([0, 2, 1, 3])
    """
    ballot = read_classes(votes, y, sample_weight, "orientation")
    cosines = _cosines(ballot)
    if cosines is None:
        return individual_error(votes, y, sample_weight=sample_weight)
    return ballot.permutation(np.argsort(-cosines.round(12), kind="stable"))


def orientation_size(votes: Votes | ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> int:
    """Return how many members have an angle below the mean of the angles that are less than a right one.

    The order's own rule for where to cut: 15 to 30 % of the members on the thesis' data sets, with the error of a fixed
    fifth. At least 1; a fifth where there are no angles, because every member is right on the same examples.

    Examples
    --------
    >>> from conjunto.ordering import orientation_size
    >>> orientation_size([[0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0], [0, 1, 1, 1]], [0, 1, 1, 0])
    1
    """
    ballot = read_classes(votes, y, sample_weight, "orientation_size")
    cosines = _cosines(ballot)
    if cosines is None:
        angles, count = np.zeros(len(ballot)), round(len(ballot) / 5)
    else:
        angles = np.arccos(cosines.clip(-1, 1).round(12))
        acute = angles[cosines.round(12) > 0]
        # Angles that are equal but for rounding are not below their mean.
        count = int((angles < acute.mean() - 1e-9).sum()) if len(acute) else 1
    return len(ballot.permutation(np.argsort(angles, kind="stable")[: max(1, count)]))


def _cosines(ballot: ClassBallot) -> NDArray[np.float64] | None:
    """(T,): of the angles to the reference vector; -2, last, for voters that vote on nothing; None: no direction."""
    n = len(ballot.truth)
    example_weight = np.ones(n) if ballot.sample_weight is None else ballot.sample_weight
    weights = np.ones(len(ballot)) if ballot.weights is None else ballot.weights
    everybody = bool((ballot.labels >= 0).all())
    sums, voters = np.zeros(n), np.full(n, weights.sum() if everybody else 0.0)
    for rows, labels in _blocks(ballot):
        sums += 2 * (weights[rows] @ (labels == ballot.truth))
        if not everybody:
            voters += weights[rows] @ (labels >= 0)
    sums -= voters
    known = voters > 0
    example_weight = np.where(known, example_weight, 0.0)
    mean = _without_rounding(np.divide(sums, voters, out=np.zeros(n), where=known))
    square = example_weight @ mean**2
    along = example_weight @ mean / square * mean if square > 0 else np.zeros(n)
    reference = _without_rounding(np.where(known, 1.0 - along, 0.0))
    sine = float(np.sqrt(example_weight @ reference**2 / example_weight.sum())) if example_weight.any() else 0.0
    if sine < UNSTABLE:
        fallback = ": members are ordered by individual_error instead" if sine < NO_DIRECTION else ""
        warnings.warn(
            "orientation is unreliable here: the members are right on nearly the same examples, so that nothing tells "
            f"them apart (|c_ref| is {sine:.2g} of the diagonal){fallback}",
            stacklevel=3,
        )
        if sine < NO_DIRECTION:
            return None
    pull, squares = example_weight * reference, example_weight * reference**2
    cosines = np.empty(len(ballot))
    for rows, labels in _blocks(ballot):
        voted: Any = True if everybody else labels >= 0
        judged, along, length = (_over(voted, each, len(labels)) for each in (example_weight, pull, squares))
        products = 2 * ((labels == ballot.truth) @ pull) - along
        lengths = np.sqrt(judged * length)
        np.divide(products, lengths, out=products, where=lengths > 0)
        cosines[rows] = np.where(lengths > 0, products, np.where(judged > 0, 0.0, -2.0))
    return cosines


def _over(voted: Any, values: NDArray[np.float64], members: int) -> NDArray[np.float64]:
    """(members,): the sum of values over the examples that each votes on."""
    return np.full(members, values.sum()) if voted is True else voted @ values


def _without_rounding(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Components that are 0 but for rounding would have a direction."""
    return np.where(np.abs(vector) < 1e-12, 0.0, vector)


def _blocks(ballot: ClassBallot) -> Iterator[tuple[slice, NDArray[np.int32]]]:
    """The votes of some members at a time."""
    step = max(1, BLOCK_CELLS // len(ballot.truth))
    for first in range(0, len(ballot), step):
        yield slice(first, first + step), ballot.labels[first : first + step]
