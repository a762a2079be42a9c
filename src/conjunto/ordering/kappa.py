"""Kappa pruning: the pairs that agree least beyond chance first (Margineantu and Dietterich 1997). A baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto import _core
from conjunto.ordering._reading import read_classes, threads_of
from conjunto.votes import Votes, as_votes


def kappa(votes: Votes | ArrayLike, y: ArrayLike | None = None, *, n_jobs: int | None = None) -> NDArray[np.intp]:
    """Order members by diversity: they are listed as they appear in pairs of rising kappa.

    `kappa = (theta_1 - theta_2) / (1 - theta_2)`: agreement, less what chance would give. Only examples on which both
    vote count. Weights play no part. Diversity alone is no virtue: members that are bad in different ways come first.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        Votes on classes.
    y : array-like of shape (n,), default=None
        Checked, if it is given; the order does not depend on it.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    ndarray of shape (T,)
        All members; of pairs with equal kappa those of lower indices come first.

    References
    ----------
    Margineantu, Dietterich (1997). Pruning adaptive boosting. ICML, 211-218.

    Examples
    --------
    >>> from conjunto.ordering import kappa
    >>> kappa([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]])
    array([0, 2, 1])
    """
    votes = as_votes(votes)
    if y is None:
        y = np.full(votes.n_examples, 0 if votes.classes is None else votes.classes[0])
    ballot = read_classes(votes, y, None, "kappa")
    if len(ballot) == 1:
        return ballot.permutation([0])
    kappas = _core.kappa_statistics(ballot.labels, ballot.n_classes, threads_of(n_jobs))
    one, other = np.triu_indices(len(ballot), 1)
    pairs = np.argsort(kappas[one, other].round(12), kind="stable")
    listed = np.stack([one[pairs], other[pairs]], axis=1).ravel()
    _, first = np.unique(listed, return_index=True)
    return ballot.permutation(listed[np.sort(first)])
