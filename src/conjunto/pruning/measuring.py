"""What a model costs: the bytes that it takes stored, and the time it takes to predict."""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from conjunto.problem import select

ROWS = 1000
REPEATS = 7


class _Counter(io.RawIOBase):
    """Counts what is written and keeps nothing: a model of gigabytes is not held twice."""

    def __init__(self) -> None:
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.count += size
        return size


def stored_bytes(model: Any) -> int:
    """The size of the model's pickle."""
    counter = _Counter()
    pickle.Pickler(counter, protocol=5).dump(model)
    return counter.count


def as_rows(X: Any) -> Any:
    """X as something that rows can be taken of."""
    if issparse(X):
        return X.tocsr()
    if X is None:
        raise TypeError("X must be an array, a DataFrame or a list of rows, got None")
    return X if hasattr(X, "shape") else np.asarray(X)


def thousand_rows(X: Any) -> Any:
    """A thousand rows of X, in turn, again and again if there are fewer."""
    return select(X, np.arange(ROWS) % X.shape[0])


def predict_milliseconds(models: Sequence[Any], rows: Any, repeats: int = REPEATS) -> list[dict[str, float]]:
    """The time that each model takes to predict the rows: median, least and most of several runs.

    The models take turns, so that what else the machine does falls on all of them; a first run does not count.
    """
    spent: list[list[float]] = [[] for _ in models]
    for turn in range(repeats + 1):
        for model, times in zip(models, spent, strict=True):
            start = time.perf_counter()
            model.predict(rows)
            if turn:
                times.append(1000 * (time.perf_counter() - start))
    return [{"median": float(np.median(times)), "low": min(times), "high": max(times)} for times in spent]
