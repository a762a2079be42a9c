"""A forest of scikit-learn, the same forest after `from_sklearn`, and our own: bytes, latency, error.

    python -m benchmarks.exchange [DATA ...] [--trees N] [--repeats N]

scikit-learn gets ordinal codes for categories, ours the DataFrame. All run in turn on one thread; times are medians of
CPU time. Sizes are those of the files: `joblib.dump` compressed by zlib (level 3) for scikit-learn, which has no other,
and a model file (skops, compressed) for ours; in memory, the arrays of the trees. Data that are not bundled are looked
for in the folder that `CONJUNTO_DATA` names.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier as Theirs
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OrdinalEncoder

from conjunto import RandomForestClassifier, from_sklearn
from conjunto.datasets import load
from conjunto.model_file import Model, column_kinds, save_model

DATA = ("adult", "german", "hypothyroid-3163", "segment", "letter")


def timed(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """CPU time of one call in milliseconds, and what it returns."""
    start = time.process_time()
    result = work(*given)
    return 1000 * (time.process_time() - start), result


def least(work: Callable[..., Any], given: Any, calls: int) -> float:
    """The least CPU time of several calls: what disturbs a call only adds to it."""
    return min(timed(work, given)[0] for _ in range(calls))


def file_bytes(model: Any, X: Any) -> int:
    """The size of the file that a user would keep."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        if isinstance(model, Theirs):
            joblib.dump(model, path, compress=3)
        else:
            save_model(path, Model(model, column_kinds(X), "y", "classification"))
        return path.stat().st_size


def memory_bytes(model: Any) -> int:
    """The arrays of the trees."""
    if not isinstance(model, Theirs):
        return int(model.nbytes_)
    states = [tree.tree_.__getstate__() for tree in model.estimators_]
    return sum(state["nodes"].nbytes + state["values"].nbytes for state in states)


def measure(name: str, trees: int, repeats: int) -> list[str]:
    """One line of a table for each contestant."""
    data = load(name)
    texts = [column for column, kind in column_kinds(data.X).items() if kind == "category"]
    coded = data.X.copy()
    if texts:
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
        coded[texts] = encoder.fit_transform(data.X[texts])
    frames, answers = (data.X, coded.astype(np.float64)), data.y.to_numpy()
    told: dict[str, dict[str, list[float]]] = {}
    for repeat in range(repeats):
        part = train_test_split(*frames, answers, test_size=0.3, random_state=repeat, stratify=answers)
        X, X_test, Z, Z_test, y, y_test = part
        seconds, theirs = timed(Theirs(trees, random_state=repeat).fit, Z, y)
        own_seconds, ours = timed(RandomForestClassifier(trees, random_state=repeat).fit, X, y)
        converting, same = timed(from_sklearn, theirs)
        contestants = {
            "scikit-learn": (theirs, Z_test, seconds),
            "from_sklearn": (same, Z_test, converting),
            "conjunto": (ours, X_test, own_seconds),
        }
        for label, (model, rows, spent) in contestants.items():
            kept = told.setdefault(label, {})
            asked = rows.iloc[:1000]
            figures = {
                "fit": spent,
                "one": least(model.predict, rows.iloc[:1], 20),
                "batch": least(model.predict, asked, 5) * 1000 / len(asked),
                "error": 100 * float(np.mean(model.predict(rows) != y_test)),
                "file": file_bytes(model, rows) / 1e6,
                "memory": memory_bytes(model) / 1e6,
            }
            for figure, value in figures.items():
                kept.setdefault(figure, []).append(value)
    return [_line(name, data, label, kept, told["scikit-learn"]) for label, kept in told.items()]


def _line(name: str, data: Any, label: str, kept: dict[str, list[float]], theirs: dict[str, list[float]]) -> str:
    cells = [f"{name} ({len(data.X):,} × {data.X.shape[1]})", label]
    for figure, unit in (("fit", "ms"), ("file", "MB"), ("memory", "MB"), ("one", "ms"), ("batch", "ms")):
        value, base = median(kept[figure]), median(theirs[figure])
        ratio = "" if label == "scikit-learn" else f" ({base / value:.1f} ×)"
        cells.append(f"{value:.3g} {unit}{ratio}")
    error = np.mean(kept["error"])
    return f"| {' | '.join([*cells, f'{error:.2f} %'])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exchange", description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=DATA)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    print("| data | model | fit, or conversion | file | in memory | one row | 1000 rows | test error |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name in asked.data:
        for line in measure(name, asked.trees, asked.repeats):
            print(line, flush=True)


if __name__ == "__main__":
    main()
