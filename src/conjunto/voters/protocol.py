"""`Voters`: any fitted ensemble as voters that can be asked one by one and taken apart.

Ensembles of conjunto meet the protocol themselves; those of other libraries through an adapter (`as_voters`). Whatever
is done with an ensemble after it is fitted, ordering, pruning, combining, measuring, needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from conjunto.outputs import as_list, one_or_list
from conjunto.votes import Votes


@dataclass(frozen=True)
class Unknown:
    """What cannot be told about an ensemble, and why."""

    reason: str


class OtherRowsError(ValueError):
    """The rows are not those of the fit, or not in its order."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The training rows that each voter learned from."""

    name: str
    """Of the ensemble, for messages."""
    known: NDArray[np.bool_] | None = None
    """(voters, n), where the ensemble knows how many rows there were."""
    samples: Sequence[NDArray[np.intp]] | None = None
    """The numbers of the rows in each sample, where it does not."""
    n: int | None = None
    """Number of training rows, where samples tell it."""
    refutes: Callable[[Any, NDArray[Any] | None], bool] | None = None
    """Whether rows, as the voters read them, with these answers (None: not known) cannot be those of the fit in its
    order; None: nobody can tell."""

    def check(self, rows: Any, truth: NDArray[Any] | None = None) -> None:
        """Refuse rows that are not those of the fit, or not in its order, as far as that can be told."""
        if self.refutes is not None and self.refutes(rows, truth):
            raise OtherRowsError(
                f"{self.name} was not fitted on these rows in this order: which of them a member saw is not known, and "
                "what is out of bag would look better than it is; give the training data in the order of the fit "
                "(for rows that no member saw prune has selection=0.5, or another share)"
            )

    def matrix(self, n: int) -> NDArray[np.bool_]:
        """(voters, n): the rows that each voter saw, of n training rows; refuses rows of other data."""
        fitted_on = self.n if self.known is None else self.known.shape[1]
        if fitted_on is not None and fitted_on != n:
            raise ValueError(
                f"{self.name} was fitted on {fitted_on} rows: out-of-bag rows need them, all of the {fitted_on} "
                f"training rows, got {n} rows"
            )
        if self.known is not None:
            return self.known
        assert self.samples is not None
        return _rows_in(self.samples, n, self.name)


@runtime_checkable
class Voters(Protocol):
    """A fitted ensemble as voters: members, rounds of boosting, or committees."""

    def __len__(self) -> int:
        """Return the number of voters."""
        ...

    def read(self, X: Any) -> Any:
        """Return X checked and converted; `votes` and `contributions` take this in place of X."""
        ...

    def votes(self, X: Any) -> Any:
        """Return what each voter says about each row, with weights and rule: what the ensemble decides by.

        A `Votes`; of several targets a list of them.
        """
        ...

    def contributions(self, X: Any, voters: Sequence[int] | NDArray[Any] | None = None) -> Any:
        """Return the same of some voters (None: all), one after another, never held whole: a `RollCall`, or a list."""
        ...

    def seen(self) -> Seen | Unknown:
        """Return which training rows each voter learned from, or why that is not known."""
        ...

    def take(self, voters: Sequence[int] | NDArray[Any]) -> Any:
        """Return a fitted ensemble of the same type with some of the voters, in this order."""
        ...


def rows_seen(voters: Voters, n: int) -> NDArray[np.bool_]:
    """(voters, n): the training rows that each voter saw; an error where that is not known."""
    seen = voters.seen()
    if isinstance(seen, Unknown):
        raise ValueError(seen.reason)
    return seen.matrix(n)


def votes_out_of_bag(voters: Voters, X: Any) -> Any:
    """The votes on the training rows X, in which each voter abstains on the rows that it saw."""
    seen = voters.seen()
    if isinstance(seen, Unknown):
        # Before anybody is asked.
        raise ValueError(seen.reason)
    rows = voters.read(X)
    votes = voters.votes(rows)
    each: list[Votes] = as_list(votes)
    abstaining = seen.matrix(each[0].n_examples)
    seen.check(rows)
    return one_or_list([one.without(abstaining) for one in each])


def _rows_in(samples: Sequence[NDArray[np.intp]], n: int, name: str) -> NDArray[np.bool_]:
    """(T, n): voters by the numbers of the rows in their samples."""
    seen = np.zeros((len(samples), n), dtype=bool)
    for t, rows in enumerate(samples):
        if rows.max(initial=-1) >= n:
            raise ValueError(f"{name} was fitted on more than {n} rows: out-of-bag rows need the training data")
        seen[t, rows] = True
    # Rows at the end that nobody saw, where chance would have shown them to somebody, are rows of other data.
    unseen = n - 1 - int(np.flatnonzero(seen.any(axis=0)).max(initial=-1))
    if unseen * len(samples) * np.log1p(-min(seen.mean(), 1 - 1e-12)) < np.log(1e-9):
        raise ValueError(f"{name} was fitted on fewer than {n} rows: out-of-bag rows need the training data")
    return seen
