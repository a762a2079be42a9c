"""One cell: fit one method on one partition of one data set and measure it.

The outcome of a cell depends on the experiment alone, not on who runs it, when, or what else is run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes
from conjunto.datasets import Dataset
from conjunto.experiments.answers import Answers, HeldOut
from conjunto.experiments.making import make, with_threads
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.measures.scored import Scored, one_per_row, rarest
from conjunto.experiments.sources import DataChangedError, Sources, draw, drawn_sizes, draws_afresh, random_of, seeds_of
from conjunto.experiments.spec import Cell, Experiment, Method
from conjunto.problem import select
from conjunto.pruning.estimators import PrunedClassifier, PrunedRegressor
from conjunto.pruning.measuring import stored_bytes

Measured = tuple[dict[str, float], dict[int, dict[str, float]]]
"""Measures of the whole ensemble, and by number of members."""
# The confusion matrix of more classes than this is not kept: nobody would read it.
MOST_CONFUSED_CLASSES = 60


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell: the row that a store keeps."""

    cell: Cell
    status: str
    """"done" or "failed"."""
    measures: dict[str, float] = field(default_factory=dict)
    nested: dict[int, dict[str, float]] = field(default_factory=dict)
    """Measures by number of members."""
    confusion: list[tuple[int, int, int]] = field(default_factory=list)
    """(true class, predicted class, count), by class code."""
    fit_seconds: float = math.nan
    predict_seconds: float = math.nan
    model_bytes: int = 0
    members: int = 0
    n_train: int = 0
    n_test: int = 0
    seed: int = 0
    warnings: tuple[str, ...] = ()
    traceback: str = ""
    seconds: float = math.nan
    """All that the cell took: what the next one like it will take."""
    threads: int = 0
    """How many threads the model could use."""
    tested: HeldOut | None = field(default=None, compare=False, repr=False)
    answers: Answers | None = field(default=None, compare=False, repr=False)
    """What the model said about the rows tested, where that is kept."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Training and test rows of one repetition."""

    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    classes: NDArray[Any] | None
    n_train: int
    """Different training rows: a bootstrap sample repeats some."""
    tested: HeldOut

    @staticmethod
    def of(data: Dataset, inside: NDArray[Any], outside: NDArray[Any]) -> Partition:
        """Rows of a table by their positions."""
        y = data.y.to_numpy()
        classes, counts = np.unique(y, return_counts=True) if data.task == "classification" else (None, None)
        tested = _tested(y[inside], y[outside], classes, counts, outside)
        rows = select(data.X, inside), y[inside], select(data.X, outside), y[outside]
        return Partition(*rows, classes, len(np.unique(inside)), tested)

    @staticmethod
    def drawn(train: Dataset, test: Dataset) -> Partition:
        """Rows that were drawn for this partition alone; of two classes the last is the positive one."""
        y_train, y_test = train.y.to_numpy(), test.y.to_numpy()
        classes = np.union1d(y_train, y_test) if train.task == "classification" else None
        tested = _tested(y_train, y_test, classes, None, np.empty(0, dtype=np.intp))
        return Partition(train.X, y_train, test.X, y_test, classes, len(y_train), tested)


def _tested(
    y_train: NDArray[Any],
    y_test: NDArray[Any],
    classes: NDArray[Any] | None,
    counts: NDArray[Any] | None,
    rows: NDArray[Any],
) -> HeldOut:
    """The test rows as a store keeps them; the rarest class, by its count in the whole table, is the positive one."""
    if classes is None:
        return HeldOut(rows, y_test.astype(np.float64), np.array([float(np.mean(y_train))]))
    codes = Classes(classes)
    prior = np.bincount(codes.encode(y_train), minlength=len(classes)) / len(y_train)
    positive = len(classes) - 1 if counts is None else rarest(counts)
    return HeldOut(rows, codes.encode(y_test).astype(np.intp), prior, positive)


