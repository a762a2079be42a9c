"""A random order: what every other one must beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from conjunto.votes import Votes, as_votes


def random_order(votes: Votes | ArrayLike, y: ArrayLike | None = None, *, random_state: Any = None) -> NDArray[np.intp]:
    """Order members at random.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        Only the number of members matters; the members of a group stay together.
    y : ignored
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    ndarray of shape (T,)
        All members.

    Examples
    --------
    >>> from conjunto.ordering import random_order
    >>> sorted(random_order([[0, 1], [1, 1], [0, 0]], random_state=0).tolist())
    [0, 1, 2]
    """
    votes = as_votes(votes)
    random = check_random_state(random_state)
    if votes.groups is None:
        return np.asarray(random.permutation(len(votes)), dtype=np.intp)
    names = np.unique(votes.groups)
    return np.concatenate([np.flatnonzero(votes.groups == names[g]) for g in random.permutation(len(names))])
