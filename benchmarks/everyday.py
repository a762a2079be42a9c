"""Forests and bagging on tables like those of users, against the libraries that they use.

    python -m benchmarks.everyday [TABLE ...] [--repeats N] [--threads N] [--peers NAME ...] [--out FILE]

All libraries run in turn on the same rows, each repetition with another seed: a forest of 100 trees, and bagging of 10
(for libraries without bagging a forest that tries all columns). conjunto gets the DataFrame as it is, the others an
array in which categories and missing values are numbers. With one thread CPU time counts, with more elapsed time.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from math import exp, log
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import sklearn.ensemble
from threadpoolctl import threadpool_limits

import conjunto
from benchmarks.tables import HEADLINE, TABLES, Table, make_table

OURS = "conjunto"
METHODS = ("forest", "bagging")
TREES = {"forest": 100, "bagging": 10}
ONE_ROW_CALLS = 50


def _ours(method: str, threads: int, seed: int, columns: int) -> Any:
    settings = {"n_estimators": TREES[method], "n_jobs": threads, "random_state": seed}
    return (conjunto.RandomForestClassifier if method == "forest" else conjunto.BaggingClassifier)(**settings)


def _scikit_learn(method: str, threads: int, seed: int, columns: int) -> Any:
    settings = {"n_estimators": TREES[method], "n_jobs": threads, "random_state": seed}
    library = sklearn.ensemble
    return (library.RandomForestClassifier if method == "forest" else library.BaggingClassifier)(**settings)


def _intelex(method: str, threads: int, seed: int, columns: int) -> Any:
    features = "sqrt" if method == "forest" else None
    settings = {"n_estimators": TREES[method], "n_jobs": threads, "random_state": seed}
    return import_module("sklearnex.ensemble").RandomForestClassifier(max_features=features, **settings)


def _lightgbm(method: str, threads: int, seed: int, columns: int) -> Any:
    return import_module("lightgbm").LGBMClassifier(
        boosting_type="rf",
        n_estimators=TREES[method],
        num_leaves=4096,
        min_child_samples=1,
        min_child_weight=0.0,
        subsample=0.632,
        subsample_freq=1,
        feature_fraction_bynode=max(1, int(np.sqrt(columns))) / columns if method == "forest" else 1.0,
        n_jobs=threads,
        random_state=seed,
        verbose=-1,
    )


class Ydf:
    """The random forest of YDF, in scikit-learn's words."""

    def __init__(self, method: str, threads: int, seed: int, columns: int) -> None:
        self.library = import_module("ydf")
        self.library.verbose(0)
        self.settings = {
            "num_trees": TREES[method],
            "num_threads": threads,
            "random_seed": seed,
            "num_candidate_attributes": 0 if method == "forest" else -1,
            "min_examples": 1,
            "max_depth": -1,
            "compute_oob_performances": False,
        }

    def fit(self, X: Any, y: Any) -> Ydf:
        """Fit on columns by number."""
        self.classes = np.unique(y)
        columns = {f"c{i}": X[:, i] for i in range(X.shape[1])}
        learner = self.library.RandomForestLearner(label="y", **self.settings)
        self.model = learner.train({**columns, "y": y.astype(str)})
        return self

    def predict(self, X: Any) -> Any:
        """The most likely class."""
        shares = self.model.predict({f"c{i}": X[:, i] for i in range(X.shape[1])})
        names = self.model.label_classes()
        codes = (shares > 0.5).astype(int) if shares.ndim == 1 else shares.argmax(axis=1)
        return np.array(names)[codes].astype(self.classes.dtype)


LIBRARIES: dict[str, tuple[str, Callable[[str, int, int, int], Any]]] = {
    OURS: ("conjunto", _ours),
    "scikit-learn": ("sklearn", _scikit_learn),
    "scikit-learn-intelex": ("sklearnex", _intelex),
    "LightGBM": ("lightgbm", _lightgbm),
    "YDF": ("ydf", Ydf),
}


@dataclass
class Tally:
    """What was measured of one library on one table by one method, a value per repetition."""

    fit: list[float] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)
    one_row: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)

    def of(self, figure: str) -> float:
        """The median, of errors the mean."""
        values = getattr(self, figure)
        return mean(values) if figure == "error" else median(values)


Measured = dict[tuple[str, str], dict[str, Tally]]


