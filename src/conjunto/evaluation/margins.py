"""Margins: how clearly an ensemble decides for the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.combination import by_voter, combine
from conjunto.votes import Votes, as_votes


def margins(votes: Votes | ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Return the normalised margin of every example: votes for the true class less those for the best other one.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say; abstentions do not count.
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, or codes.

    Returns
    -------
    ndarray of shape (n,)
        From -1 (all for one wrong class) to 1 (all for the true one); positive where the ensemble is right, and 0 where
        classes tie or nobody votes. Scores are divided by the largest difference that they could have added up to:
        the sum of each member's own largest difference between two classes.

    References
    ----------
    Schapire, Freund, Bartlett, Lee (1998). Boosting the margin. Annals of Statistics 26, 1651-1686.

    Examples
    --------
    >>> from conjunto.evaluation import margins
    >>> margins([[0, 0, 1], [0, 1, 1], [0, 1, 0]], [0, 1, 0])
    array([ 1.        ,  0.33333333, -0.33333333])
    """
    votes = by_voter(as_votes(votes))
    if votes.kind == "values":
        raise ValueError("votes of a regression have no margins: they are values, not votes for classes")
    codes = votes.encode(y)
    counts = combine(votes).counts
    if codes.max(initial=0) >= counts.shape[1]:
        # Without a list of classes, a class that nobody votes for is not known.
        counts = np.pad(counts, ((0, 0), (0, int(codes.max()) + 1 - counts.shape[1])))
    examples = np.arange(len(codes))
    own = counts[examples, codes]
    others = counts.copy()
    others[examples, codes] = -np.inf
    best = others.max(axis=1) if counts.shape[1] > 1 else np.zeros(len(codes))
    most = _largest_difference(votes)
    return np.divide(own - best, most, out=np.zeros(len(codes)), where=most > 0)


def _largest_difference(votes: Votes) -> NDArray[np.float64]:
    """(n,): what the counts of two classes could differ by at most."""
    weights = np.abs(votes.member_weights())[:, None]
    if votes.scores is None:
        assert votes.labels is not None
        return (weights * (votes.labels >= 0)).sum(axis=0)
    spread = np.ptp(votes.scores, axis=2)
    return (weights * np.where(np.isnan(spread), 0.0, spread)).sum(axis=0)
