"""One cell: fit one method on one partition of one data set and measure it.

What a cell gives depends on the experiment alone, not on who runs it, when, or beside what.
"""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import time
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.datasets import GENERATORS, Dataset, canonical_name, load, read_table
from conjunto.experiments.measures import MEASURES, Judged
from conjunto.experiments.methods import make
from conjunto.experiments.protocols import holdout_sizes
from conjunto.experiments.spec import Cell, Experiment, Method, Source, SpecError

Measured = tuple[dict[str, float], dict[int, dict[str, float]]]
"""Measures of the whole ensemble, and by number of members."""
# A matrix of more classes than this is neither read nor drawn by anyone.
MOST_CONFUSED_CLASSES = 60


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: the row that a store keeps."""

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


class Bench:
    """Runs cells of one experiment; remembers the data set and the partition it worked on last."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._data: tuple[str, Dataset] | None = None
        self._partition: tuple[tuple[str, int], Partition] | None = None
        self._apparent: dict[tuple[str, str], Measured] = {}

    def run(self, cell: Cell) -> Outcome:
        """Run a cell; what goes wrong in it becomes part of the outcome."""
        chosen = self.experiment.method(cell.method)
        seed = cell_seed(self.experiment.seed, cell.dataset, cell.repetition, chosen.seed_as or chosen.label)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcome = self._run(cell, seed)
            except Exception:  # recorded whole; the run goes on with the other cells
                outcome = Outcome(cell, "failed", traceback=traceback.format_exc())
        said = dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught)
        return replace(outcome, seed=seed, warnings=tuple(said))

    def data(self, name: str) -> Dataset:
        """The data set of this name."""
        if self._data is None or self._data[0] != name:
            self._data = (name, open_source(self.experiment.source(name), self.experiment))
        return self._data[1]

    def partition(self, name: str, repetition: int) -> Partition:
        """The rows of one repetition, the same for all methods."""
        if self._partition is None or self._partition[0] != (name, repetition):
            self._partition = ((name, repetition), self._cut(name, repetition))
        return self._partition[1]

    def _cut(self, name: str, repetition: int) -> Partition:
        source, protocol = self.experiment.source(name), self.experiment.protocol
        seeds = [self.experiment.seed, *_words(name)]
        if draws_afresh(source) and protocol.kind == "holdout":
            n_train, n_test = _drawn_sizes(source, self.experiment)
            random = _random(*seeds, repetition)
            train, test = _drawn(source, random, n_samples=n_train), _drawn(source, random, n_samples=n_test)
            labels = np.union1d(train.y, test.y)
            return Partition(train.X, train.y.to_numpy(), test.X, test.y.to_numpy(), labels, n_train)
        data = self.data(name)
        y = data.y.to_numpy()
        classes = np.unique(y) if data.task == "classification" else None
        inside, outside = protocol.split(
            y, repetition, seeds, source.train, source.test, classification=classes is not None
        )
        n_train = len(np.unique(inside))
        return Partition(data.X.iloc[inside], y[inside], data.X.iloc[outside], y[outside], classes, n_train)

    def _run(self, cell: Cell, seed: int) -> Outcome:
        part = self.partition(cell.dataset, cell.repetition)
        method = self.experiment.method(cell.method)
        task = "regression" if part.classes is None else "classification"
        model = build(method, task, seed)
        start = time.perf_counter()
        model.fit(part.X_train, part.y_train)
        fitted = time.perf_counter()
        predicted = _flat(model.predict(part.X_test))
        done = time.perf_counter()
        test = Judged(model, part.X_test, part.y_test, predicted, part.classes)
        measured = self._measure(test, (part.X_train, part.y_train), method, task)
        share = self.experiment.protocol.apparent_share
        if share:
            measured = _mixed(measured, self._apparent_of(cell.dataset, method, task), share)
        return Outcome(
            cell,
            "done",
            *measured,
            confusion(test) if part.classes is not None else [],
            fitted - start,
            done - fitted,
            len(pickle.dumps(model, protocol=5)),
            _members(model),
            part.n_train,
            len(part.y_test),
        )

    def _measure(self, judged: Judged, training: tuple[Any, NDArray[Any]], method: Method, task: str) -> Measured:
        names = self.experiment.measures_of(task)
        sizes = resolve_sizes(method.sizes, _members(judged.model))
        measured = _taken(judged, sizes, [name for name in names if not MEASURES[name].training])
        if any(MEASURES[name].training for name in names):
            X, y = training
            before = replace(judged, X=X, y=y, predicted=_flat(judged.model.predict(X)))
            trained = _taken(before, sizes, [name for name in names if MEASURES[name].training])
            measured = _joined(measured, trained)
        return measured

    def _apparent_of(self, dataset: str, method: Method, task: str) -> Measured:
        """The measures of the method fitted and judged on all rows, the same for every repetition."""
        if (dataset, method.label) not in self._apparent:
            data = self.data(dataset)
            y = data.y.to_numpy()
            seed = cell_seed(self.experiment.seed, dataset, "all", method.seed_as or method.label)
            model = build(method, task, seed).fit(data.X, y)
            classes = np.unique(y) if task == "classification" else None
            judged = Judged(model, data.X, y, _flat(model.predict(data.X)), classes)
            self._apparent[dataset, method.label] = self._measure(judged, (data.X, y), method, task)
        return self._apparent[dataset, method.label]


