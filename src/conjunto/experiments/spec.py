"""`Experiment`: data sets x methods x protocol x measures x seed, frozen.

What decides the result of a cell is in its keys (`keys.py`): results with the same keys belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

from conjunto.checks import check_choice, check_count, suggest
from conjunto.datasets import TASKS, Dataset, is_table_name, table_name
from conjunto.experiments.keys import Keys, plain
from conjunto.experiments.making import NONE, check_parameters, check_registered
from conjunto.experiments.measures import MEASURES, default_measures
from conjunto.experiments.splits.protocols import Protocol, check_rows

MOST_CELLS = 1_000_000
"""A larger experiment would not end in a year, and its list of cells alone would fill the memory."""


class SpecError(ValueError):
    """An experiment cannot be run as it is written; the message says where and what to do."""


class Cell(NamedTuple):
    """The unit of work: one method on one partition of one data set."""

    dataset: str
    repetition: int
    method: str


@dataclass(frozen=True)
class Source:
    """A data set of an experiment: a name that `datasets.load` knows, a file, or data in memory."""

    name: str
    path: str | None = None
    target: str | None = None
    task: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    load: str | None = None
    """The name to load when it is not `name` itself, so that one generator can be used under several names."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """For generators, such as `n_samples` and `class_shares`."""
    train: int | float | None = None
    test: int | float | None = None
    """Sizes of a holdout, where the data set has its own."""
    groups: str | None = None
    """The column, no attribute, of what rows belong to, such as a customer: no group is trained on and tested."""
    time: str | None = None
    """The column, no attribute, of when rows happened: nothing is trained on what is later than a row tested."""
    data: Any = field(default=None, repr=False)
    """A `Dataset` in memory."""

    def __post_init__(self) -> None:
        if isinstance(self.path, Path):
            object.__setattr__(self, "path", str(self.path))
        for key in ("name", "path", "target", "task", "load", "groups", "time"):
            if key == "name" or getattr(self, key) is not None:
                _need_text(key, getattr(self, key))
        self._check_name()
        if self.task is not None:
            check_choice("task", self.task, TASKS)
        for key in ("drop", "categorical"):
            columns = _items(key, getattr(self, key))
            for column in columns:
                _need_text(key, column)
            object.__setattr__(self, key, columns)
        self._check_split()
        _need_table("parameters", self.parameters)
        object.__setattr__(self, "parameters", dict(self.parameters))
        for key in ("train", "test"):
            if getattr(self, key) is not None:
                check_rows(key, getattr(self, key))
        if not isinstance(self.data, Dataset | None):
            raise ValueError(f"data must be a Dataset, got {type(self.data).__name__}")

    def _check_split(self) -> None:
        """Refuse columns to split by that are taken, and both at once."""
        if self.groups is not None and self.time is not None:
            raise ValueError(
                "groups and time cannot be given both: blocks of time part the rows of a group; give the one that new "
                "rows will differ in"
            )
        for key in ("groups", "time"):
            column = getattr(self, key)
            if column is not None and column in (self.target, *self.drop):
                what = "the target" if column == self.target else "left out (drop)"
                raise ValueError(f"{key}: {column!r} is {what}, and must be a column of its own")

    def _check_name(self) -> None:
        """Refuse a name that files cannot be named after, and a path in its place."""
        alone = self.path is None and self.load is None and self.data is None
        slash = "/" in self.name or "\\" in self.name
        if alone and (slash or is_table_name(self.name)):
            name = table_name(self.name.replace("\\", "/"))
            raise ValueError(f"name: {self.name!r} is a path; a file is Source({name!r}, path={self.name!r})")
        if slash:
            raise ValueError(f"name must not hold a slash, got {self.name!r}: files are named after it; give another")


@dataclass(frozen=True)
class Method:
    """A method of an experiment: a registered name or an estimator, with parameters."""

    name: str
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[int | float, ...] = ()
    """Numbers of members (or shares of them) at which one fitted ensemble is scored too."""
    estimator: Any = field(default=None, repr=False)
    seed_as: str = ""
    """The label of another method of the experiment whose seed is used, so that both have the same members."""

    def __post_init__(self) -> None:
        _need_text("name", self.name)
        if self.label == "":
            object.__setattr__(self, "label", self.name)
        _need_text("label", self.label)
        if self.seed_as != "":
            _need_text("seed_as", self.seed_as)
        _need_table("parameters", self.parameters)
        # A plain copy: nobody can change it from outside, and it can be sent to other processes.
        object.__setattr__(self, "parameters", dict(self.parameters))
        object.__setattr__(self, "sizes", _items("sizes", self.sizes))
        for size in self.sizes:
            count = isinstance(size, Integral) and not isinstance(size, bool) and int(size) >= 1
            share = isinstance(size, Real) and not isinstance(size, Integral) and 0 < float(size) <= 1
            if not count and not share:
                raise ValueError(f"sizes: {size!r} of {self.label!r} is neither a count nor a share in (0, 1]")
        if self.estimator is not None and not hasattr(self.estimator, "get_params"):
            raise ValueError(f"estimator of {self.label!r} must be an estimator, got {self.estimator!r}")


@dataclass(frozen=True)
class Experiment:
    """What to run.

    Parameters
    ----------
    datasets : tuple of Source or str
    methods : tuple of Method or str
    protocol : Protocol
    measures : tuple of str, default=()
        The first is the one that tables are sorted by; () takes the defaults of the task.
    seed : int, default=0
        Partitions depend on the seed, the data set and the repetition; members on the method's label too.
    name : str

    Examples
    --------
    >>> from conjunto.experiments import Experiment, Protocol
    >>> experiment = Experiment(("wine",), ("cart", "bagging"), Protocol("k-fold", repetitions=2, folds=5))
    >>> len(experiment.cells())
    20
    """

    datasets: tuple[Source, ...]
    methods: tuple[Method, ...]
    protocol: Protocol = field(default_factory=Protocol)
    measures: tuple[str, ...] = ()
    seed: int = 0
    name: str = "experiment"

    def __post_init__(self) -> None:
        object.__setattr__(self, "datasets", _items("datasets", self.datasets, Source))
        object.__setattr__(self, "methods", _items("methods", self.methods, Method))
        object.__setattr__(self, "measures", _items("measures", self.measures))
        _check(self)

    def cells(self) -> list[Cell]:
        """Every cell, all methods of a partition one after the other."""
        partitions = range(self.protocol.partitions)
        return [Cell(d.name, r, m.label) for d in self.datasets for r in partitions for m in self.methods]

    def source(self, name: str) -> Source:
        """The data set of this name."""
        return next(source for source in self.datasets if source.name == name)

    def method(self, label: str) -> Method:
        """The method of this label."""
        return next(method for method in self.methods if method.label == label)

    def describe_protocol(self) -> str:
        """The protocol in words; where a data set has groups, that they are kept together."""
        return self.protocol.describe(any(source.groups is not None for source in self.datasets))

    def measures_of(self, task: str) -> tuple[str, ...]:
        """The measures of a data set: those asked for that fit its task; the defaults where none are asked for."""
        fitting = tuple(measure for measure in self.measures if MEASURES[measure].task in (task, "any"))
        if self.measures and not fitting:
            raise SpecError(f"measures: {', '.join(self.measures)} cannot be taken of a {task}")
        return fitting or default_measures(task)

    def check_task(self, task: str) -> None:
        """Refuse, before anything is run, measures and methods that a task does not have."""
        self.measures_of(task)
        for method in self.methods:
            if method.estimator is None:
                try:
                    check_registered(method.name, method.parameters, task)
                except ValueError as error:
                    raise SpecError(f"methods: {error}") from error

    def as_dict(self, contents: Mapping[str, str] = NONE) -> dict[str, Any]:
        """Plain data that describes the experiment; data in memory by the hash of their content.

        `contents` are the hashes of data sets, by name, where they are known already.
        """
        return {
            "name": self.name,
            "seed": self.seed,
            "measures": list(self.measures),
            "protocol": self.protocol.as_dict(),
            "datasets": [plain(source, contents) for source in self.datasets],
            "methods": [plain(method) for method in self.methods],
        }

    def keys(self, contents: Mapping[str, str] = NONE) -> Keys:
        """Hashes of what decides the results of its cells; names and measures do not.

        `contents` are the hashes of data sets, by name, where they are known already; the others are computed.
        """
        return Keys.of(self, contents)


def _check(experiment: Experiment) -> None:
    if not experiment.datasets:
        raise ValueError("datasets: give at least one data set")
    if not experiment.methods:
        raise ValueError("methods: give at least one method")
    check_count("seed", experiment.seed, 0)
    _need_text("name", experiment.name)
    if not isinstance(experiment.protocol, Protocol):
        raise ValueError(f"protocol must be a Protocol, got {experiment.protocol!r}")
    for source in experiment.datasets:
        try:
            experiment.protocol.check_kind(source.groups is not None, source.time is not None)
        except ValueError as error:
            raise ValueError(f"protocol, {source.name}: {error}") from error
    for measure in experiment.measures:
        _need_text("measures", measure)
    cells = len(experiment.datasets) * len(experiment.methods) * experiment.protocol.partitions
    if cells > MOST_CELLS:
        raise ValueError(
            f"protocol: {experiment.protocol.partitions:,} partitions x {len(experiment.methods)} methods x "
            f"{len(experiment.datasets)} data sets are {cells:,} cells, and at most {MOST_CELLS:,} can be run: ask for "
            "fewer repetitions or folds"
        )
    for what, labels in (
        ("datasets", [source.name for source in experiment.datasets]),
        ("methods", [method.label for method in experiment.methods]),
        ("measures", list(experiment.measures)),
    ):
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            hint = {"datasets": "; give each a name of its own", "methods": "; give each a label of its own"}
            raise ValueError(f"{what}: {min(twice)!r} stands twice{hint.get(what, '')}")
    for measure in experiment.measures:
        if measure not in MEASURES:
            raise ValueError(f"measures: unknown measure {measure!r}; {suggest(measure, MEASURES)}")
    labels = [method.label for method in experiment.methods]
    for method in experiment.methods:
        if method.seed_as and method.seed_as not in labels:
            raise ValueError(
                f"methods: seed_as of {method.label!r} must be the label of a method of the experiment, got "
                f"{method.seed_as!r}; {suggest(method.seed_as, labels)}"
            )
        try:
            if method.estimator is None:
                check_registered(method.name, method.parameters)
            else:
                check_parameters(method.label, method.estimator.get_params(), method.parameters)
        except ValueError as error:
            raise ValueError(f"methods: {error}") from error


def _items(what: str, items: Any, kind: type[Any] | None = None) -> tuple[Any, ...]:
    """A tuple of what is listed; with `kind`, names become objects of it."""
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise ValueError(f"{what} must be a list, got {items!r}")
    if kind is None:
        return tuple(items)
    found = tuple(kind(item) if isinstance(item, str) else item for item in items)
    for item in found:
        if not isinstance(item, kind):
            raise ValueError(f"{what}: {item!r} is neither a name nor a {kind.__name__}")
    return found


def _need_text(what: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} must be a text, got {value!r}")


def _need_table(what: str, value: Any) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{what} must be a table of names and values, got {value!r}")
