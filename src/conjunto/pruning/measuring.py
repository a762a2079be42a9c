"""What a model costs: the bytes that it takes stored, and the time it takes to predict."""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from conjunto.problem import select
from conjunto.stored import content, skops_bytes

ROWS = 1000
SINGLE_ROWS = 10
REPEATS = 7
# Seconds within which the number of calls for a measurement is found.
MOST_WAITED = 0.1
# What a clock must have to tell, in seconds; some tick sixty times a second.
LEAST_SPENT = max(0.002, 20 * time.get_clock_info("process_time").resolution)


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


def file_bytes(model: Any) -> int:
    """The size of the file that the model is kept in: of a model file, where it is one of ours, else of its pickle.

    What a model file holds beside the estimator is little: names that are not known here, such as that of the target,
    are a few bytes each. skops numbers the parts by where they lie in memory, so two files of one model differ by tens
    of bytes.
    """
    if type(model).__module__.split(".")[0] != "conjunto":
        return stored_bytes(model)
    names = getattr(model, "feature_names_in_", None)
    names = range(getattr(model, "n_features_in_", 0)) if names is None else names
    task = "regression" if is_regressor(model) else "classification"
    try:
        return len(skops_bytes(content(model, {str(name): "number" for name in names}, "y", task, {})))
    except Exception:  # skops is not there, or cannot describe a member of another library
        return stored_bytes(model)


def thousand_rows(X: Any) -> Any:
    """A thousand rows of X, in turn, again and again if there are fewer."""
    return select(X, np.arange(ROWS) % X.shape[0])


def single_rows(X: Any) -> list[Any]:
    """Some rows of X, each by itself."""
    return [select(X, np.array([row])) for row in range(min(SINGLE_ROWS, X.shape[0]))]


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


def cpu_milliseconds(calls: Sequence[Callable[[], object]], repeats: int = REPEATS) -> list[float]:
    """The least time of the processor that each call takes, of several runs in which the calls take turns.

    Time of the processor does not pass while other programs run, and what they do to its caches only adds to it: the
    least is nearest to what the call itself needs.
    """
    found = [np.inf] * len(calls)
    counts = [_enough(call) for call in calls]
    for _ in range(repeats):
        for place, (call, count) in enumerate(zip(calls, counts, strict=True)):
            found[place] = min(found[place], _spent(call, count) / count)
    return [1000 * seconds for seconds in found]


def _enough(call: Callable[[], object]) -> int:
    """How often a call is made for the clock to tell; a first time does not count, and one that waits tells nothing."""
    call()
    count, start = 1, time.perf_counter()
    while _spent(call, count) < LEAST_SPENT and time.perf_counter() - start < MOST_WAITED:
        count *= 4
    return count


def _spent(call: Callable[[], object], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - start
