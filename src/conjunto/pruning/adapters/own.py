"""Ensembles of conjunto: known by what they can do, whatever their class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.ballot import group_decisions, leaders
from conjunto.pruning.adapters._adapter import Adapter
from conjunto.votes import Votes


class OwnEnsemble(Adapter):
    """An ensemble of conjunto.

    Voters are members, rounds of boosting, or the committees of IGP committees. A member of error-correcting output
    codes adds a vote to every class of a side; as its label the lowest of these stands.
    """

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        if fitted._not_voters:
            raise TypeError(f"{self._name} cannot be taken apart: {fitted._not_voters}")
        self.classes = getattr(fitted, "classes_", None)
        self.soft = fitted._soft() or fitted._adds_scores()
        self.labels_tell = fitted._labels_tell

    def __len__(self) -> int:
        return int(self.fitted._n_voters())

    def _read(self, X: Any) -> Any:
        self._check_columns(X)
        return self.fitted._read(X)

    def votes(self, X: Any) -> Votes:
        """Return what each voter says about each row."""
        rows = self.read(X).rows
        if self.fitted._adds_scores():
            # One voter at a time: scores of all voters, rows and classes may take more than there is.
            labels = np.stack([leaders(self.fitted._shares(t, rows)) for t in range(len(self))]).astype(np.int32)
            return Votes(labels=labels, weights=self.fitted.estimator_weights_, classes=self.classes)
        votes: Votes = self.fitted.votes(rows)
        return votes if votes.groups is None else Votes(labels=group_decisions(votes)[0], classes=votes.classes)

    def shares(self, t: int, X: Any) -> NDArray[np.float64]:
        """Return what voter t adds to the classes, (n, K), times its weight."""
        if not self.soft:
            return super().shares(t, X)
        return np.asarray(self.fitted._shares(t, self.read(X).rows), dtype=np.float64)

    def each_share(self, members: NDArray[np.intp], X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the shares of several voters, one after the other."""
        yield from self.fitted._each_share(members, self.read(X).rows)

    def seen(self, n: int) -> NDArray[np.bool_]:
        """Return which of the n training rows each member saw."""
        seen: NDArray[np.bool_] = self.fitted._seen()
        if seen.shape[1] != n:
            raise ValueError(f"{self._name} was fitted on {seen.shape[1]} rows: out-of-bag rows need them, not {n}")
        return seen

    def take(self, members: Any) -> Any:
        """Return an ensemble of the same type with these voters, in this order."""
        return self.fitted._with_members(self._chosen(members))


def is_own(fitted: Any) -> bool:
    """Whether this is an ensemble of conjunto."""
    return hasattr(fitted, "_with_members") and hasattr(fitted, "_n_voters")
