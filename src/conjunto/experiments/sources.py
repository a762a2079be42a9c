"""The data sets of an experiment, each opened once in a process.

The hash of the content is taken of the bytes that are parsed, so that the rows and the hash cannot part. Whoever has
opened a data set hands it on; a process that opens its own copy checks it against the hash that the run began with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from conjunto.datasets import GENERATORS, Dataset, TableError, canonical_name, identity, is_number, load, read_table
from conjunto.datasets.table import aside_note, need_columns
from conjunto.experiments.keys import dataset_hash, source_hash
from conjunto.experiments.spec import Experiment, Source, SpecError
from conjunto.experiments.splits.columns import Times, group_codes, read_times
from conjunto.experiments.splits.protocols import Protocol, holdout_sizes
from conjunto.sparse import share_missing

DATA_CHANGED = 3
"""The exit code of a helper process that ends with a `DataChangedError`, whose message it writes last."""


class DataChangedError(ValueError):
    """A file is not the one that a run began with; the message says which and what to do."""


@dataclass(frozen=True, eq=False)
class OpenedSource:
    """A data set of an experiment with its rows."""

    source: Source
    data: Dataset
    content: str
    """The hash that stands for the content in the keys of an experiment."""
    seed: int = 0
    """The seed of the experiment, which decides the rows of a problem that is drawn."""
    groups: NDArray[np.intp] | None = None
    """The number of the group of every row, where a column says groups."""
    moments: Times | None = None
    """When rows happened, where a column says so."""

    @property
    def times(self) -> NDArray[Any] | None:
        """The order key of every row, the smaller the earlier, where a column says times."""
        return None if self.moments is None else self.moments.keys

    def facts(self, experiment: Experiment) -> dict[str, Any]:
        """What a report says of the data set."""
        data = self.data
        experiment.check_task(data.task)
        self._check_partitions(experiment.protocol)
        drawn = draws_afresh(self.source) and experiment.protocol.kind == "holdout"
        facts: dict[str, Any] = {
            "task": data.task,
            "target": str(data.y.name),
            "rows": None if drawn else len(data.y),
            "attributes": data.X.shape[1],
            "categorical": 0 if issparse(data.X) else int(sum(not is_number(kind) for kind in data.X.dtypes)),
            "missing": share_missing(data.X) if issparse(data.X) else float(data.X.isna().to_numpy().mean()),
            "source": data.source,
            "licence": data.licence,
            "citation": data.citation,
            "notes": list(data.notes),
        }
        if self.groups is not None:
            facts["groups"] = {"column": self.source.groups, "count": int(self.groups.max()) + 1}
        if self.moments is not None:
            facts["time"] = {"column": self.source.time, "first": self.moments.first, "last": self.moments.last}
        if data.task == "classification":
            # The same order as that of the codes in confusion matrices.
            labels, codes, counts = np.unique(data.y.to_numpy(), return_inverse=True, return_counts=True)
            facts["classes"] = [str(label) for label in labels]
            facts["counts"] = [int(count) for count in counts]
            facts["warnings"] = self._warnings(facts["classes"], codes, experiment.protocol)
        return facts

    def _warnings(self, classes: list[str], codes: NDArray[np.intp], protocol: Protocol) -> list[str]:
        """What the partitions make of classes that are rare, or late."""
        if self.times is not None:
            return _late_classes(classes, codes, protocol.split(codes, 0, [], times=self.times)[0])
        if self.groups is None:
            return _rare_classes(classes, np.bincount(codes, minlength=len(classes)), protocol, "examples")
        # A group counts once for each class that it has.
        pairs = np.unique(np.stack([codes, self.groups]), axis=1)
        return _rare_classes(classes, np.bincount(pairs[0], minlength=len(classes)), protocol, "groups")

    def _check_partitions(self, protocol: Protocol) -> None:
        """Refuse, before anything is run, a protocol for which there are not enough rows."""
        try:
            if draws_afresh(self.source) and protocol.kind == "holdout":
                drawn_sizes(self.source, protocol)
            else:
                protocol.check(len(self.data.y), self.source.train, self.source.test, self.groups, self.times)
        except ValueError as error:
            raise SpecError(f"protocol, {self.source.name}: {error}") from error


class Sources:
    """The data sets of one experiment, each opened when it is first asked for and kept.

    Parameters
    ----------
    experiment : Experiment
    opened : iterable of OpenedSource, default=()
        Data sets that were opened before.
    contents : mapping of name to hash, default=None
        What the data sets held when the run began; other content is refused.
    """

    def __init__(
        self,
        experiment: Experiment,
        opened: Iterable[OpenedSource] = (),
        contents: Mapping[str, str] | None = None,
    ) -> None:
        self._experiment = experiment
        self._contents = dict(contents or {})
        self._opened: dict[str, OpenedSource] = {}
        for item in opened:
            if item.source not in experiment.datasets or item.seed != experiment.seed:
                raise ValueError(f"opened: {item.source.name!r} was opened for another experiment")
            self._opened[item.source.name] = item
            self._contents[item.source.name] = item.content

    def open(self, name: str) -> OpenedSource:
        """The data set of this name."""
        if name not in self._opened:
            self._opened[name] = self._open(self._experiment.source(name))
        return self._opened[name]

    def contents(self) -> dict[str, str]:
        """The hash of every data set; a file that nobody has opened is hashed without being parsed."""
        for source in self._experiment.datasets:
            if source.name not in self._contents:
                self._contents[source.name] = source_hash(source)
        return dict(self._contents)

    def _open(self, source: Source) -> OpenedSource:
        known = self._contents.get(source.name)
        try:
            opened = open_source(source, self._experiment.seed)
        except (OSError, TableError) as error:
            if known is None or source.path is None:
                raise
            raise DataChangedError(
                f"{source.path} could be read when the run began, and cannot be now: {error}; put the old file back "
                "and run again"
            ) from error
        if known is not None and opened.content != known:
            raise DataChangedError(
                f"{source.path or source.name} has changed since the run began: it no longer holds what the results so "
                "far were computed from; put the old file back and run again, or run into another file or folder"
            )
        self._contents[source.name] = opened.content
        return opened


def open_source(source: Source, seed: int = 0) -> OpenedSource:
    """Read, load or draw a data set; `seed` is that of the experiment."""
    roles = aside_of(source)
    if source.data is not None:
        data, content = _set_aside(source.data, roles), dataset_hash(source.data)
    elif source.path is not None:
        data = read_table(
            source.path, source.target, task=source.task, drop=source.drop, categorical=source.categorical, aside=roles
        )
        data, content = replace(data, name=source.name), data.checksum
    else:
        name = source.load or source.name
        if roles and draws_afresh(source):
            raise SpecError(f"{next(iter(roles.values()))}: the rows of {name} are drawn, each by itself")
        data = draw(source, random_of(seed, source.name)) if draws_afresh(source) else load(name, **source.parameters)
        data, content = _set_aside(data, roles), data.checksum or identity(name)
    return OpenedSource(source, data, content, seed, *_read_aside(source, data))


def aside_of(source: Source) -> dict[str, str]:
    """The columns of a data set that are no attributes, each with what it is for."""
    return {column: role for role in ("groups", "time") if (column := getattr(source, role)) is not None}


def _set_aside(data: Dataset, roles: Mapping[str, str]) -> Dataset:
    """The data with some of its columns set aside, where they are not already."""
    for name, role in roles.items():
        if issparse(data.X):
            raise TableError(f"{role}: {name!r} names a column, and those of sparse rows have no names")
        if data.aside is not None and name in data.aside.columns:
            continue
        need_columns(role, [name], data.X)
        if data.X.shape[1] < 2:
            raise TableError(f"{role}: {name!r} is the only attribute of {data.name}")
        column = data.X[[name]]
        data = replace(
            data,
            X=data.X.drop(columns=name),
            aside=column if data.aside is None else data.aside.assign(**{name: column[name].to_numpy()}),
            notes=(*data.notes, aside_note({name: role})),
        )
    return data


def _read_aside(source: Source, data: Dataset) -> tuple[NDArray[np.intp] | None, Times | None]:
    """The groups and the times of the rows, where there are any."""
    # Rows of a file that have no target are not among those counted.
    among = "" if source.path is None else " of those with a target"
    if source.groups is not None and data.aside is not None:
        return group_codes(data.aside[source.groups], f"groups: column {source.groups!r}", among), None
    if source.time is not None and data.aside is not None:
        return None, read_times(data.aside[source.time], f"time: column {source.time!r}", among)
    return None, None


def draws_afresh(source: Source) -> bool:
    """Whether the data set is a distribution, not a finite set of rows."""
    if source.path is not None or source.data is not None:
        return False
    name = canonical_name(source.load or source.name)
    return name in GENERATORS and GENERATORS[name].rows is None


def drawn_sizes(source: Source, protocol: Protocol) -> tuple[int, int]:
    """Numbers of training and test rows that a holdout draws of a distribution."""
    train = protocol.train if source.train is None else source.train
    test = protocol.test if source.test is None else source.test
    if isinstance(train, int) and isinstance(test, int):
        return train, test
    return holdout_sizes(int(source.parameters.get("n_samples", 300)), train, test)


def draw(source: Source, random: np.random.RandomState, **more: Any) -> Dataset:
    """Rows of a distribution."""
    try:
        return load(source.load or source.name, random_state=random, **{**source.parameters, **more})
    except (TypeError, ValueError) as error:
        raise SpecError(f"parameters of {source.name}: {error}") from error


def random_of(seed: int, name: str, *more: int) -> np.random.RandomState:
    """The random numbers of a data set, or of one of its repetitions."""
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence([*seeds_of(seed, name), *more])))


def seeds_of(seed: int, name: str) -> list[int]:
    """What the randomness of a data set depends on: the seed of the experiment and the name."""
    words = np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4")
    return [seed, *words.tolist()]


def _rare_classes(classes: list[str], counts: NDArray[np.intp], protocol: Protocol, what: str) -> list[str]:
    """A warning where a class has fewer examples, or groups with any, than there are folds."""
    if protocol.kind != "k-fold" or not protocol.stratify:
        return []
    rare = [label for label, count in zip(classes, counts, strict=True) if count < protocol.folds]
    if not rare:
        return []
    return [
        f"fewer {what} than the {protocol.folds} folds: {_first(rare)}; such a class is missing from some test folds, "
        f"and with one {what[:-1]} it is never in training and test at once"
    ]


def _late_classes(classes: list[str], codes: NDArray[np.intp], earliest: NDArray[np.intp]) -> list[str]:
    """A warning where the first training rows of forward chaining lack a class."""
    late = [label for code, label in enumerate(classes) if code not in set(codes[earliest].tolist())]
    if not late:
        return []
    return [f"no examples before the first block that is tested: {_first(late)}; what has not happened is not learned"]


def _first(labels: list[str]) -> str:
    return ", ".join(labels[:5]) + (f", … ({len(labels)} classes)" if len(labels) > 5 else "")
