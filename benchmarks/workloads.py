"""The named workloads: what is fitted or predicted, on which data, and the bar that conjunto has to pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1

from conjunto.datasets import make_twonorm, make_waveform

Method = Literal["bagging", "switching", "forest", "binned", "regression", "boosting", "pruned", "igp"]

# Share of labels that class-switching changes, in units of (K - 1) / K.
P_HAT = 0.6


@dataclass(frozen=True)
class Task:
    """An ensemble to fit: every library builds its own version of it.

    Trees are fully grown, but for boosting: stumps, and in regression trees of depth 3. `pruned` is bagging of trees
    pruned by 10-fold cross-validation, `binned` a forest that cuts columns between 255 groups of values.
    """

    method: Method
    data: Literal["twonorm", "waveform", "friedman"]
    rows: int
    trees: int

    @property
    def classes(self) -> int:
        """Number of classes; 0 in regression."""
        return {"twonorm": 2, "waveform": 3, "friedman": 0}[self.data]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return 21 if self.data == "waveform" else 20

    @property
    def switched(self) -> int:
        """How many labels class-switching changes for each member."""
        return round(P_HAT * (self.classes - 1) / self.classes * self.rows)


@dataclass(frozen=True)
class Bar:
    """The least ratio (peer's time divided by ours) that counts as success."""

    peer: str
    at_least: float


@dataclass(frozen=True)
class Workload:
    """A task and what is measured about it.

    `fit` times fitting, `predict` one prediction of all test rows, `one` many predictions of one row each, `growth`
    how our time grows with the number of rows, `memory` the size of models and the peak while fitting.
    `measured_trees` is set where scikit-learn would take too long with all of them: every library then fits so many.
    `beside` is another method of ours that is measured with the same data and number of trees.
    """

    name: str
    kind: Literal["fit", "predict", "one", "growth", "memory"]
    task: Task
    bars: tuple[Bar, ...] = ()
    measured_trees: int | None = None
    test_rows: int = 10_000
    calls: int = 200
    one_thread_only: bool = False
    beside: Method | None = None

    @property
    def measured(self) -> Task:
        """The task as it is timed."""
        return self.task if self.measured_trees is None else replace(self.task, trees=self.measured_trees)

    @property
    def note(self) -> str:
        """What the reader has to know about the scale, or nothing."""
        return f"{self.measured_trees} of {self.task.trees} trees" if self.measured_trees else ""

    def quick(self) -> Workload:
        """The same, so small that it only shows that everything runs."""
        rows = 20_000 if self.kind == "growth" else min(self.task.rows, 1000)
        small = replace(self.task, rows=rows, trees=max(2, self.task.trees // 50))
        measured = None if self.measured_trees is None else max(2, small.trees // 2)
        return replace(self, task=small, measured_trees=measured, test_rows=2000, calls=5)


def sk(at_least: float) -> Bar:
    """A bar against scikit-learn."""
    return Bar("scikit-learn", at_least)


def small_task(method: Method, data: Literal["twonorm", "waveform"]) -> Task:
    """1000 trees on 300 rows, the size of the experiments in the literature."""
    return Task(method, data, rows=300, trees=1000)


_FOREST = Task("forest", "twonorm", rows=10_000, trees=100)
_BIG_FOREST = Task("forest", "twonorm", rows=100_000, trees=100)
_BAG = Task("bagging", "twonorm", rows=10_000, trees=50)
_BIG_BAG = Task("bagging", "twonorm", rows=100_000, trees=50)
_BIG_BOOST = Task("boosting", "twonorm", rows=20_000, trees=1000)
_PRUNED = Task("pruned", "waveform", rows=300, trees=200)
_SWITCHING_BARS = (sk(35), Bar("R randomForest", 10))

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("bagging-twonorm", "fit", small_task("bagging", "twonorm"), (sk(50),)),
        Workload("bagging-waveform", "fit", small_task("bagging", "waveform"), (sk(50),)),
        Workload("switching-twonorm", "fit", small_task("switching", "twonorm"), _SWITCHING_BARS),
        Workload("switching-waveform", "fit", small_task("switching", "waveform"), _SWITCHING_BARS),
        Workload("pruned-waveform", "fit", _PRUNED, (sk(40), Bar("R rpart", 10))),
        Workload("igp-waveform", "fit", Task("igp", "waveform", rows=300, trees=100), beside="pruned"),
        Workload("forest-10k", "fit", _FOREST, (sk(12),)),
        Workload("forest-100k", "fit", _BIG_FOREST, (sk(16),), measured_trees=20),
        Workload("forest-growth", "growth", Task("forest", "twonorm", rows=10_000_000, trees=8)),
        Workload("binned-growth", "growth", Task("binned", "twonorm", rows=10_000_000, trees=8)),
        Workload("bagging-10k", "fit", _BAG, (sk(35),)),
        Workload("bagging-100k", "fit", _BIG_BAG, (sk(50),), measured_trees=10),
        Workload("predict-small", "predict", small_task("bagging", "twonorm"), (sk(10),), test_rows=100_000),
        Workload("predict-deep", "predict", _BIG_FOREST, (sk(5),), test_rows=100_000),
        Workload("predict-one", "one", _FOREST, (sk(50),), one_thread_only=True),
        Workload("regression", "fit", Task("regression", "friedman", rows=20_000, trees=100), (sk(8),)),
        Workload("boosting-twonorm", "fit", small_task("boosting", "twonorm"), (sk(25),), one_thread_only=True),
        Workload("boosting-waveform", "fit", small_task("boosting", "waveform"), (sk(25),), one_thread_only=True),
        Workload("boosting-20k", "fit", _BIG_BOOST, (sk(25),), measured_trees=100, one_thread_only=True),
        Workload("boosting-regression", "fit", Task("boosting", "friedman", rows=2000, trees=50), one_thread_only=True),
        Workload(
            "predict-stumps", "predict", small_task("boosting", "twonorm"), test_rows=100_000, one_thread_only=True
        ),
        Workload("memory", "memory", _BIG_FOREST, one_thread_only=True),
    )
}


@dataclass(frozen=True)
class Data:
    """Training rows and a fixed set of test rows."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]

    def error(self, predicted: NDArray[Any]) -> float:
        """Share of wrong test rows, or the root mean squared error in regression."""
        if self.y_test.dtype.kind == "f":
            return float(np.sqrt(np.mean((predicted - self.y_test) ** 2)))
        return float(np.mean(predicted != self.y_test))

    def noise(self, error: float) -> float:
        """Differences of errors up to this are put down to chance: three standard deviations, or 5 % of a RMSE."""
        if self.y_test.dtype.kind == "f":
            return 0.05 * error
        return 3 * float(np.sqrt(2 * error * (1 - error) / len(self.y_test)))


def make_data(task: Task, test_rows: int) -> Data:
    """Draw the data of a task; always the same."""
    if task.data == "friedman":
        train = make_friedman1(task.rows, n_features=task.columns, noise=1.0, random_state=0)
        return Data(*train, *make_friedman1(test_rows, n_features=task.columns, noise=1.0, random_state=1))
    make = make_twonorm if task.data == "twonorm" else make_waveform
    return Data(*make(task.rows, random_state=0), *make(test_rows, random_state=1))
