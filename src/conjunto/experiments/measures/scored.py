"""`Scored`: what a model says about rows whose answers are known; everything that a measure may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes


@dataclass(frozen=True, eq=False)
class Scored:
    """A fitted model on rows with known answers, or what was kept of it; computed when asked."""

    model: Any
    """None where its answers alone were kept."""
    X: Any
    """The rows as the model takes them: what `rows_for` returns."""
    y: NDArray[Any]
    predicted: NDArray[Any]
    classes: NDArray[Any] | None = None
    """All classes of the data set: the training rows may have missed some."""
    said: NDArray[np.floating[Any]] | None = None
    """(n, K): probabilities over all classes, where they are known already."""
    rarer: int | None = None
    """The code of the class that counts as positive; None is the rarer one of the rows."""

    @staticmethod
    def of(model: Any, X: Any, y: NDArray[Any], classes: NDArray[Any] | None, rarer: int | None = None) -> Scored:
        """The model on these rows, which it reads once for all that is asked of it."""
        rows = rows_for(model, X)
        return Scored(model, rows, y, one_per_row(model.predict(rows)), classes, rarer=rarer)

    @cached_property
    def proba(self) -> NDArray[np.float64] | None:
        """(n, K) over all classes; None where the model gives no probabilities."""
        if self.said is not None:
            return self.said.astype(np.float64)
        if self.classes is None or not hasattr(self.model, "predict_proba"):
            return None
        known = self.model.predict_proba(self.X)
        proba = np.zeros((len(known), len(self.classes)))
        proba[:, Classes(self.classes).places(self.model.classes_, type(self.model).__name__)] = known
        return proba

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The true classes as codes."""
        assert self.classes is not None
        return Classes(self.classes).encode(self.y).astype(np.intp)

    @cached_property
    def positive(self) -> int:
        """The code of the class that counts as positive: the rarer one; of equally rare ones the last."""
        if self.rarer is not None:
            return self.rarer
        assert self.classes is not None
        return rarest(np.bincount(self.codes, minlength=len(self.classes)))


def rarest(counts: NDArray[Any]) -> int:
    """The code of the class with the fewest rows; of equally rare ones the last, as scikit-learn counts it positive."""
    return int(len(counts) - 1 - np.argmin(np.asarray(counts)[::-1]))


def rows_for(model: Any, X: Any) -> Any:
    """X as the model reads it, checked and encoded once for many questions; X itself where the model cannot read."""
    return model.read(X) if callable(getattr(model, "read", None)) else X


def one_per_row(predicted: Any) -> NDArray[Any]:
    """One answer per row: some libraries give a column, which would be compared with every row."""
    return np.asarray(predicted).ravel()