class Bench:
    """Runs cells of one experiment; remembers the partition it worked on last.

    Parameters
    ----------
    experiment : Experiment
    sources : Sources, default=None
        The data sets of the experiment, where somebody has opened them.
    keep_answers : bool, default=True
        Whether outcomes hold what models said about the test rows.
    """

    def __init__(self, experiment: Experiment, sources: Sources | None = None, *, keep_answers: bool = True) -> None:
        self.experiment = experiment
        self.threads = threads_of_a_model()
        self._keep_answers = keep_answers
        self._sources = sources or Sources(experiment)
        self._partition: tuple[tuple[str, int], Partition] | None = None
        self._apparent: dict[tuple[str, str], Measured] = {}

    def run(self, cell: Cell) -> Outcome:
        """Run a cell; what goes wrong in it becomes part of the outcome."""
        chosen = self.experiment.method(cell.method)
        seed = cell_seed(self.experiment.seed, cell.dataset, cell.repetition, chosen.seed_as or chosen.label)
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcome = self._run(cell, seed)
            except DataChangedError:  # nothing that is run from here on would belong to the results so far
                raise
            except Exception:  # recorded whole; the run goes on with the other cells
                outcome = Outcome(cell, "failed", traceback=traceback.format_exc())
        messages = dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught)
        seconds = time.perf_counter() - start
        return replace(outcome, seed=seed, warnings=tuple(messages), seconds=seconds, threads=self.threads)

    def data(self, name: str) -> Dataset:
        """The data set of this name."""
        return self._sources.open(name).data

    def partition(self, name: str, repetition: int) -> Partition:
        """The rows of one repetition, the same for all methods."""
        if self._partition is None or self._partition[0] != (name, repetition):
            self._partition = ((name, repetition), self._cut(name, repetition))
        return self._partition[1]

    def _cut(self, name: str, repetition: int) -> Partition:
        source, protocol = self.experiment.source(name), self.experiment.protocol
        if draws_afresh(source) and protocol.kind == "holdout":
            n_train, n_test = drawn_sizes(source, protocol)
            random = random_of(self.experiment.seed, name, repetition)
            return Partition.drawn(draw(source, random, n_samples=n_train), draw(source, random, n_samples=n_test))
        opened = self._sources.open(name)
        inside, outside = protocol.split(
            opened.data.y.to_numpy(),
            repetition,
            seeds_of(self.experiment.seed, name),
            source.train,
            source.test,
            classification=opened.data.task == "classification",
            groups=opened.groups,
            times=opened.times,
        )
        return Partition.of(opened.data, inside, outside)

    def _run(self, cell: Cell, seed: int) -> Outcome:
        part = self.partition(cell.dataset, cell.repetition)
        method = self.experiment.method(cell.method)
        task = "regression" if part.classes is None else "classification"
        model = with_threads(build(method, task, seed), self.threads)
        start = time.perf_counter()
        model.fit(part.X_train, part.y_train)
        fitted = time.perf_counter()
        positive = part.tested.positive
        test = Scored.of(model, part.X_test, part.y_test, part.classes, positive)
        done = time.perf_counter()
        answers = Answers.of(test) if self._keep_answers else None
        if answers is not None:  # what is measured is what is kept
            test = replace(test, said=answers.proba)
        training = partial(Scored.of, model, part.X_train, part.y_train, part.classes, positive)
        measured = self._measure(test, training, method, task)
        share = self.experiment.protocol.apparent_share
        if share:
            measured = _mix(measured, self._apparent_of(cell.dataset, method, task), share)
        return Outcome(
            cell,
            "done",
            *measured,
            confusion(test) if part.classes is not None else [],
            fitted - start,
            done - fitted,
            stored_bytes(model),
            _members(model),
            part.n_train,
            len(part.y_test),
            tested=part.tested,
            answers=answers,
        )

    def _measure(self, scored: Scored, training: Callable[[], Scored], method: Method, task: str) -> Measured:
        """The measures on the rows scored, and those that are taken on the training rows, if any are asked for."""
        names = self.experiment.measures_of(task)
        sizes = resolve_sizes(method.sizes, _members(scored.model))
        measured = _take_measures(scored, sizes, [name for name in names if not MEASURES[name].training])
        of_training = [name for name in names if MEASURES[name].training]
        return _join(measured, _take_measures(training(), sizes, of_training)) if of_training else measured

    def _apparent_of(self, dataset: str, method: Method, task: str) -> Measured:
        """The measures of the method fitted and scored on all rows, the same for every repetition."""
        if (dataset, method.label) not in self._apparent:
            data = self.data(dataset)
            y = data.y.to_numpy()
            seed = cell_seed(self.experiment.seed, dataset, "all", method.seed_as or method.label)
            model = build(method, task, seed).fit(data.X, y)
            classes = np.unique(y) if task == "classification" else None
            scored = Scored.of(model, data.X, y, classes)
            self._apparent[dataset, method.label] = self._measure(scored, lambda: scored, method, task)
        return self._apparent[dataset, method.label]


