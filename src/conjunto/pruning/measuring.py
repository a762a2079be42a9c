"""What a model costs: the bytes that it takes stored, and the time it takes to predict."""

from __future__ import annotations

import io
import pickle
import time
from typing import Any

import numpy as np

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


def thousand_rows(X: Any) -> Any:
    """A thousand rows of X, in turn, again and again if there are fewer."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return select(X if hasattr(X, "shape") else np.asarray(X), np.arange(ROWS) % n)


def predict_milliseconds(model: Any, rows: Any, repeats: int = REPEATS) -> dict[str, float]:
    """The time to predict the rows: median, least and most of several runs after a first one that does not count."""
    model.predict(rows)
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        model.predict(rows)
        spent.append(1000 * (time.perf_counter() - start))
    return {"median": float(np.median(spent)), "low": min(spent), "high": max(spent)}
