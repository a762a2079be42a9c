"""Forests and bagging on sparse rows, against scikit-learn: words of texts, and categories as indicators.

    python -m benchmarks.scattered [words] [indicators] [--repeats N] [--share S]

Both libraries run in turn on the same CSR matrix, one thread, CPU time; the peak of memory is that of a process of its
own, as a multiple of the matrix.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.everyday import TREES, TableTask
from benchmarks.measure import timed
from benchmarks.memory import forget_peak, peak_bytes
from benchmarks.peers import FACTORIES, OURS, SCIKIT_LEARN

Drawn = tuple[csr_matrix, Any]
CLASSES = 20


def words(rows: int, seed: int) -> Drawn:
    """100 words of 100,000 a row, frequent and rare ones; a fifth of them are words of its class, of 20."""
    random = np.random.default_rng(seed)
    columns, length = 100_000, 100
    share = np.arange(1, columns + 1) ** -0.8
    reach = np.cumsum(share / share.sum())
    y = random.integers(0, CLASSES, rows)
    drawn = np.searchsorted(reach, random.random((rows, length))).clip(max=columns - 1)
    own = np.array([random.permutation(columns) for _ in range(CLASSES)])
    drawn[:, :20] = own[y[:, None], drawn[:, :20]]
    values = random.random(rows * length) + 0.1
    X = csr_matrix((values, (np.repeat(np.arange(rows), length), drawn.ravel())), shape=(rows, columns))
    X.sum_duplicates()
    return X, y


def indicators(rows: int, seed: int) -> Drawn:
    """20 categories of 300 values each (Zipf) as indicators, 5 classes."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, 301)
    codes = random.choice(300, (rows, 20), p=share / share.sum())
    score = random.normal(0, 1, (rows, 5))
    for c in range(20):
        score += random.normal(0, 0.7, (300, 5))[codes[:, c]]
    places = codes + 300 * np.arange(20)
    X = csr_matrix((np.ones(codes.size), (np.repeat(np.arange(rows), 20), places.ravel())), shape=(rows, 6000))
    return X, score.argmax(axis=1)


TABLES: dict[str, Callable[[int, int], Drawn]] = {"words": words, "indicators": indicators}
ROWS = 20_000
TEST = 6000


def measure(name: str, rows: int, repeats: int) -> list[str]:
    """Both libraries in turn; a line of a table each."""
    X, y = TABLES[name](rows + TEST, 0)
    X_test, y_test, X, y = X[rows:], y[rows:], X[:rows], y[:rows]
    lines = []
    for method in TREES:
        task = TableTask(method, TREES[method], *X.shape, len(np.unique(y)))
        taken: dict[str, list[tuple[float, float, float]]] = {OURS: [], SCIKIT_LEARN: []}
        for seed in range(repeats):
            for library, samples in taken.items():
                model = FACTORIES[library](task, 1, seed)
                _, fit, _ = timed(lambda model=model: model.fit(X, y), 1)
                said, predict, _ = timed(lambda model=model: model.predict(X_test), 1)
                samples.append((fit, predict, float(np.mean(said != y_test))))
        own = [median(sample[i] for sample in taken[OURS]) for i in range(2)]
        for library, samples in taken.items():
            times = [median(sample[i] for sample in samples) for i in range(2)]
            ratios = ["" if library == OURS else f" ({a / b:.1f} ×)" for a, b in zip(times, own, strict=True)]
            peak = json.loads(_peak(name, rows, method, library))
            error = 100 * mean(sample[2] for sample in samples)
            lines.append(
                f"| {name} ({X.shape[0]:,} × {X.shape[1]:,}) | {method} | {library} | {times[0]:.3g} s{ratios[0]} | "
                f"{1e3 * times[1]:.3g} ms{ratios[1]} | {peak['peak']:.2f} | {peak['model']:.2f} | {error:.2f} % |"
            )
    return lines


def _peak(name: str, rows: int, method: str, library: str) -> str:
    command = [sys.executable, "-m", "benchmarks.scattered", name, "--peak", str(rows), method, library]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def peak_here(name: str, rows: int, method: str, library: str) -> dict[str, float]:
    """The matrix and what fitting adds to it at most, and the model, as multiples of the matrix."""
    X, y = TABLES[name](rows, 0)
    task = TableTask(method, TREES[method], *X.shape, CLASSES)
    small = FACTORIES[library](TableTask(method, 2, 100, X.shape[1], CLASSES), 1, 0)
    small.fit(X[:100], y[:100])
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    model = FACTORIES[library](task, 1, 0)
    del small
    with contextlib.suppress(OSError, AttributeError):
        # What making the data has left to the allocator would hide what fitting takes.
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    forget_peak()
    before = peak_bytes()
    model.fit(X, y)
    return {"peak": 1 + (peak_bytes() - before) / size, "model": len(pickle.dumps(model)) / size}


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scattered", description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="default: both")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows; small: does everything run?")
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    warnings.filterwarnings("ignore")
    if asked.peak:
        rows, method, library = asked.peak
        print(json.dumps(peak_here(asked.tables[0], int(rows), method, library)))
        return
    print("| table | method | library | fit | predict | peak / matrix | model / matrix | test error |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for name in asked.tables or TABLES:
        print("\n".join(measure(name, max(200, round(asked.share * ROWS)), asked.repeats)), flush=True)


if __name__ == "__main__":
    main()
