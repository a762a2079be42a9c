"""`Adapter`: a fitted ensemble of another library as `Voters`. One subclass per family of ensembles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.outputs import as_list, count_classes, one_or_list, several
from conjunto.voters.checking import check_columns, check_voters, one_answer
from conjunto.voters.protocol import Seen, Unknown
from conjunto.votes import Kind, RollCall


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Rows that an adapter has read already, as the members take them."""

    rows: Any


class Adapter:
    """A fitted ensemble as voters.

    A family says how rows are read (`_read`), what its members predict (`_predicted`) or add to the classes (`_score`),
    which rows they saw (`seen`) and how a part of it is put together (`take`).

    Attributes
    ----------
    fitted : estimator, or sequence of models
        As given.
    classes_ : ndarray or None
        The labels, in the order of class codes, of several targets a list of them; None in regression.
    n_outputs_ : int
        Number of targets.
    adds_scores : bool
        Whether the ensemble adds up class scores instead of counting votes.
    """

    fitted: Any
    classes_: Any
    n_outputs_: int = 1
    adds_scores: bool = False
    rule: str = ""

    def __init__(self, fitted: Any) -> None:
        self.fitted = fitted

    def __len__(self) -> int:
        raise NotImplementedError("a family says how many voters there are")

    def read(self, X: Any) -> ReadRows:
        """Return X checked and converted; `votes` and `contributions` take this in place of X."""
        if isinstance(X, ReadRows):
            return X
        check_columns(self, X)
        return ReadRows(self._read(X))

    def votes(self, X: Any) -> Any:
        """Return what each member says about each row: class codes, scores or values, as the ensemble combines them.

        A `Votes`; of several targets a list of them.
        """
        return one_or_list([call.votes() for call in as_list(self.contributions(X))])

    def contributions(self, X: Any, voters: Sequence[int] | NDArray[Any] | None = None) -> Any:
        """Return the same of some members (None: all), one after another: a `RollCall`, or a list of them."""
        rows = self.read(X).rows
        chosen = np.arange(len(self))
        if voters is not None:
            chosen = np.array(check_voters(voters, len(self), distinct=False), dtype=np.intp)
        weights = self._weights()
        kind: Kind = "values" if self.classes_ is None else "scores" if self.adds_scores else "labels"
        calls = []
        for o in range(self.n_outputs_):
            classes = self.classes_[o] if several(self.classes_) else self.classes_
            calls.append(
                RollCall(
                    kind,
                    self._each(chosen, rows, o),
                    len(chosen),
                    _count_rows(rows),
                    count_classes(classes),
                    None if weights is None else weights[chosen],
                    self.rule,
                    classes,
                )
            )
        return one_or_list(calls)

    def seen(self) -> Seen | Unknown:
        """Return which training rows each member saw, or why that is not known."""
        return Unknown(f"{self.name} does not tell which rows its members saw: give rows that none of them saw")

    def take(self, voters: Any) -> Any:
        """Return a fitted estimator of the same type with these members, in this order; members are shared."""
        raise NotImplementedError("a family says how it is put together")

    @property
    def name(self) -> str:
        """The ensemble, for messages."""
        return type(self.fitted).__name__

    @property
    def knows_columns(self) -> Any:
        """The model that knows what columns X must have."""
        return self.fitted

    def _each(self, voters: NDArray[np.intp], rows: Any, output: int) -> Iterator[NDArray[Any]]:
        """The answers of members to one target."""
        for t in voters.tolist():
            answer = self._score(t, rows) if self.adds_scores else self._predicted(t, rows)
            if self.n_outputs_ > 1:
                yield answer[output] if self.adds_scores else np.asarray(answer)[:, output]
            else:
                yield answer if self.adds_scores else one_answer(answer, f"member {t} of {self.name}")

    def _read(self, X: Any) -> Any:
        """X as the members take it."""
        return X

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        """What member t predicts, as class codes or values; of several targets (n, targets)."""
        raise NotImplementedError("a family says what its members predict")

    def _score(self, t: int, rows: Any) -> Any:
        """(n, K): what member t adds to the classes, before its weight; of several targets a list."""
        raise NotImplementedError("a family that adds scores says what its members add")

    def _weights(self) -> NDArray[np.float64] | None:
        """The weight of each member; None where all are equal."""
        return None

    def _chosen(self, voters: Any) -> list[int]:
        """The numbers of members, checked."""
        return check_voters(voters, len(self))


def _count_rows(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
