"""Martínez Muñoz (2006), cuadro 5.10: the time to order 50, …, 1600 trees on waveform, as growth.

The machine of the thesis is gone; what can be compared is how the time grows with the number of trees.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from conjunto.experiments.reproduce.martinez_5 import ORDERINGS as NAMES
from conjunto.experiments.reproduce.martinez_5 import RUNS
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.reproduce.verdicts import Conclusion, Line
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method, Source
from conjunto.experiments.splits.protocols import Protocol

KEYS = ("angle", "margin_distance")
TREES = (50, 100, 200, 400, 800, 1600)
NAME = "waveform"
# The least of a few: what other programs do meanwhile only adds to it.
REPEATS = 3
DEPARTURES = (
    "times are divided by those of 50 trees: neither the machine nor the program is that of the thesis",
    "the trees are not pruned: the time to order their votes does not depend on it, and growing them takes a tenth",
    "the votes are known before the clock starts",
)


class OrderingClock(ClassifierMixin, BaseEstimator):
    """Bagging whose members are ordered after the fit, for the time that this takes (`ordering_seconds_`)."""

    def __init__(self, ordering: str = "orientation", n_estimators: int = 50, random_state: Any = None) -> None:
        self.ordering = ordering
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> OrderingClock:
        """Fit the members and order them by their votes on the same rows."""
        from conjunto.ensembles.bagging import BaggingClassifier
        from conjunto.ordering import ORDERINGS

        self.bagging_ = BaggingClassifier(n_estimators=self.n_estimators, random_state=self.random_state).fit(X, y)
        self.classes_ = self.bagging_.classes_
        votes, order = self.bagging_.votes(X), ORDERINGS[self.ordering]
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            order(votes, y)
            seconds.append(time.perf_counter() - start)
        self.ordering_seconds_ = min(seconds)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """What all members say; their order does not matter."""
        return np.asarray(self.bagging_.predict(X))

    def __len__(self) -> int:
        return len(self.bagging_)


def experiment() -> Experiment:
    """The experiment behind cuadro 5.10."""
    methods = tuple(
        Method(
            f"{key}-{trees}",
            _label(key, trees),
            estimator=OrderingClock(NAMES[key][1], trees),
            seed_as=_label(KEYS[0], 50),
        )
        for key in KEYS
        for trees in TREES
    )
    source = Source(NAME, train=300, test=100)
    return Experiment(
        (source,), methods, Protocol("holdout", RUNS), ("ordering-seconds", "error"), name="martinez-5.10"
    )


def table_5_10(
    results: Results, datasets: list[str], skipped: Mapping[str, str]
) -> tuple[list[Line], list[Conclusion]]:
    """Time to order, in units of the time for 50 trees."""
    # Medians: an interruption of a few milliseconds would decide a mean.
    seconds = results.scores(NAME, "ordering-seconds").median()
    runs = int(results.scores(NAME, "ordering-seconds").notna().sum().min())
    published = {(row["method"], int(row["T"])): float(row["time_s"]) for row in read_published("martinez-5.10")}
    lines = []
    for key in KEYS:
        for trees in TREES[1:]:
            theirs = published[key, trees] / published[key, TREES[0]]
            ours = float(seconds[_label(key, trees)] / seconds[_label(key, TREES[0])])
            # Another program: twice as much, or half, is called a difference.
            verdict = "agrees" if 0.5 <= ours / theirs <= 2 else "differs"
            line = Line(NAME, f"{_label(key, trees)}, times that of 50", theirs, ours, runs=runs, verdict=verdict)
            milliseconds = 1000 * float(seconds[_label(key, trees)])
            lines.append(
                replace(line, published_text=f"{theirs:.1f}", ours_text=f"{ours:.1f} ({milliseconds:.2g} ms)")
                if runs
                else Line(NAME, line.column, theirs, reason="it was not run")
            )
    # The exponent between the two largest, where fixed costs weigh least.
    growth = {
        key: math.log(seconds[_label(key, TREES[-1])] / seconds[_label(key, TREES[-3])]) / math.log(4) for key in KEYS
    }
    return lines, [
        Conclusion(
            "orientation grows about linearly from 400 to 1600 trees (an exponent below 1.5)",
            growth["angle"] < 1.5 if runs else None,
            f"exponent {growth['angle']:.2f}",
        ),
        Conclusion(
            "margin distance grows about quadratically from 400 to 1600 trees (an exponent from 1.5 to 2.5)",
            1.5 <= growth["margin_distance"] <= 2.5 if runs else None,
            f"exponent {growth['margin_distance']:.2f}",
        ),
    ]


def _label(key: str, trees: int) -> str:
    return f"{NAMES[key][0]} of {trees}"
