"""Forests and bagging on tables like those of users, against the libraries that they use.

    python -m benchmarks.everyday [TABLE ...] [--repeats N] [--threads N] [--peers NAME ...] [--out FILE]

All libraries run in turn on the same rows, each repetition with another seed: a forest of 100 trees, and bagging of 10
(for libraries without bagging a forest that tries all columns). conjunto gets the DataFrame as it is, the others an
array in which categories and missing values are numbers. With one thread CPU time counts, with more elapsed time.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks.measure import timed
from benchmarks.peers import FACTORIES, OURS, installed
from benchmarks.tables import HEADLINE, TABLES, Table, make_table

METHODS = ("forest", "bagging")
TREES = {"forest": 100, "bagging": 10}
ONE_ROW_CALLS = 50


@dataclass(frozen=True)
class TableTask:
    """What the factories of `peers` ask of a task."""

    method: str
    trees: int
    rows: int
    columns: int
    classes: int


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
    task = TableTask(method, TREES[method], *table.X.shape, len(np.unique(table.y)))
    tallies = {name: Tally() for name in libraries}

    def seconds(work: Callable[[], Any]) -> float:
        return timed(work, threads)[1 if threads == 1 else 2]

    for seed in range(repeats):
        for name, tally in tallies.items():
            X, X_test = (table.X, table.X_test) if name == OURS else (table.numbers, table.test_numbers)
            model, one = FACTORIES[name](task, threads, seed), X_test[:1]
            tally.fit.append(seconds(lambda model=model, X=X: model.fit(X, table.y)))
            tally.error.append(100 * float(np.mean(model.predict(X_test) != table.y_test)))
            tally.predict.append(min(seconds(lambda model=model, X=X_test: model.predict(X)) for _ in range(3)))
            calls = seconds(lambda model=model, one=one: [model.predict(one) for _ in range(ONE_ROW_CALLS)])
            tally.one_row.append(calls / ONE_ROW_CALLS)
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
    parser.add_argument("--peers", nargs="+", choices=[name for name in FACTORIES if name != OURS])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows; small: does everything run?")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the lines")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every repetition")
    asked = parser.parse_args(given)
    names = asked.tables or list(HEADLINE)
    if unknown := [name for name in names if name not in TABLES]:
        parser.error(f"no such table: {', '.join(unknown)}; there are {', '.join(TABLES)}")
    warnings.filterwarnings("ignore")
    there, _ = installed()
    libraries = [name for name in there if name == OURS or not asked.peers or name in asked.peers]
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