def threads_of_a_model() -> int:
    """How many threads a model may use: all processors, or what the environment leaves to this process."""
    from joblib import cpu_count

    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(given)) if given.isdigit() else int(cpu_count())


def build(method: Method, task: str, seed: int) -> Any:
    """The unfitted estimator of a method, seeded."""
    if method.estimator is None:
        return make(method.name, task, method.parameters, seed)
    from sklearn.base import clone

    model = clone(method.estimator).set_params(**method.parameters)
    seeded = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
    # Every nested estimator has a seed of its own: members with one seed would all be the same.
    return model.set_params(**{name: seed if name == "random_state" else cell_seed(seed, name) for name in seeded})


def cell_seed(seed: int, *parts: Any) -> int:
    """A seed for one cell, from everything that names it."""
    digest = hashlib.sha256(json.dumps([seed, *parts]).encode()).digest()
    return int.from_bytes(digest[:4], "little") >> 1


def resolve_sizes(sizes: Iterable[int | float], members: int) -> list[int]:
    """Numbers of members, ascending, from counts and shares; those larger than the ensemble are left out."""
    counts = {max(1, round(size * members)) if isinstance(size, float) else size for size in sizes}
    return sorted(count for count in counts if count <= members)


def confusion(scored: Scored) -> list[tuple[int, int, int]]:
    """The cells of the confusion matrix that are not zero."""
    assert scored.classes is not None
    if len(scored.classes) > MOST_CONFUSED_CLASSES:
        return []
    predicted = Classes(scored.classes).encode(scored.predicted, who="the model predicts")
    pairs, counts = np.unique(np.stack([scored.codes, predicted]), axis=1, return_counts=True)
    return [(int(a), int(b), int(n)) for a, b, n in zip(*pairs, counts, strict=True)]


def _take_measures(scored: Scored, sizes: list[int], names: list[str]) -> Measured:
    """Measures of the whole ensemble and of its first members on the same rows."""
    return {name: MEASURES[name].of(scored) for name in names}, _nested(scored, sizes, names)


def _join(one: Measured, other: Measured) -> Measured:
    """Different measures of the same models, together."""
    return one[0] | other[0], {size: at | other[1][size] for size, at in one[1].items()}


def _nested(scored: Scored, sizes: list[int], names: list[str]) -> dict[int, dict[str, float]]:
    """The measures of the first members, from one pass over the stages."""
    if not sizes or not hasattr(scored.model, "staged_predict"):
        return {}
    staged = [name for name in names if MEASURES[name].staged]
    found = {}
    for size, predicted in enumerate(scored.model.staged_predict(scored.X), start=1):
        if size in sizes:
            at = replace(scored, predicted=one_per_row(predicted))
            found[size] = {name: MEASURES[name].of(at) for name in staged}
    return found


def _mix(test: Measured, apparent: Measured, share: float) -> Measured:
    """Measures on test rows, corrected by a share of those of a model fitted and scored on all rows."""

    def weigh(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
        # A measure on training rows estimates nothing else, so that there is nothing to correct.
        parts = {name: 0.0 if MEASURES[name].training else share for name in one}
        return {name: (1 - part) * one[name] + part * other[name] for name, part in parts.items()}

    return weigh(test[0], apparent[0]), {size: weigh(at, apparent[1][size]) for size, at in test[1].items()}


def _members(model: Any) -> int:
    """Members of an ensemble, as `staged_predict` goes through them."""
    if isinstance(model, PrunedClassifier | PrunedRegressor):
        model = model.estimator_  # the ensemble that it has kept; that of an ensemble is its base learner
    model = getattr(model, "steps", [(None, model)])[-1][1]  # the length of a pipeline is its number of steps
    if hasattr(model, "n_stages_"):
        return int(model.n_stages_)
    try:
        return len(model)
    except TypeError:
        return len(getattr(model, "estimators_", [model]))