def measure(table: Table, method: str, libraries: Sequence[str], repeats: int, threads: int) -> dict[str, Tally]:
    """All libraries in turn."""
    clock = time.process_time if threads == 1 else time.perf_counter
    tallies = {name: Tally() for name in libraries}

    def timed(work: Callable[[], Any]) -> tuple[float, Any]:
        start = clock()
        result = work()
        return clock() - start, result

    for seed in range(repeats):
        for name, tally in tallies.items():
            X, X_test = (table.X, table.X_test) if name == OURS else (table.numbers, table.test_numbers)
            one = X_test[:1]
            with threadpool_limits(threads):
                model = LIBRARIES[name][1](method, threads, seed, X.shape[1])
                seconds, fitted = timed(lambda model=model, X=X: model.fit(X, table.y))
                tally.fit.append(seconds)
                answer = fitted.predict(X_test)
                tally.predict.append(min(timed(lambda fitted=fitted, X=X_test: fitted.predict(X))[0] for _ in range(3)))
                calls = timed(lambda fitted=fitted, one=one: [fitted.predict(one) for _ in range(ONE_ROW_CALLS)])
                tally.one_row.append(calls[0] / ONE_ROW_CALLS)
            tally.error.append(100 * float(np.mean(answer != table.y_test)))
    return tallies


def geometric(values: Sequence[float]) -> float:
    """The geometric mean."""
    return exp(mean(map(log, values))) if values else float("nan")


def lines(shapes: dict[str, str], measured: Measured, libraries: Sequence[str]) -> list[str]:
    """Geometric means first, then a table of every figure."""
    peers = [name for name in libraries if name != OURS]
    headline = {key: tallies for key, tallies in measured.items() if key[0] in HEADLINE} or measured
    out = []
    for peer in peers:
        parts = []
        for figure in ("fit", "predict", "one_row"):
            ratios = [tallies[peer].of(figure) / tallies[OURS].of(figure) for tallies in headline.values()]
            parts.append(f"{figure.replace('_', ' ')} {geometric(ratios):.1f} × (least {min(ratios):.1f} ×)")
        out.append(f"- {peer}: {', '.join(parts)}")
    out += [
        "",
        "| table | method | library | fit | predict | one row | test error |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for (name, method), tallies in measured.items():
        for library, tally in tallies.items():
            cells = []
            for figure, unit, size in (("fit", "s", 1.0), ("predict", "ms", 1e-3), ("one_row", "ms", 1e-3)):
                value = tally.of(figure)
                ratio = "" if library == OURS else f" ({value / tallies[OURS].of(figure):.1f} ×)"
                cells.append(f"{value / size:.3g} {unit}{ratio}")
            about = f"{name} ({shapes[name]})"
            out.append(f"| {about} | {method} | {library} | {' | '.join(cells)} | {tally.of('error'):.2f} % |")
    return out


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.everyday", description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"default: {', '.join(HEADLINE)}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", nargs="+", choices=[name for name in LIBRARIES if name != OURS])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows; small: does everything run?")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the lines")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every repetition")
    asked = parser.parse_args(given)
    names = asked.tables or list(HEADLINE)
    if unknown := [name for name in names if name not in TABLES]:
        parser.error(f"no such table: {', '.join(unknown)}; there are {', '.join(TABLES)}")
    warnings.filterwarnings("ignore")
    wanted = asked.peers or [name for name in LIBRARIES if name != OURS]
    libraries = [OURS, *(name for name in wanted if find_spec(LIBRARIES[name][0]))]
    shapes: dict[str, str] = {}
    measured: Measured = {}
    for name in names:
        try:
            table = make_table(name, asked.share)
        except (FileNotFoundError, ValueError) as error:
            print(f"skipped: {name}: {error}")
            continue
        shapes[name] = table.shape
        for method in asked.methods:
            measured[name, method] = measure(table, method, libraries, asked.repeats, asked.threads)
        print("\n".join(lines(shapes, {k: v for k, v in measured.items() if k[0] == name}, libraries)), flush=True)
    text = "\n".join(lines(shapes, measured, libraries))
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n", encoding="utf-8")
    if asked.json:
        told = {f"{name}, {method}": {k: vars(v) for k, v in t.items()} for (name, method), t in measured.items()}
        asked.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
