"""Condorcet's jury: how often a majority of independent voters is right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom


def condorcet(n_voters: ArrayLike, p: ArrayLike) -> Any:
    """Return the probability that more than half of the voters are right, each of them with probability p.

    With two classes that is how often the majority is right if the voters are independent. For odd numbers of voters it
    grows with their number where p > 1/2, falls where p < 1/2, and stays 1/2 at p = 1/2. Half of an even number is no
    majority, so that even numbers lie lower.

    Parameters
    ----------
    n_voters : int or array-like of int
        How many voters there are.
    p : float or array-like
        The probability that one of them is right.

    Returns
    -------
    float or ndarray
        Of the shape that both have together.

    References
    ----------
    Condorcet (1785). Essai sur l'application de l'analyse à la probabilité des décisions rendues à la pluralité des
    voix.

    Examples
    --------
    >>> from conjunto.combination import condorcet
    >>> f"{1 - condorcet(21, 0.7):.3f}"
    '0.026'
    """
    voters, share = np.asarray(n_voters), np.asarray(p, dtype=np.float64)
    if voters.dtype.kind not in "iu" or (voters < 1).any():
        raise ValueError(f"n_voters must be whole numbers of at least 1, got {n_voters!r}")
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError(f"p must be a probability, from 0 to 1, got {p!r}")
    majority = binom.sf(voters // 2, voters, share)
    return majority if np.ndim(majority) else float(majority)
