"""What a cell said about its test rows, as a store keeps it, and what those rows were.

With both, every measure of answers can be taken later, at any threshold, without a fit. Probabilities are kept in
single precision, and whatever is measured in a run is measured of what is kept: asked then or asked later, the numbers
are the same.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes
from conjunto.experiments.measures.scored import Scored


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The test rows of one partition, the same for all methods, and what its training rows alone would say."""

    rows: NDArray[Any]
    """Their positions in the table; empty where rows were drawn afresh."""
    truth: NDArray[Any]
    """Class codes, or values."""
    prior: NDArray[np.float64]
    """The class shares of the training rows, or the mean of their values: the answer of a constant."""
    positive: int | None = None
    """The code of the class that counts as positive; None where there is none."""

    @property
    def n_classes(self) -> int:
        """0 in regression."""
        return 0 if self.positive is None else len(self.prior)

    @property
    def classes(self) -> NDArray[np.intp] | None:
        """The class codes; None in regression."""
        return None if self.positive is None else np.arange(self.n_classes)

    def constant(self) -> Answers:
        """What a model would say that knows the training answers and no attribute."""
        n = len(self.truth)
        if self.positive is None:
            return Answers(np.full(n, self.prior[0]))
        return Answers(np.full(n, self.prior.argmax()), np.tile(self.prior.astype(np.float32), (n, 1)))

    def take(self, chosen: NDArray[Any]) -> HeldOut:
        """Some of the rows, by their place among the test rows."""
        rows = self.rows[chosen] if len(self.rows) else self.rows
        return replace(self, rows=rows, truth=self.truth[chosen])


@dataclass(frozen=True, eq=False)
class Answers:
    """What one model said about the rows of a `HeldOut`."""

    predicted: NDArray[Any]
    """Class codes, or values."""
    proba: NDArray[np.float32] | None = None
    """(n, K); None where the model gives no probabilities."""

    @staticmethod
    def of(scored: Scored) -> Answers:
        """The answers of a model, in the form that is kept."""
        if scored.classes is None:
            return Answers(np.asarray(scored.predicted, dtype=np.float64))
        codes = Classes(scored.classes).encode(scored.predicted, who="the model predicts")
        proba = None if scored.proba is None else scored.proba.astype(np.float32)
        return Answers(codes, proba)

    def scored(self, tested: HeldOut) -> Scored:
        """These answers beside the truth, for measures; classes are their codes."""
        return Scored(None, None, tested.truth, self.predicted, tested.classes, self.proba, tested.positive)

    def at_threshold(self, tested: HeldOut, threshold: float) -> Answers:
        """The positive one of two classes wherever its probability reaches a threshold; else as it is."""
        if tested.n_classes != 2 or self.proba is None:
            return self
        assert tested.positive is not None
        positive = self.proba[:, tested.positive] >= threshold
        return Answers(np.where(positive, tested.positive, 1 - tested.positive), self.proba)

    def is_finite(self) -> bool:
        """Whether all that was said are numbers."""
        return bool(np.isfinite(self.predicted).all() and (self.proba is None or np.isfinite(self.proba).all()))

    def take(self, chosen: NDArray[Any]) -> Answers:
        """The answers about some of the rows."""
        return Answers(self.predicted[chosen], None if self.proba is None else self.proba[chosen])


def pack(array: NDArray[Any]) -> bytes:
    """An array as the bytes of a store: numpy's own format, compressed; codes in as few bytes as they need."""
    if array.dtype.kind in "iu":
        array = array.astype(np.min_scalar_type(int(array.max(initial=0))))
    text = io.BytesIO()
    np.save(text, array, allow_pickle=False)
    return zlib.compress(text.getvalue(), 6)


def unpack(data: bytes) -> NDArray[Any]:
    """What `pack` packed."""
    array = np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False)
    return array.astype(np.intp) if array.dtype.kind in "iu" else array
