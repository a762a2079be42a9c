"""The error of the first 1, 2, …, T members."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.classes import Classes
from conjunto.combination import prefixes
from conjunto.votes import RollCall, Votes, as_votes


def error_curve(
    votes: Votes | RollCall | ArrayLike, y: ArrayLike, order: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the error of every prefix of an ensemble.

    Parameters
    ----------
    votes : Votes, RollCall or array of shape (T, n)
        What the members say: class codes (-1 abstains) or, as floats, values (NaN abstains). `contributions(X)` of an
        ensemble is a roll call, which is never held whole.
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
    if isinstance(votes, RollCall):
        if order is not None:
            raise ValueError("a roll call comes in its own order: ask the ensemble for contributions(X, order)")
    else:
        votes = as_votes(votes)
        votes = votes if order is None else votes.take(np.asarray(order))
    truth = _truth(votes, y)
    curve = []
    for count in prefixes(votes):
        answers = count.answers()
        loss = (answers - truth) ** 2 if votes.kind == "values" else answers != truth
        curve.append(_mean(loss, count.voted))
    return np.array(curve)


def _truth(votes: Votes | RollCall, y: ArrayLike) -> NDArray[np.generic]:
    """Class codes or values, one for each row that is voted on."""
    truth = np.asarray(y, dtype=np.float64) if votes.kind == "values" else np.asarray(y)
    if truth.shape != (votes.n_examples,):
        raise ValueError(f"y has shape {truth.shape}, votes have {votes.n_examples} examples")
    if votes.kind == "values" or votes.classes is None:
        return truth
    return Classes(votes.classes).encode(truth)


def _mean(wrong: NDArray[np.generic], known: NDArray[np.bool_]) -> float:
    return float(wrong[known].mean()) if known.any() else float("nan")
