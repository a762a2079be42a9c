"""Exhaustive search: the best subset of every size, the truth that orders of members are measured against.

An order keeps the first members of one sequence; a search has no such ties between one size and the next. There are
2^T - 1 subsets, so that it is for small ensembles (section 5.5 of the thesis searches 31 members).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto import _core
from conjunto.ordering._reading import ClassBallot, read_classes, threads_of
from conjunto.votes import Votes

# Bits of a subset, and hours of patience.
MOST_VOTERS = 40


@dataclass(frozen=True, eq=False)
class Subsets:
    """The best subset of each size."""

    sizes: NDArray[np.intp]
    """(S,): numbers of members; of groups, where groups of members decide before they vote."""
    errors: NDArray[np.float64]
    """(S,): the least error of any subset of that size; NaN where none of them votes on anything."""
    counts: NDArray[np.int64]
    """(S,): how many subsets attain it."""
    members: list[NDArray[np.intp]]
    """For each size the members of one such subset, ascending."""

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The members of the subset of least error; of equals, that of the size asked for first."""
        return self.members[int(np.where(np.isnan(self.errors), np.inf, self.errors).argmin())]


def exhaustive(
    votes: Votes | ArrayLike,
    y: ArrayLike,
    *,
    size: int | Sequence[int] | NDArray[np.integer] | None = None,
    prefer: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Subsets:
    """Find the subset of members with the least error, for every size, by looking at all subsets.

    The error is the share of wrong answers of the subset's plurality vote among the examples on which any of its
    members votes.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say: class codes (-1 abstains), or scores. At most 40 members, or groups of members.
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, or codes.
    size : int or sequence of int, default=None
        The size to search, or several; None is every odd size, which two classes cannot tie.
    prefer : array-like of shape (T,), default=None
        An order of the members, such as that of `reduce_error`. Of subsets as good, the one is returned that shares
        most members with the first `size` of this order; of those, and without an order, the one whose members come
        first in lexicographic order.
    sample_weight : array-like of shape (n,), default=None
        Weights of the examples.
    n_jobs : int, default=None
        Threads; None is 1. The result does not depend on it.

    Returns
    -------
    Subsets
        Arrays `sizes`, `errors`, `counts`, and the list `members`; `chosen`, the best of them.

    Notes
    -----
    The work doubles with every member. Equal votes on labels, with abstentions or without, on examples of equal weight
    (or none) are fast: on one core, with 300 examples of three classes, 25 members take a tenth of a second, 31 take 2
    to 4 seconds and 36 about a minute; at that rate 40 take a quarter of an hour or more. Weights of members, different
    weights of examples and scores are added up one subset after another: 20 members take a second, and so 25 half a
    minute and 31 more than half an hour. For more members use `optimal`, `genetic`, or an order such as `reduce_error`.

    References
    ----------
    G. Martínez-Muñoz, *Clasificación mediante conjuntos*, PhD thesis, Universidad Autónoma de Madrid, 2006, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto.ordering.exhaustive import exhaustive
    >>> y = np.array([0, 0, 1, 1, 1])
    >>> votes = np.array([[0, 1, 1, 1, 0], [1, 0, 1, 0, 1], [0, 1, 0, 1, 1], [0, 0, 1, 0, 0]])
    >>> best = exhaustive(votes, y)
    >>> best.sizes, best.errors, best.counts.tolist()
    (array([1, 3]), array([0.4, 0.2]), [4, 2])
    >>> best.members
    [array([0]), array([0, 1, 2])]
    """
    ballot = read_classes(votes, y, sample_weight, "exhaustive")
    if len(ballot) > MOST_VOTERS:
        raise ValueError(
            f"exhaustive searches at most {MOST_VOTERS} members, votes have {len(ballot)}: use optimal, genetic, or "
            "the first members of an order such as reduce_error"
        )
    asked = _sizes(size, len(ballot))
    arrays = _arrays(ballot)
    if prefer is not None:
        arrays["prefer"] = _preferred(prefer, ballot)
    errors, counts, bits = _core.best_subsets(
        classes=ballot.n_classes,
        sizes=asked.astype(np.uint32),
        threads=threads_of(n_jobs),
        **arrays,
    )
    inside = (bits[:, None] >> np.arange(len(ballot), dtype=np.uint64)) & np.uint64(1)
    members = [np.sort(ballot.permutation(np.flatnonzero(row))) for row in inside]
    return Subsets(asked, np.where(np.isinf(errors), np.nan, errors), counts, members)


def _sizes(size: ArrayLike | None, n_voters: int) -> NDArray[np.intp]:
    if size is None:
        return np.arange(1, n_voters + 1, 2)
    asked = np.atleast_1d(size)
    whole = asked.ndim == 1 and asked.dtype.kind in "iu" and len(asked) > 0
    if not whole or asked.min() < 1 or asked.max() > n_voters or len(np.unique(asked)) < len(asked):
        raise ValueError(f"size must be a whole number from 1 to {n_voters}, or several different ones, got {size!r}")
    return asked.astype(np.intp)


def _preferred(prefer: ArrayLike, ballot: ClassBallot) -> NDArray[np.uint32]:
    """The order of the voters; a group stands where its first member does."""
    order = np.asarray(prefer)
    n_members = len(ballot) if ballot.voters is None else sum(map(len, ballot.voters))
    if order.dtype.kind not in "iu" or order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(n_members)):
        raise ValueError(f"prefer must be a permutation of the {n_members} members, 0 to {n_members - 1}")
    if ballot.voters is not None:
        place = np.argsort(order)
        order = np.argsort([place[members].min() for members in ballot.voters])
    return order.astype(np.uint32)


def _arrays(ballot: ClassBallot) -> dict[str, Any]:
    """What the core asks for, without the examples of weight 0; equal weights need none."""
    weight = ballot.sample_weight
    kept = slice(None) if weight is None else np.flatnonzero(weight)
    if weight is not None:
        weight = weight[kept]
        weight = None if (weight == weight[0]).all() else weight
    says = {"labels": ballot.labels} if ballot.scores is None else {"scores": ballot.scores}
    return {
        "truth": np.ascontiguousarray(ballot.truth[kept]),
        "sample_weight": weight,
        "weights": ballot.weights,
        **{name: np.ascontiguousarray(array[:, kept]) for name, array in says.items()},
    }
