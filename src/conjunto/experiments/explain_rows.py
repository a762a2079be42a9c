"""What `explain` needs of a model and of a table: columns that are set and shuffled, and answers to be averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes
from conjunto.datasets import is_number
from conjunto.experiments.measures.scored import one_per_row, rarest, rows_for
from conjunto.problem import select


@dataclass(frozen=True, eq=False)
class Answering:
    """A model as a function of rows into numbers whose mean says something."""

    model: Any
    classes: NDArray[Any] | None
    asked: list[int]
    """Codes of the classes that are asked for."""
    what: str
    """"probability", "share" of predicted labels where the model gives no probabilities, or "value"."""

    @staticmethod
    def of(model: Any, y: NDArray[Any], classes: NDArray[Any] | None, positive: int | None, most: int) -> Answering:
        """Of two classes the positive one is asked for, of more those with the most rows."""
        if classes is None:
            return Answering(model, None, [], "value")
        counts = np.bincount(Classes(classes).encode(y), minlength=len(classes))
        if len(classes) == 2:
            asked = [rarest(counts) if positive is None else positive]
        else:
            asked = np.sort(np.argsort(-counts, kind="stable")[:most]).tolist()
        return Answering(model, classes, asked, "probability" if hasattr(model, "predict_proba") else "share")

    @property
    def labels(self) -> list[str]:
        """What the numbers of a row are called."""
        return [""] if self.classes is None else [str(self.classes[code]) for code in self.asked]

    def ask(self, X: Any) -> NDArray[np.float64]:
        """(n, labels)."""
        rows = rows_for(self.model, X)
        if self.classes is None:
            return one_per_row(self.model.predict(rows)).astype(np.float64)[:, None]
        if self.what == "share":
            codes = Classes(self.classes).encode(one_per_row(self.model.predict(rows)), who="the model predicts")
            return (codes[:, None] == np.array(self.asked)).astype(np.float64)
        known = np.asarray(self.model.predict_proba(rows), dtype=np.float64)
        proba = np.zeros((len(known), len(self.classes)))
        proba[:, Classes(self.classes).places(self.model.classes_, type(self.model).__name__)] = known
        return proba[:, self.asked]


def column_name(X: Any, place: int) -> str:
    """What a column is called; those of an array are counted from 1."""
    return str(X.columns[place]) if hasattr(X, "columns") else f"column {place + 1}"


def column_kind(X: Any, place: int) -> str:
    """ "number" or "category"."""
    kind = X.dtypes.iloc[place] if hasattr(X, "iloc") else X.dtype
    return "number" if is_number(kind) else "category"


def column_of(X: Any, place: int) -> Any:
    """The values of a column, in an array of their own type."""
    return X.iloc[:, place].array if hasattr(X, "iloc") else X[:, place]


def with_column(X: Any, place: int, values: Any) -> Any:
    """The table with other values in one column, of the type that the column has."""
    if not hasattr(X, "iloc"):
        X = X.copy()
        X[:, place] = values
        return X
    import pandas

    X = X.copy(deep=False)  # the columns that stay are shared
    X.isetitem(place, pandas.array(values, dtype=X.dtypes.iloc[place]))
    return X


def with_each(X: Any, place: int, values: Any) -> Any:
    """Every row once for each of the values, in blocks: the first value in all rows, then the second."""
    n = int(X.shape[0])
    repeated = select(X, np.tile(np.arange(n), len(values)))
    if hasattr(repeated, "iloc"):  # a row that stands twice has its label twice
        repeated = repeated.reset_index(drop=True)
    return with_column(repeated, place, np.repeat(values, n))
