"""Trees and forests by other criteria, under constraints and of several targets, against scikit-learn.

    python -m benchmarks.criteria [--repeats N] [--share S]

Both libraries run in turn on the same rows, one thread, CPU time, the median of the repeats. Columns are real numbers,
or whole numbers with ties, a tenth of them missing; targets have outliers.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree

import conjunto
from benchmarks.measure import timed

ROWS = 100_000
COLUMNS = 10
FEW = 20_000


def table(rows: int, whole: bool, seed: int = 0) -> tuple[Any, Any]:
    """Rows, and a target with a heavy tail."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, COLUMNS))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * random.standard_t(2, size=rows)
    if whole:
        X = np.rint(5 * X)
        X[random.random(X.shape) < 0.1] = np.nan
        y = np.rint(4 * y)
    return X, y


def counts(y: Any) -> Any:
    """Targets that a Poisson distribution may give."""
    return np.random.default_rng(1).poisson(np.exp(np.clip(y / 2, -3, 3)))


def labels(X: Any, y: Any) -> Any:
    """Three targets of 2, 3 and 6 classes."""
    filled = np.nan_to_num(X)
    signals = (y, y + filled[:, 2], y - 2 * filled[:, 3])
    cuts = [np.quantile(signal, np.arange(1, k) / k) for signal, k in zip(signals, (2, 3, 6), strict=True)]
    return np.stack([np.digitize(signal, cut) for signal, cut in zip(signals, cuts, strict=True)], axis=1)


Task = tuple[str, str, dict[str, Any], Callable[[Any, Any], Any]]
RISING = [1, -1, *[0] * (COLUMNS - 2)]
TASKS: list[Task] = [
    ("absolute error, fully grown", "tree", {"criterion": "absolute_error"}, lambda X, y: y),
    ("absolute error, leaves of 20", "tree", {"criterion": "absolute_error", "min_samples_leaf": 20}, lambda X, y: y),
    ("Poisson, leaves of 20", "tree", {"criterion": "poisson", "min_samples_leaf": 20}, lambda X, y: counts(y)),
    (
        "least squares, constraints, leaves of 20",
        "tree",
        {"monotonic_cst": RISING, "min_samples_leaf": 20},
        lambda X, y: y,
    ),
    ("absolute error, forest of 10", "forest", {"criterion": "absolute_error", "min_samples_leaf": 5}, lambda X, y: y),
    ("three targets of values, forest of 10", "forest", {}, lambda X, y: np.stack([y, -y, y**2], axis=1)),
    ("targets of 2, 3 and 6 classes, forest of 10", "classes", {}, labels),
]


def models(kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The same model of both libraries."""
    given = {**parameters, "random_state": 0}
    if kind == "tree":
        return {
            "conjunto": conjunto.CARTRegressor(**given),
            "scikit-learn": sklearn.tree.DecisionTreeRegressor(**given),
        }
    name = "RandomForestClassifier" if kind == "classes" else "RandomForestRegressor"
    given |= {"n_estimators": 10, "n_jobs": 1}
    return {"conjunto": getattr(conjunto, name)(**given), "scikit-learn": getattr(sklearn.ensemble, name)(**given)}


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.criteria", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows; small: does everything run?")
    asked = parser.parse_args(given)
    warnings.filterwarnings("ignore")
    print("| what | rows | columns | conjunto | scikit-learn |")
    print("|---|---:|---|---:|---:|")
    for what, kind, parameters, target in TASKS:
        rows = max(200, round(asked.share * (ROWS if kind == "tree" else FEW)))
        for whole in (False, True):
            X, y = table(rows, whole)
            answers = target(X, y)
            taken: dict[str, list[float]] = {"conjunto": [], "scikit-learn": []}
            for _ in range(asked.repeats):
                for library, model in models(kind, parameters).items():
                    taken[library].append(timed(lambda model=model, X=X, answers=answers: model.fit(X, answers), 1)[1])
            ours, theirs = median(taken["conjunto"]), median(taken["scikit-learn"])
            columns = "whole, missing" if whole else "real"
            print(
                f"| {what} | {rows:,} | {columns} | {ours:.3g} s | {theirs:.3g} s ({theirs / ours:.1f} ×) |", flush=True
            )


if __name__ == "__main__":
    main()