def open_source(source: Source, experiment: Experiment) -> Dataset:
    """Read or load a data set of an experiment."""
    if source.data is not None:
        data: Dataset = source.data
        return data
    if source.path is not None:
        data = read_table(
            source.path, source.target, task=source.task, drop=source.drop, categorical=source.categorical
        )
        return replace(data, name=source.name)
    name = source.load or source.name
    if draws_afresh(source):
        return _drawn(source, _random(experiment.seed, *_words(source.name)))
    return load(name, **source.parameters)


def _drawn(source: Source, random: np.random.RandomState, **more: Any) -> Dataset:
    try:
        return load(source.load or source.name, random_state=random, **{**source.parameters, **more})
    except (TypeError, ValueError) as error:
        raise SpecError(f"parameters of {source.name}: {error}") from error


def draws_afresh(source: Source) -> bool:
    """Whether the data set is a distribution, not a finite set of rows."""
    if source.path is not None or source.data is not None:
        return False
    name = canonical_name(source.load or source.name)
    return name in GENERATORS and GENERATORS[name].rows is None


def build(method: Method, task: str, seed: int) -> Any:
    """The unfitted estimator of a method, seeded."""
    if method.estimator is None:
        return make(method.name, task, method.parameters, seed)
    from sklearn.base import clone

    model = clone(method.estimator).set_params(**method.parameters)
    seeded = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
    # Each its own: members of an ensemble with one seed would all be the same.
    return model.set_params(**{name: seed if name == "random_state" else cell_seed(seed, name) for name in seeded})


def cell_seed(seed: int, *parts: Any) -> int:
    """A seed for one cell, from everything that names it."""
    digest = hashlib.sha256(json.dumps([seed, *parts]).encode()).digest()
    return int.from_bytes(digest[:4], "little") >> 1


def resolve_sizes(sizes: Iterable[int | float], members: int) -> list[int]:
    """Numbers of members, ascending, from counts and shares; those beyond the ensemble are left out."""
    counts = {max(1, round(size * members)) if isinstance(size, float) else size for size in sizes}
    return sorted(count for count in counts if count <= members)


def confusion(judged: Judged) -> list[tuple[int, int, int]]:
    """The cells of the confusion matrix that are not zero."""
    assert judged.classes is not None
    if len(judged.classes) > MOST_CONFUSED_CLASSES:
        return []
    said = np.searchsorted(judged.classes, judged.predicted)
    pairs, counts = np.unique(np.stack([judged.codes, said]), axis=1, return_counts=True)
    return [(int(a), int(b), int(n)) for a, b, n in zip(*pairs, counts, strict=True)]


def _taken(judged: Judged, sizes: list[int], names: list[str]) -> Measured:
    """Measures of the whole ensemble and of its first members on the same rows."""
    return {name: MEASURES[name].of(judged) for name in names}, _nested(judged, sizes, names)


def _joined(one: Measured, other: Measured) -> Measured:
    return one[0] | other[0], {size: at | other[1][size] for size, at in one[1].items()}


def _nested(judged: Judged, sizes: list[int], names: list[str]) -> dict[int, dict[str, float]]:
    """The measures of the first members, from one pass over the stages."""
    if not sizes or not hasattr(judged.model, "staged_predict"):
        return {}
    staged = [name for name in names if MEASURES[name].staged]
    found = {}
    for size, predicted in enumerate(judged.model.staged_predict(judged.X), start=1):
        if size in sizes:
            at = replace(judged, predicted=_flat(predicted))
            found[size] = {name: MEASURES[name].of(at) for name in staged}
    return found


def _mixed(test: Measured, apparent: Measured, share: float) -> Measured:
    def mix(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
        # A measure on training rows is no estimate that would need a correction.
        parts = {name: 0.0 if MEASURES[name].training else share for name in one}
        return {name: (1 - part) * one[name] + part * other[name] for name, part in parts.items()}

    return mix(test[0], apparent[0]), {size: mix(at, apparent[1][size]) for size, at in test[1].items()}


def _flat(predicted: Any) -> NDArray[Any]:
    """One answer per row: some libraries give a column, which would be compared with every row."""
    return np.asarray(predicted).ravel()


def _members(model: Any) -> int:
    model = getattr(model, "steps", [(None, model)])[-1][1]  # the length of a pipeline is its number of steps
    try:
        return len(model)
    except TypeError:
        return len(getattr(model, "estimators_", [model]))


def _drawn_sizes(source: Source, experiment: Experiment) -> tuple[int, int]:
    train = experiment.protocol.train if source.train is None else source.train
    test = experiment.protocol.test if source.test is None else source.test
    if isinstance(train, int) and isinstance(test, int):
        return train, test
    return holdout_sizes(int(source.parameters.get("n_samples", 300)), train, test)


def _random(*seeds: int) -> np.random.RandomState:
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seeds)))


def _words(text: str) -> list[int]:
    return list(np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], dtype="<u4").tolist())
