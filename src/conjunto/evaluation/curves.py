"""The error of the first 1, 2, …, T members."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.ballot import as_codes, as_votes, prefix_counts, prefix_values
from conjunto.votes import Votes


def error_curve(votes: Votes | ArrayLike, y: ArrayLike, order: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the error of every prefix of an ensemble.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say: class codes (-1 abstains) or, as floats, values (NaN abstains).
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, or codes.
    order : array-like, default=None
        The order in which members join; None is the order of `votes`.

    Returns
    -------
    ndarray of shape (T,)
        Share of examples that the vote of the first t members gets wrong (mean squared error for values).
        Examples on which all of them abstain are left out.

    Examples
    --------
    >>> from conjunto.evaluation import error_curve
    >>> error_curve([[0, 0, 1], [0, 1, 1], [0, 1, 0]], [0, 1, 1])
    array([0.33333333, 0.33333333, 0.        ])
    """
    votes = as_votes(votes)
    if order is not None:
        votes = votes.take(np.asarray(order))
    if votes.values is not None:
        truth = np.asarray(y, dtype=np.float64)
        if truth.shape != (votes.n_examples,):
            raise ValueError(f"y has shape {truth.shape}, votes have {votes.n_examples} examples")
        return np.array([_mean((means - truth) ** 2, ~np.isnan(means)) for means in prefix_values(votes)])
    codes = as_codes(votes, y)
    said = (count.winners() for count in prefix_counts(votes))
    return np.array([_mean(answer != codes, answer >= 0) for answer in said])


def _mean(wrong: NDArray[np.generic], known: NDArray[np.bool_]) -> float:
    return float(wrong[known].mean()) if known.any() else float("nan")
