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
from scipy.sparse import issparse

from conjunto.datasets import GENERATORS, Dataset, TableError, canonical_name, identity, is_number, load, read_table
from conjunto.experiments.protocols import Protocol, holdout_sizes
from conjunto.experiments.spec import Experiment, Source, SpecError, dataset_hash, source_hash
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
    """The hash that stands for the content in the fingerprint of an experiment."""
    seed: int = 0
    """The seed of the experiment, which decides the rows of a problem that is drawn."""

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
        if data.task == "classification":
            # The same order as that of the codes in confusion matrices.
            labels, counts = np.unique(data.y.to_numpy(), return_counts=True)
            facts["classes"] = [str(label) for label in labels]
            facts["counts"] = [int(count) for count in counts]
            facts["warnings"] = _rare_classes(facts["classes"], facts["counts"], experiment.protocol)
        return facts

    def _check_partitions(self, protocol: Protocol) -> None:
        """Refuse, before anything is run, a protocol for which there are not enough rows."""
        try:
            if draws_afresh(self.source) and protocol.kind == "holdout":
                drawn_sizes(self.source, protocol)
            else:
                protocol.check(len(self.data.y), self.source.train, self.source.test)
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
    if source.data is not None:
        return OpenedSource(source, source.data, dataset_hash(source.data), seed)
    if source.path is not None:
        data = read_table(
            source.path, source.target, task=source.task, drop=source.drop, categorical=source.categorical
        )
        return OpenedSource(source, replace(data, name=source.name), data.checksum, seed)
    name = source.load or source.name
    data = draw(source, random_of(seed, source.name)) if draws_afresh(source) else load(name, **source.parameters)
    return OpenedSource(source, data, data.checksum or identity(name), seed)


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


def _rare_classes(classes: list[str], counts: list[int], protocol: Protocol) -> list[str]:
    """A warning where a class has fewer examples than there are folds."""
    if protocol.kind != "k-fold" or not protocol.stratify:
        return []
    rare = [label for label, count in zip(classes, counts, strict=True) if count < protocol.folds]
    if not rare:
        return []
    listed = ", ".join(rare[:5]) + (f", … ({len(rare)} classes)" if len(rare) > 5 else "")
    return [
        f"fewer examples than the {protocol.folds} folds: {listed}; such a class is missing from some test folds, and "
        "with one example it is never in training and test at once"
    ]
